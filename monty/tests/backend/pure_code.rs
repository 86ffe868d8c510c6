//! `run`: the upstream form. Inputs, results, and the absence of files.

use crate::support::MontyBench;

/// Upstream's example: the sum of a list that the request gives as JSON.
#[test]
fn the_sum_of_a_json_list() {
    let bench = MontyBench::new();
    let inputs = bench.write("inputs.json", r#"{"values": [1, 2, 3]}"#);
    let result = bench.path("result.json");
    let options = ["--inputs", inputs.to_str().unwrap(), "--result", result.to_str().unwrap()];
    let output = bench.run("print('adding')\nsum(values)", &options);
    let found = (output.status, output.out.as_str(), output.err.as_str());
    assert_eq!(found, (0, "adding\n", ""));
    assert_eq!(bench.read("result.json"), "{\"type\":\"int\",\"value\":6}\n");
}

#[test]
fn without_a_result_file_nothing_is_written() {
    let bench = MontyBench::new();
    assert_eq!(bench.run("1 + 1", &[]).status, 0);
    assert!(!bench.path("result.json").exists());
    assert_eq!(std::fs::read_dir(bench.path("out")).unwrap().count(), 0);
}

#[test]
fn a_result_never_replaces_a_file() {
    let bench = MontyBench::new();
    let result = bench.write("result.json", "kept");
    let output = bench.run("1 + 1", &["--result", result.to_str().unwrap()]);
    assert_eq!(output.status, 3, "{output:?}");
    assert!(output.err.starts_with("toolexec-monty: ") && output.err.contains("; help: "));
    assert_eq!(bench.read("result.json"), "kept");
}

/// The shell ignores the signal of the limit, so that writing beyond it is an error.
#[test]
fn a_result_that_is_not_whole_is_removed() {
    let bench = MontyBench::new();
    let (code, result) = (bench.write("code.py", "'x' * 1000000"), bench.path("result.json"));
    let limited = "trap '' XFSZ; ulimit -f 8; exec \"$@\"";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", limited, "sh"]).arg(crate::support::program().get_program());
    shell.arg("run").args(crate::support::LIMITS).arg("--result").arg(&result).arg(code);
    let output = crate::support::MontyOutput::of(&mut shell);
    assert_eq!(output.status, 3, "{output:?}");
    assert!(output.err.contains("result.json: ") && output.err.contains("; help: "));
    assert!(!result.exists(), "a part of the value is left");
}

#[test]
fn results_have_types() {
    let bench = MontyBench::new();
    for (code, expected) in [
        ("x = 1", r#"{"type":"None","value":null}"#),
        ("1 < 2", r#"{"type":"bool","value":true}"#),
        ("2 ** 53", r#"{"type":"int","value":9007199254740992}"#),
        ("2 ** 53 + 1", r#"{"type":"int","value":"9007199254740993"}"#),
        ("-(2 ** 100)", r#"{"type":"int","value":"-1267650600228229401496703205376"}"#),
        ("1 / 2", r#"{"type":"float","value":0.5}"#),
        ("float('inf')", r#"{"type":"float","value":"inf"}"#),
        ("float('nan')", r#"{"type":"float","value":"nan"}"#),
        ("'é\"'", r#"{"type":"str","value":"é\""}"#),
        ("b'\\x00\\xff'", r#"{"type":"bytes","value":"AP8="}"#),
        ("[None]", r#"{"type":"list","value":[{"type":"None","value":null}]}"#),
        ("('a',)", r#"{"type":"tuple","value":[{"type":"str","value":"a"}]}"#),
        ("{1}", r#"{"type":"set","value":[{"type":"int","value":1}]}"#),
        ("{'a': 1}", r#"{"type":"dict","value":{"a":{"type":"int","value":1}}}"#),
        (
            "{1: 'a'}",
            r#"{"type":"dict","value":[[{"type":"int","value":1},{"type":"str","value":"a"}]]}"#,
        ),
        ("...", r#"{"type":"repr","value":"Ellipsis"}"#),
    ] {
        assert_eq!(bench.result(code), expected, "{code}");
    }
}

#[test]
fn a_huge_integer_is_described() {
    let result = MontyBench::new().result("1 << 200000");
    assert_eq!(result, r#"{"type":"repr","value":"<int of 200001 bits>"}"#);
}

#[test]
fn a_list_within_itself_ends() {
    let result = MontyBench::new().result("a = [1]\na.append(a)\na");
    let expected =
        r#"{"type":"list","value":[{"type":"int","value":1},{"type":"repr","value":"[...]"}]}"#;
    assert_eq!(result, expected);
}

#[test]
fn odd_inputs_are_refused_before_the_code_runs() {
    let bench = MontyBench::new();
    for odd in ["", "[1]", "{\"a b\": 1}", "{\"class\": 1}", "{\"a\": 1}}"] {
        let inputs = bench.write("inputs.json", odd);
        let output = bench.run("print('ran')", &["--inputs", inputs.to_str().unwrap()]);
        assert_eq!((output.status, output.out.as_str()), (2, ""), "{odd}: {output:?}");
        assert!(output.err.starts_with("toolexec-monty: inputs: "), "{odd}: {output:?}");
    }
    let output = bench.run("1", &["--inputs", "/nonexistent/inputs.json"]);
    assert_eq!(output.status, 2, "{output:?}");
}

#[test]
fn unusable_code_and_arguments_are_refused() {
    let bench = MontyBench::new();
    let large = format!("# {}", "x".repeat(1 << 20));
    let output = bench.run(&large, &[]);
    assert_eq!(output.status, 2, "too large");
    assert_eq!(bench.run("1", &["--surprise"]).status, 2);
    let bytes = bench.write("latin1.py", b"x = '\xe9'");
    let mut program = crate::support::program();
    let program = program.arg("run").args(crate::support::LIMITS).arg(bytes);
    let output = crate::support::MontyOutput::of(program);
    assert!(output.status == 2 && output.err.contains("not UTF-8 at byte 5"), "{output:?}");
}

#[test]
fn an_exception_is_status_1_with_a_traceback() {
    let output = MontyBench::new().run("print('before')\nvalue = {}['key']", &[]);
    assert_eq!((output.status, output.out.as_str()), (1, "before\n"));
    assert!(output.err.starts_with("Traceback (most recent call last):\n"), "{output:?}");
    assert!(output.err.contains("line 2") && output.err.ends_with("KeyError: key\n"));
}

#[test]
fn a_syntax_error_is_status_1() {
    let output = MontyBench::new().run("print('before')\nx = (", &[]);
    assert_eq!((output.status, output.out.as_str()), (1, ""));
    assert!(output.err.contains("SyntaxError: "), "{output:?}");
}

#[test]
fn an_unknown_name_can_be_caught() {
    let code = "try:\n    missing()\nexcept NameError as error:\n    print(error)";
    let output = MontyBench::new().run(code, &[]);
    assert_eq!((output.status, output.out.as_str()), (0, "name 'missing' is not defined\n"));
}

#[test]
fn pure_code_has_no_files_clock_or_environment() {
    let bench = MontyBench::new();
    for (code, exception) in [
        ("open('/etc/passwd')", "PermissionError"),
        ("open('/in/a')", "PermissionError"),
        ("open('/out/a', 'w')", "PermissionError"),
        ("from pathlib import Path\nPath('/proc/self/environ').read_text()", "PermissionError"),
        ("import os\nos.listdir('/')", "PermissionError"),
        ("import os\nos.getenv('HOME')", "RuntimeError"),
        ("from datetime import datetime\ndatetime.now()", "RuntimeError"),
    ] {
        let output = bench.run(code, &[]);
        assert!(output.status == 1 && output.err.contains(exception), "{code}: {output:?}");
    }
    assert!(!bench.path("out/a").exists());
}

#[test]
fn a_closed_output_is_an_error() {
    let bench = MontyBench::new();
    let code = bench.write("code.py", "try:\n    print('x')\nexcept OSError:\n    pass");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut program = crate::support::program();
    program.arg("run").args(crate::support::LIMITS).arg(code).stdout(full);
    let output = crate::support::MontyOutput::of(&mut program);
    assert!(output.status == 3 && output.err.contains("standard output: "), "{output:?}");
}

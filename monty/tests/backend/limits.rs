//! The limits of time, memory and recursion, each with its own message.

use crate::support::{MontyBench, MontyOutput, program};

fn limited(code: &str, time_ms: &str, memory_mb: &str) -> MontyOutput {
    let bench = MontyBench::new();
    let file = bench.write("code.py", code);
    let limits = ["--time-ms", time_ms, "--memory-mb", memory_mb];
    MontyOutput::of(program().arg("run").args(limits).arg(file))
}

fn last_line(output: &MontyOutput) -> &str {
    output.err.lines().last().unwrap_or_default()
}

#[test]
fn time_is_limited() {
    for code in ["while True:\n    pass", "try:\n    while True: pass\nexcept BaseException: 1"] {
        let output = limited(code, "200", "64");
        assert_eq!(output.status, 1, "{output:?}");
        let message = "toolexec-monty: time limit of 200 ms reached; help: ";
        assert!(last_line(&output).starts_with(message), "{output:?}");
    }
}

#[test]
fn memory_is_limited() {
    let grows = "a = []\nwhile True:\n    a.append('x' * 1000)";
    for code in [grows, "a = 'x' * 10 ** 9", "2 ** 10 ** 9"] {
        let output = limited(code, "60000", "16");
        assert_eq!(output.status, 1, "{code}: {output:?}");
        let message = "toolexec-monty: memory limit of 16 MiB reached; help: ";
        assert!(last_line(&output).starts_with(message), "{code}: {output:?}");
    }
}

#[test]
fn recursion_is_limited() {
    let output = limited("def f():\n    return f()\nf()", "60000", "64");
    assert_eq!(output.status, 1, "{output:?}");
    let message = "toolexec-monty: recursion limit of 1000 calls reached; help: ";
    assert!(last_line(&output).starts_with(message), "{output:?}");
    let code = "def f(): return f()\ntry: f()\nexcept RecursionError: print('caught')";
    let output = limited(code, "60000", "64");
    assert_eq!((output.status, output.out.as_str()), (0, "caught\n"), "{output:?}");
}

#[test]
fn output_before_a_limit_is_kept() {
    let output = limited("print('before', end='')\nwhile True: pass", "200", "64");
    assert_eq!((output.status, output.out.as_str()), (1, "before"), "{output:?}");
}

#[test]
fn a_file_larger_than_the_memory_raises_an_exception() {
    let bench = MontyBench::new();
    std::fs::File::create(bench.path("in/large")).unwrap().set_len(64 << 20).unwrap();
    let file = bench.write("script.py", "open('/in/large', 'rb').read()");
    let mut program = program();
    program.args(["script", "--time-ms", "60000", "--memory-mb", "16"]);
    program.arg("--in-dir").arg(bench.path("in")).arg("--out-dir").arg(bench.path("out"));
    let output = MontyOutput::of(program.arg(file));
    assert!(output.status == 1 && output.err.contains("\nMemoryError: mount"), "{output:?}");
}

#[test]
fn a_long_list_is_written_within_the_memory_of_the_code() {
    let bench = MontyBench::new();
    let (code, result) = (bench.write("code.py", "list(range(200000))"), bench.path("result.json"));
    let mut program = program();
    program.args(["run", "--time-ms", "60000", "--memory-mb", "48", "--result"]);
    let output = MontyOutput::of(program.arg(&result).arg(code));
    assert_eq!((output.status, output.err.as_str()), (0, ""));
    let text = bench.read("result.json");
    assert!(text.starts_with(r#"{"type":"list","value":[{"type":"int","value":0},"#));
    assert!(text.ends_with("{\"type\":\"int\",\"value\":199999}]}\n"));
}

/// While the program reads its inputs, no exception can be raised.
#[test]
fn memory_far_above_the_limit_ends_the_program() {
    let bench = MontyBench::new();
    let large = "x".repeat(12 << 20);
    let inputs = bench.write("inputs.json", format!("{{\"text\": \"{large}\"}}"));
    let file = bench.write("code.py", "text");
    let mut program = program();
    program.args(["run", "--time-ms", "60000", "--memory-mb", "4", "--inputs"]);
    let output = MontyOutput::of(program.arg(inputs).arg(file));
    assert_eq!(output.status, 65, "{output:?}");
    assert!(output.err.starts_with("monty worker: "), "{output:?}");
}

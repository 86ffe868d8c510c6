//! `lint` names the first construct of the code or of the script that monty does not have.

use toolexec_tests::{Bench, CliOutput, RequestText, skip};

use super::scene::{CodeBench, code, script};

const REFUSED: &str = "total = sum(rows)\nif total:\n    del total";
const INPUTS: &str = "{\"rows\": [1]}";

#[test]
fn it_names_the_line_and_the_column() {
    let bench = Bench::new();
    if CodeBench::of(&bench, "it_names_the_line_and_the_column").is_none() {
        return;
    }
    let mention = ("it is a test.", "it works without /dev/kvm.");
    let request = bench.save(&code(REFUSED, INPUTS).edit(mention.0, mention.1));
    let lines = std::fs::read_to_string(&request.path).unwrap();
    let line = lines.lines().position(|line| line == "    del total").unwrap() + 1;
    let mut command = bench.command("toolexec");
    let output = CliOutput::of(command.args(["lint", "--format", "json"]).arg(&request.path));
    output.assert_code(2);
    let object = output.json();
    let violations = object["violations"].as_array().unwrap();
    let of = |code: &str| violations.iter().position(|it| it["code"] == code).unwrap();
    let found = of("code.unsupported");
    let violation = &violations[found];
    assert_eq!((&violation["line"], &violation["column"]), (&line.into(), &5.into()));
    // Ordered by location, like those of the validator.
    assert!(found < of("path.device"), "{violations:#?}");

    let good = bench.save(&code("sum(rows)", INPUTS));
    let mut command = bench.command("toolexec");
    let output = CliOutput::of(command.arg("lint").arg(&good.path));
    output.assert_code(0);
    assert_eq!(output.stderr, "");
}

#[test]
fn without_the_program_a_note_says_that_the_code_was_not_checked() {
    let installed = std::path::Path::new("/usr/libexec/toolexec/toolexec-monty");
    if installed.is_file() {
        let test = "without_the_program_a_note_says_that_the_code_was_not_checked";
        skip(test, &format!("{}: installed", installed.display()));
        return;
    }
    let bench = Bench::new();
    let request = bench.save(&code(REFUSED, INPUTS));
    let mut command = bench.command("toolexec");
    let output = CliOutput::of(command.arg("lint").arg(&request.path));
    output.assert_code(0);
    output.assert_stderr(&["the code was not checked", "toolexec-monty"]);
}

const SCRIPT: &str =
    "import json\n\nrows = json.loads(open(argv[1]).read())\nprint('%d' % rows[0])\n";

/// Lints a request, and returns its violation of this code.
fn violation_of(bench: &Bench, path: &std::path::Path, code: &str) -> serde_json::Value {
    let mut command = bench.command("toolexec");
    let output = CliOutput::of(command.args(["lint", "--format", "json"]).arg(path));
    output.assert_code(2);
    let object = output.json();
    let violations = object["violations"].as_array().unwrap();
    let found = violations.iter().find(|it| it["code"] == code);
    found.unwrap_or_else(|| panic!("no {code}: {violations:#?}")).clone()
}

#[test]
fn a_construct_of_a_script_has_its_place_in_the_file() {
    let bench = Bench::new();
    if CodeBench::of(&bench, "a_construct_of_a_script_has_its_place_in_the_file").is_none() {
        return;
    }
    let request = bench.save(&script(SCRIPT));
    let violation = violation_of(&bench, &request.path, "code.unsupported");
    let message = violation["message"].as_str().unwrap();
    assert!(message.starts_with("script.py:4:7: monty refuses it: TypeError: "), "{message}");
    let lines = std::fs::read_to_string(&request.path).unwrap();
    let line = lines.lines().position(|line| line == "python script.py /in/script.py").unwrap() + 1;
    assert_eq!((&violation["line"], &violation["column"]), (&line.into(), &1.into()));

    let good = bench.save(&script("print(len(open(argv[1]).read()))\n"));
    let mut command = bench.command("toolexec");
    let output = CliOutput::of(command.arg("lint").arg(&good.path));
    output.assert_code(0);
    assert_eq!(output.stderr, "");
}

#[test]
fn a_script_that_cannot_be_read_is_a_note() {
    let bench = Bench::new();
    if CodeBench::of(&bench, "a_script_that_cannot_be_read_is_a_note").is_none() {
        return;
    }
    let request = bench.save(&script(SCRIPT));
    let path = request.inputs.join("script.py");
    let lint = |why: &str| {
        let mut command = bench.command("toolexec");
        let output = CliOutput::of(command.arg("lint").arg(&request.path));
        output.assert_code(0);
        output.assert_stderr(&["the code was not checked", "script.py", why]);
    };
    std::fs::rename(&path, request.inputs.join("other.py")).unwrap();
    lint("No such file");
    std::os::unix::fs::symlink("other.py", &path).unwrap();
    lint("symbolic links");
    std::fs::remove_file(&path).unwrap();
    std::fs::File::create(&path).unwrap().set_len((1 << 20) + 1).unwrap();
    lint("larger than");
}

/// A script of another backend has all of Python.
#[test]
fn only_scripts_of_monty_are_checked() {
    let bench = Bench::new();
    let request = bench.save(&RequestText::python(SCRIPT));
    let mut command = bench.command("toolexec");
    let output = CliOutput::of(command.arg("lint").arg(&request.path));
    output.assert_code(0);
    assert_eq!(output.stderr, "");
}

#[test]
fn the_inputs_are_variables_of_the_code() {
    let bench = Bench::new();
    if CodeBench::of(&bench, "the_inputs_are_variables_of_the_code").is_none() {
        return;
    }
    let request = bench.save(&code("sum(input)", "{\"input\": [1], \"other\": 2}"));
    let mut command = bench.command("toolexec");
    let output = CliOutput::of(command.arg("lint").arg(&request.path));
    output.assert_code(0);
    let request = bench.save(&code("sum(input)", "{\"other\": 2}"));
    let violation = violation_of(&bench, &request.path, "code.unsupported");
    assert!(violation["message"].as_str().unwrap().contains("'input'"), "{violation}");
}

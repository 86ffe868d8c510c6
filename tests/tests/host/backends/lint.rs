//! `lint` names the first construct of the code that monty does not have.

use toolexec_tests::{Bench, CliOutput, skip};

use super::scene::{CodeBench, code};

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

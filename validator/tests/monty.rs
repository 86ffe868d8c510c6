//! Requests of the monty backend: read and checked like all others, so that a policy can decide.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use crate::support;
use support::{HASH, ID, checked, errors, valid, warnings};
use validator::{Backend, Work};

/// Returns the valid request, changed to one for the monty backend.
fn monty() -> String {
    let text = valid();
    let (front, _) = text.split_once("\n# Statistics").unwrap();
    let files = format!(
        "inputs:\n  - name: \"input.csv\"\n    sha256: \"{HASH}\"\n  - name: \"script.py\"\n    sha256: \"{HASH}\"\noutputs_expected:\n  - path: \"output.json\"\n    description: \"the statistics\"\n"
    );
    assert!(front.contains(&files));
    let front = front.replace(&files, "backend: monty\ninputs: []\noutputs_expected: []\n");
    format!(
        "{front}\n## Code\n\n```python\n# add up\n{BODY}\n```\n\n## Inputs (JSON)\n\n```json\n{JSON}\n```\n\n\
         ## Output Expectations\n\nNone.\n\n## Risk Assessment\n\nRisk level: low\nJustification: \
         pure\nData sensitivity: public\nNetwork rationale: none\n"
    )
}

const BODY: &str = "total = sum(rows)\nprint(total)";
const JSON: &str = "{\"rows\": [1, 2, 3], \"scale\": 0.5}";

#[track_caller]
fn expect(from: &str, to: &str, codes: &str) {
    let text = monty();
    assert!(text.contains(from), "{from}");
    let text = text.replacen(from, to, 1);
    assert_eq!(
        errors(&text).join(" "),
        codes,
        "{from:?} -> {to:?}: {:#?}",
        checked(&text).violations
    );
}

#[test]
fn accepted_as_code() {
    assert_eq!(warnings(monty()), [] as [&str; 0]);
    let request = checked(monty()).verdict.ok().unwrap();
    assert_eq!(request.backend(), Some(Backend::Monty));
    assert_eq!(request.argv(), [] as [&str; 0]);
    let Work::Code(code) = request.work() else { panic!("{:?}", request.work()) };
    assert_eq!(code.text(), format!("# add up\n{BODY}"));
    let line = monty().lines().position(|line| line == "# add up").unwrap() + 1;
    assert_eq!((code.line(), code.inputs_json()), (line, JSON));
    assert_eq!(serde_json::Value::Object(code.inputs().clone()).to_string(), JSON.replace(' ', ""));
}

#[test]
fn fences_and_inputs_are_optional() {
    let plain = monty().replace("```python\n", "").replace("print(total)\n```", "print(total)");
    assert_eq!(errors(&plain), [] as [&str; 0]);
    let (before, rest) =
        monty().split_once("## Inputs").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let after = rest.split_once("## Output").unwrap().1;
    assert_eq!(errors(format!("{before}## Output{after}")), [] as [&str; 0]);
}

#[test]
fn unsupported_features_are_refused() {
    expect("language: \"python\"", "language: node", "backend.mismatch");
    let open = "network: allowlist\nnetwork_allowlist: [a.org]";
    expect(
        "network: \"none\"\nnetwork_allowlist: []",
        open,
        "backend.mismatch risk.network-rationale",
    );
    let input = format!("inputs:\n  - name: \"a\"\n    sha256: \"{HASH}\"\n");
    expect("inputs: []\n", &input, "backend.mismatch");
    expect(
        "outputs_expected: []",
        "outputs_expected: [{path: a, description: b}]",
        "backend.mismatch outputs.path",
    );
    expect(
        "## Output Expectations",
        "## Input Files\n\n## Output Expectations",
        "section.unexpected",
    );
    expect("## Code\n", "## Program\n", "section.missing section.unexpected");
    expect("backend: monty", "backend: era", "backend.value section.missing section.unexpected");
    expect("## Inputs (JSON)", "## Inputs", "section.unexpected");
    let environment = format!("backend: monty\nx-environment: charts@sha256:{HASH}");
    expect("backend: monty", &environment, "backend.mismatch");
}

/// Returns the valid request, changed to a script of the monty backend.
fn script(command: &str) -> String {
    let text = valid().replace("constraints:\n", "backend: monty\nconstraints:\n");
    assert!(text.contains(support::COMMAND));
    text.replacen(support::COMMAND, command, 1)
}

#[test]
fn scripts_have_files() {
    let run = "python script.py --in /in/input.csv --out /out/output.json";
    let others = [run.replace("python", "python3"), run.replace("script", "/in/script")];
    for command in [run, &others[0], &others[1]] {
        assert_eq!(errors(script(command)), [] as [&str; 0], "{command}");
        let request = checked(script(command)).verdict.ok().unwrap();
        assert!(request.is_python_script(), "{command}");
        assert_eq!((request.inputs().len(), request.outputs_expected().len()), (2, 1));
    }
    for command in [support::COMMAND, "node script.py", "python"] {
        assert!(errors(script(command)).contains(&"backend.mismatch".to_owned()), "{command}");
    }
    let other = script(run).replacen("language: \"python\"", "language: node", 1);
    assert!(errors(other).contains(&"backend.mismatch".to_owned()));
}

#[test]
fn code() {
    expect(&format!("# add up\n{BODY}"), "\n", "code.empty");
    for line in [
        "import os",
        "x = open('/in/a')",
        "__import__('os')",
        "a.getattr",
        "OPEN = 1",
        "# import note",
        "\u{ff45}val('1')",
        "x = (dir)",
        "exe\u{1d9c}('1')",
        "_\u{ff3f}import__('os')",
    ] {
        expect(BODY, line, "code.forbidden");
    }
    for line in ["reopen = 2", "important = 1", "dir_ = 1", "evaluate(1)", "s = 'é ü'"] {
        expect(BODY, line, "");
    }
    expect("```python", "```bash", "backend.mismatch");
    expect(BODY, "x = 1\n```\n\n```python\ny = 2", "code.forbidden");
    expect("```python", "Adds up.\n\n```python", "code.forbidden");
    expect(BODY, "p = '/etc/passwd'", "path.host");
    expect(BODY, "t = 'password=hunter2hunter2'", "secret.password");
}

#[test]
fn inputs() {
    for json in [
        "[1]",
        "{",
        "{} {}",
        "{\"a\": 1, \"a\": 2}",
        "{\"a\": {\"b\": 1, \"b\": 2}}",
        "{\"1a\": 1}",
        "{\"class\": 1}",
        "{\"a-b\": 1}",
        "{a: 1}",
        "",
    ] {
        expect(JSON, json, "code.inputs");
    }
    let deep = format!("{{\"a\": {}1{}}}", "[".repeat(5000), "]".repeat(5000));
    expect(JSON, &deep, "code.inputs");
    for json in ["{}", "{\"_x1\": null, \"y\": {\"any key\": [true]}}"] {
        expect(JSON, json, "");
    }
    assert!(monty().contains(ID));
}

#[test]
fn another_program_is_another_intent() {
    let intent = |text: String| checked(text).verdict.ok().unwrap().intent_sha256();
    let base = intent(monty());
    assert_ne!(base, intent(monty().replace("print(total)", "print(rows)")));
    assert_ne!(base, intent(monty().replace("0.5", "0.25")));
    assert_eq!(base, intent(monty().replace("\"alice\"", "\"bob\"")));
}

#[test]
fn printed_again_it_is_the_same() {
    for body in [BODY, "def f(x):\n    return x\n\nf(1)", "s = '```'\ns"] {
        let request = checked(monty().replace(BODY, body)).verdict.ok().unwrap();
        let text = request.to_text().unwrap();
        let again = checked(&text).verdict.ok().unwrap();
        assert_eq!(again.work(), request.work());
        assert_eq!(again.intent_sha256(), request.intent_sha256());
        assert_eq!(again.to_text().unwrap(), text);
    }
}

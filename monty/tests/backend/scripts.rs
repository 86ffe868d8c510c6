//! Each script of `tests/scripts` prints under monty what it prints under CPython, and `check` has
//! nothing against it. Each of `tests/refused` runs under CPython only, and `check` names the
//! construct at which monty would end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{MontyBench, MontyOutput};

fn scripts(folder: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|it| it.extension() == Some("py".as_ref())).collect();
    files.sort();
    files
}

#[test]
fn scripts_print_what_cpython_prints() {
    let (bench, scripts) = (MontyBench::new(), scripts("scripts"));
    assert!(scripts.len() >= 30, "only {} scripts", scripts.len());
    let mut wrong = Vec::new();
    for script in &scripts {
        let mut cpython = Command::new("python3");
        cpython.args(["-I", "-S", "-X", "utf8"]).arg(script);
        let expected = MontyOutput::of(&mut cpython);
        assert_eq!(expected.status, 0, "{}: {}", script.display(), expected.err);
        let found = bench.script(script, &[]);
        if (found.status, &found.out) != (0, &expected.out) {
            let name = script.display();
            wrong.push(format!("{name}: {found:?}\nCPython: {:?}", expected.out));
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn scripts_that_run_have_no_problem() {
    for script in scripts("scripts") {
        let output = MontyOutput::of(crate::support::program().arg("check").arg(&script));
        assert_eq!((output.status, output.out.as_str()), (0, ""), "{}", script.display());
    }
}

/// Returns the line of the innermost frame of a traceback.
fn raised_line(traceback: &str) -> u64 {
    let frame = traceback.rfind("\", line ").unwrap_or_else(|| panic!("no frame: {traceback}"));
    let digits = traceback[frame + "\", line ".len()..].chars().take_while(char::is_ascii_digit);
    digits.collect::<String>().parse().unwrap()
}

/// Each script begins with a comment: a part of the exception.
#[test]
fn refused_scripts_are_refused_before_they_run() {
    let (bench, refused) = (MontyBench::new(), scripts("refused"));
    assert!(refused.len() >= 30, "only {} scripts", refused.len());
    let numbers = bench.write("in/numbers.txt", "3\n1\n2\n");
    let rows = bench.write("in/rows.json", r#"[{"n": 1}, {"n": 2}]"#);
    for script in &refused {
        let (name, text) = (script.display(), fs::read_to_string(script).unwrap());
        let expected = text.lines().next().unwrap().strip_prefix("# ").unwrap();
        let mut cpython = Command::new("python3");
        cpython.args(["-I", "-S", "-X", "utf8"]).arg(script).args([&numbers, &rows]);
        let output = MontyOutput::of(&mut cpython);
        assert_eq!(output.status, 0, "{name}: {}", output.err);

        let output = MontyOutput::of(crate::support::program().arg("check").arg(script));
        assert_eq!((output.status, output.err.as_str()), (1, ""), "{name}: {output:?}");
        let problem: serde_json::Value = serde_json::from_str(&output.out).unwrap();
        assert!(problem["message"].as_str().unwrap().contains(expected), "{name}: {problem}");

        let output = bench.script(script, &["/in/numbers.txt", "/in/rows.json"]);
        assert_eq!(output.status, 1, "{name}: {output:?}");
        assert!(output.err.contains(expected), "{name}: {}", output.err);
        // For a loop over a name, monty reports the line of its body.
        let (line, raised) = (problem["line"].as_u64().unwrap(), raised_line(&output.err));
        assert!(line == raised || line + 1 == raised, "{name}: {problem}\n{}", output.err);
    }
}

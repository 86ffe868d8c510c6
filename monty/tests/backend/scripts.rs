//! Each script of `tests/scripts` prints under monty what it prints under CPython.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{MontyBench, MontyOutput};

fn scripts() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|it| it.extension() == Some("py".as_ref())).collect();
    files.sort();
    files
}

#[test]
fn scripts_print_what_cpython_prints() {
    let (bench, scripts) = (MontyBench::new(), scripts());
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
fn scripts_compile() {
    for script in scripts() {
        let output = MontyOutput::of(crate::support::program().arg("check").arg(&script));
        assert_eq!((output.status, output.out.as_str()), (0, ""), "{}", script.display());
    }
}

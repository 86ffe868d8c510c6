//! A folder with a package, its test, and files that are left out; and requests that were drafted
//! with it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use toolexec_tests::{Bench, CliOutput, workspace};

use super::scene::write;

/// The command that runs the test of the package.
pub(super) const COMMAND: [&str; 7] =
    ["--", "python", "-m", "unittest", "discover", "-s", "/in/repo"];

const TEST: &str = "import unittest\n\
                    from adding import add\n\
                    class Adding(unittest.TestCase):\n    \
                        def test_add(self):\n        \
                            self.assertEqual(add(2, 3), 5)\n";

const OPTIONS: [&str; 12] = [
    "--format",
    "json",
    "--purpose",
    "Test the package",
    "--language",
    "python",
    "--risk",
    "low",
    "--sensitivity",
    "public",
    "--justification",
    "it is a test",
];

/// Writes the folder `repo` in the home of the user.
pub(super) fn repository(bench: &Bench) -> PathBuf {
    let repo = bench.home().join("repo");
    for (name, text, mode) in [
        ("adding/__init__.py", "def add(a, b):\n    return a + b\n", 0o644),
        ("test_adding.py", TEST, 0o644),
        ("run.sh", "#!/bin/sh\n", 0o755),
        (".gitignore", "/target/\n*.log\n!kept.log\n", 0o644),
        (".toolexecignore", "secret.txt\n", 0o644),
        ("kept.log", "kept\n", 0o644),
        ("build.log", "left out\n", 0o644),
        ("adding/build.log", "left out\n", 0o644),
        ("adding/secret.txt", "left out\n", 0o644),
        ("target/large", "left out\n", 0o644),
        (".git/HEAD", "ref: refs/heads/main\n", 0o644),
    ] {
        write(&repo.join(name), text, mode);
    }
    symlink("adding", repo.join("also")).unwrap();
    repo
}

/// The files that are not left out.
pub(super) const COPIED: [&str; 7] = [
    ".gitignore",
    ".toolexecignore",
    "adding/__init__.py",
    "also",
    "kept.log",
    "run.sh",
    "test_adding.py",
];

pub(super) fn draft(bench: &Bench, words: &[&str]) -> CliOutput {
    CliOutput::of(bench.command("toolexec").arg("draft").args(OPTIONS).args(words))
}

/// Drafts a request with `repo`, fills in its approval, and returns its path.
#[track_caller]
pub(super) fn approved_request(bench: &Bench) -> PathBuf {
    let output = draft(bench, &[&["--input", "repo"][..], &COMMAND].concat());
    output.assert_code(0);
    let request = bench.home().join(output.json()["request"].as_str().unwrap());
    let now = CliOutput::of(bench.command("date").args(["-u", "+%FT%TZ"])).stdout;
    let text = fs::read_to_string(&request).unwrap();
    let filled = text
        .replace("approved_by: \"\"", "approved_by: \"tester\"")
        .replace("approved_utc: \"\"", &format!("approved_utc: \"{}\"", now.trim()));
    fs::write(&request, filled).unwrap();
    request
}

/// The directory of the copy of `repo`.
pub(super) fn copy_of(request: &Path) -> PathBuf {
    request.with_extension("inputs").join("repo")
}

/// Returns the digest that the script of docs/tree-digest.md computes.
#[track_caller]
pub(super) fn script_digest(directory: &Path) -> String {
    let script = workspace().join("trees/tree_digest.py");
    let output = CliOutput::of(Command::new("python3").arg(script).arg(directory));
    output.assert_code(0);
    output.stdout.split(' ').next().unwrap().to_owned()
}

/// Lists the files and links below a directory, sorted.
pub(super) fn files_below(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut todo = vec![directory.to_owned()];
    while let Some(next) = todo.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let entry = entry.unwrap();
            match entry.file_type().unwrap().is_dir() {
                true => todo.push(entry.path()),
                false => {
                    let path = entry.path();
                    let name = path.strip_prefix(directory).unwrap();
                    found.push(name.to_str().unwrap().to_owned());
                }
            }
        }
    }
    found.sort_unstable();
    found
}

/// Writes a policy that permits `exec --yes`.
pub(super) fn unasked_policy(bench: &Bench) -> PathBuf {
    let policy = bench.toolexec(["policy", "show", "embedded"]).stdout;
    assert!(policy.contains("unasked: false"));
    bench.scratch().file("unasked.yaml", policy.replace("unasked: false", "unasked: true"))
}

/// Runs `toolexec exec` without a question.
pub(super) fn exec(bench: &Bench, words: &[&str]) -> CliOutput {
    let policy = unasked_policy(bench);
    let mut command = bench.command("toolexec");
    CliOutput::of(command.args(["exec", "--yes", "--policy"]).arg(policy).args(words))
}

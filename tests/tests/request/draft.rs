//! `toolexec draft` creates a request that lacks only its approval. Bad arguments leave no files.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use toolexec_tests::{Bench, CliOutput, Record, list};

/// All required options of a draft, without its command.
const REQUIRED_OPTIONS: [&str; 10] = [
    "--purpose",
    "A test: \"quoted\" # and more",
    "--language",
    "python",
    "--risk",
    "low",
    "--sensitivity",
    "public",
    "--justification",
    "`it` is a *test*",
];

fn draft(bench: &Bench, more: &[&str]) -> CliOutput {
    CliOutput::of(bench.command("toolexec").arg("draft").args(REQUIRED_OPTIONS).args(more))
}

/// Creates a bench whose home contains only these files.
fn bench(files: &[(&str, &str)]) -> Bench {
    let bench = Bench::new();
    for (name, content) in files {
        let path = bench.home().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    bench
}

const SCRIPT: (&str, &str) = ("script.py", "import sys\nprint(sys.argv[1:])\n");

/// Asserts that the user's directory contains only these names.
#[track_caller]
fn assert_only(bench: &Bench, names: &[&str]) {
    assert_eq!(list(&bench.home()), names);
}

/// Returns the draft that was written, from the output of `--format json`.
#[track_caller]
fn written(bench: &Bench, output: &CliOutput) -> (PathBuf, Value) {
    output.assert_code(0);
    let object = output.json();
    (bench.home().join(object["request"].as_str().unwrap()), object)
}

fn lint(bench: &Bench, words: &[&str], request: &Path) -> CliOutput {
    CliOutput::of(
        bench.command("toolexec").args(["lint", "--format", "json"]).args(words).arg(request),
    )
}

fn codes(object: &Value) -> Vec<&str> {
    let violations = object["violations"].as_array().unwrap();
    violations.iter().map(|violation| violation["code"].as_str().unwrap()).collect()
}

/// Fills in the approval, as a user does with an editor.
fn approve(request: &Path) {
    let now = Command::new("date").args(["-u", "+%FT%TZ"]).output().unwrap();
    let now = String::from_utf8(now.stdout).unwrap();
    let text = fs::read_to_string(request).unwrap();
    for line in ["approved_by: \"\"\n", "approved_utc: \"\"\n"] {
        assert_eq!(text.matches(line).count(), 1, "{text}");
    }
    let text = text.replace("approved_by: \"\"", "approved_by: \"tester\"");
    let text = text.replace("approved_utc: \"\"", &format!("approved_utc: \"{}\"", now.trim()));
    fs::write(request, text).unwrap();
}

#[test]
fn a_draft_lacks_only_its_approval_and_runs_with_it() {
    let bench = bench(&[SCRIPT, ("data/my table.csv", "a,b\n")]);
    let words = ["--input", "script.py", "--input", "tables/one.csv=data/my table.csv"];
    let words = [&words[..], &["--format", "json", "--", "python", "script.py"]].concat();
    let arguments = ["/in/tables/one.csv", "it's", "a b", "$HOME", "", "x=1", "a\"b", "*"];
    let output = draft(&bench, &[&words[..], &arguments].concat());
    let (request, object) = written(&bench, &output);
    assert_eq!(codes(&object), ["approval.missing", "approval.missing"]);
    let linted = lint(&bench, &["--draft"], &request);
    linted.assert_code(0);
    assert_eq!(codes(&linted.json()), ["approval.missing", "approval.missing"]);
    let inputs = request.with_extension("inputs");
    assert_eq!(fs::read(inputs.join("tables/one.csv")).unwrap(), b"a,b\n");
    assert_eq!(list(&inputs), ["script.py", "tables"]);

    approve(&request);
    let linted = lint(&bench, &[], &request);
    linted.assert_code(0);
    assert_eq!(codes(&linted.json()), Vec::<&str>::new());
    let mut run = bench.command("toolexec");
    let output = CliOutput::of(run.arg("run").arg(&request).args(["--format", "json"]));
    let record = Record::of(&output);
    record.assert_outcome("ok");
    let printed = "['/in/tables/one.csv', \"it's\", 'a b', '$HOME', '', 'x=1', 'a\"b', '*']\n";
    assert_eq!(record.stdout(), printed);
    assert_eq!(record.front_matter_value("request_id"), object["request_id"].as_str().unwrap());
    assert_eq!(
        record.front_matter_value("intent_sha256"),
        object["intent_sha256"].as_str().unwrap()
    );
}

#[test]
fn one_separator_serves_inputs_and_outputs_and_errors_name_the_form() {
    let bench = bench(&[SCRIPT]);
    for (words, form) in [
        (
            ["--output", "mean.json:the mean"],
            "help: write --output PATH or --output PATH=DESCRIPTION",
        ),
        (["--input", "table.csv:data.csv"], "help: write --input FILE or --input NAME=FILE"),
    ] {
        let output = draft(&bench, &[&words[..], &["--", "python", "-c", "1"]].concat());
        output.assert_code(3);
        output.assert_stderr(&[words[1], form]);
    }
}

#[test]
fn a_draft_contains_the_arguments_unchanged() {
    let bench = bench(&[SCRIPT]);
    let output = draft(
        &bench,
        &[
            "--slug",
            "mine",
            "--input",
            "script.py",
            "--output",
            "a/b.json=what: \"it\" is",
            "--output",
            "c",
            "--host",
            "a.org",
            "--host",
            "b.org:8443",
            "--network-rationale",
            "reads *both*",
            "--cpu",
            "0.5",
            "--memory-mb",
            "64",
            "--time-sec",
            "7",
            "--requested-by",
            "core_draft",
            "--requester",
            "R: #1",
            "--audience",
            "'all'",
            "--command",
            "python script.py 'a;b'",
            "--format",
            "json",
        ],
    );
    let (request, object) = written(&bench, &output);
    assert!(object["request_id"].as_str().unwrap().ends_with("Z-mine"), "{object}");
    let text = fs::read_to_string(&request).unwrap();
    for part in [
        "\npurpose: \"A test: \\\"quoted\\\" # and more\"\n",
        "\n  - path: \"a/b.json\"\n    description: \"what: \\\"it\\\" is\"\n",
        "\nnetwork: \"allowlist\"\nnetwork_allowlist:\n  - \"a.org\"\n  - \"b.org:8443\"\n",
        "\ncpu_limit: \"0.5\"\nmemory_limit_mb: 64\ntime_limit_sec: 7\n",
        "\nrequested_by: \"core_draft\"\n",
        "\nx-requester: \"R: #1\"\nx-audience: \"'all'\"\n",
        "\n## Command\n\npython script.py 'a;b'\n\n",
        "\n- /out/a/b.json\n- /out/c\n",
        "\n  - \"No persistence\"\n",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    let hash = Command::new("sha256sum").arg(&request).output().unwrap();
    assert!(hash.stdout.starts_with(object["sha256"].as_str().unwrap().as_bytes()));
    let hash = Command::new("sha256sum").arg(bench.home().join("script.py")).output().unwrap();
    assert!(hash.stdout.starts_with(object["inputs"][0]["sha256"].as_str().unwrap().as_bytes()));
    lint(&bench, &["--draft"], &request).assert_code(0);
}

#[test]
fn a_person_sees_the_path_and_what_comes_next() {
    let bench = bench(&[SCRIPT]);
    fs::create_dir(bench.home().join("requests")).unwrap();
    let words = ["--dir", "requests", "--input", "script.py", "--", "python", "script.py"];
    let output = draft(&bench, &words);
    output.assert_code(0);
    let path = output.stdout.strip_suffix('\n').unwrap();
    assert!(path.starts_with("requests/TR-") && path.ends_with("Z-a-test-quoted-and-more.md"));
    assert!(bench.home().join(path).is_file());
    output.assert_stderr(&["approved_by", "approved_utc", "toolexec lint", "toolexec run", path]);
    assert!(!output.stderr.contains("approval.missing"), "{output:#?}");
    assert_eq!(list(&bench.home().join("requests")).len(), 2, "nothing is left of the making");
    assert_only(&bench, &["requests", "script.py"]);
    // Without inputs no directory is created for them.
    draft(&bench, &["--slug", "x", "--", "python", "-c", "print(1)"]).assert_code(0);
    let names = list(&bench.home());
    assert!(names.len() == 3 && names[0].ends_with("-x.md"), "{names:?}");
}

#[test]
fn an_invalid_draft_is_reported_and_not_written() {
    let bench = bench(&[SCRIPT, ("my table.csv", "a"), ("sub/a.py", "pass")]);
    let names = ["my table.csv", "script.py", "sub"];
    for (words, code, says) in [
        (&["--", "python", "script.py"][..], "command.undeclared-file", "add --input script.py"),
        (&["--", "python", "sub/a.py"], "command.undeclared-file", "--input sub/a.py=sub/a.py"),
        (&["--input", "my table.csv", "--", "python", "-c", "1"], "inputs.name", "my table.csv"),
        (&["--input", "../x=script.py", "--", "python", "-c", "1"], "inputs.name", "../x"),
        (&["--input", "/x=script.py", "--", "python", "-c", "1"], "inputs.name", "/x"),
        (
            &["--input", "a=script.py", "--input", "a=script.py", "--", "go"],
            "inputs.duplicate",
            "a",
        ),
        (
            &["--input", "a=script.py", "--input", "a/b=script.py", "--", "go"],
            "inputs.duplicate",
            "a",
        ),
        (&["--command", "python -c 1 | sort"], "command.pipeline", "pipeline"),
        (&["--command", ""], "command.empty", "command"),
        (&["--command", "## Command"], "section.duplicate", "twice"),
        (&["--", "bash", "-c", "id"], "command.shell", "shell"),
        (&["--", "python", "-c", "1", "/etc/passwd"], "path.host", "/etc/passwd"),
        (&["--cpu", "two", "--", "python", "-c", "1"], "limits.cpu", "two"),
        (&["--memory-mb", "0", "--", "python", "-c", "1"], "limits.memory", "memory_limit_mb"),
        (&["--time-sec", "0", "--", "python", "-c", "1"], "limits.time", "time_limit_sec"),
        (&["--output", "../x", "--", "python", "-c", "1"], "outputs.outside-out", "../x"),
        (&["--output", "a b", "--", "python", "-c", "1"], "outputs.path", "a b"),
        (
            &["--host", "https://a.org", "--network-rationale", "it is", "--", "go"],
            "network.host",
            "https://a.org",
        ),
        (&["--host", "a.org", "--network-rationale", "none", "--", "go"], "risk.network", "reason"),
        (&["--requester", " ", "--", "python", "-c", "1"], "frontmatter.value", "x-requester"),
        (&["--audience", "a\u{202e}b", "--", "python", "-c", "1"], "frontmatter.value", "x-aud"),
    ] {
        let output = draft(&bench, words);
        output.assert_code(2);
        output.assert_stderr(&[code, says, "not written"]);
        assert_eq!(output.stdout, "", "{words:?}");
        let output = draft(&bench, &[&["--format", "json"], words].concat());
        output.assert_code(2);
        let object = output.json();
        assert_eq!(object["request"], Value::Null);
        assert!(codes(&object).iter().any(|it| it.starts_with(code)), "{object}");
        assert_only(&bench, &names);
    }
    // The fix that the message about a bad name suggests.
    let good = ["--input", "my-table.csv=my table.csv", "--", "python", "-c", "print(1)"];
    draft(&bench, &good).assert_code(0);
}

#[test]
fn wrong_arguments_are_reported_with_help() {
    let bench = bench(&[SCRIPT]);
    let ok = ["--", "python", "-c", "1"];
    for (words, says) in [
        (&["--language", "perl"][..], &["--language", "python, node, ts, go, ruby"][..]),
        (&["--risk", "none"], &["--risk", "low, medium, high"]),
        (&["--sensitivity", "secret"], &["--sensitivity", "public, internal, confidential"]),
        (&["--requested-by", "me"], &["--requested-by", "human, core_draft"]),
        (&["--memory-mb", "1G"], &["--memory-mb", "1G"]),
        (&["--time-sec", "-1"], &["--time-sec"]),
        (&["--host", "a.org"], &["--network-rationale"]),
        (&["--network-rationale", "why"], &["--host"]),
        (&["--command", "python"], &["--command"]),
        (&["--slug", "a b"], &["--slug", "'a b'", "letters, digits"]),
        (&["--slug", ""], &["--slug"]),
        (&["--slug", "../../x"], &["--slug"]),
        (&["--audience", "a\nb"], &["--audience", "more than one line", "write one line"]),
        (&["--dir", "no-such", "--input", "script.py"], &["--dir no-such", "No such file"]),
        (&["--dir", "script.py"], &["--dir script.py", "not a directory"]),
        (&["--purpos", "x"], &["--purpose"]),
        (&["--format", "xml"], &["human, json"]),
    ] {
        let mut command = bench.command("toolexec");
        command.arg("draft");
        // An option of the case replaces the default one.
        for pair in REQUIRED_OPTIONS.chunks(2).filter(|pair| pair[0] != words[0]) {
            command.args(pair);
        }
        let output = CliOutput::of(command.args(words).args(ok));
        output.assert_code(3);
        output.assert_stderr(says);
        assert_only(&bench, &["script.py"]);
    }
    let output = draft(&bench, &[]);
    output.assert_code(3);
    output.assert_stderr(&["--command"]);
    let output = draft(&bench, &["--", "python", "-c", "a\nb"]);
    output.assert_code(3);
    output.assert_stderr(&["more than one line", "script"]);
    let output = bench.toolexec(["draft", "--", "python"]);
    output.assert_code(3);
    output.assert_stderr(&[
        "--purpose",
        "--language",
        "--risk",
        "--sensitivity",
        "--justification",
    ]);
    let mut command = bench.command("toolexec");
    command.arg("draft").args(["--purpose", "Проверка"]).args(&REQUIRED_OPTIONS[2..]).args(ok);
    let output = CliOutput::of(&mut command);
    output.assert_code(3);
    output.assert_stderr(&["--slug"]);
}

#[test]
fn an_input_is_a_file_or_folder_that_can_be_read() {
    let bench = bench(&[SCRIPT]);
    fs::create_dir(bench.home().join("folder")).unwrap();
    let fifo = bench.home().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for (input, says) in [
        ("missing.csv", &["missing.csv", "No such file"][..]),
        ("fifo", &["fifo", "is a FIFO", "name a regular file"]),
        ("x=fifo", &["fifo", "is a FIFO"]),
        ("/dev/zero", &["/dev/zero", "is a device"]),
        ("x=", &["write --input FILE or --input NAME=FILE"]),
    ] {
        let output = draft(&bench, &["--input", input, "--", "python", "-c", "1"]);
        output.assert_code(3);
        output.assert_stderr(&[&["--input"], says].concat());
        assert_only(&bench, &["fifo", "folder", "script.py"]);
    }
    let output = draft(&bench, &["--input", "one", "--input", "two", "--", "python", "-c", "1"]);
    output.assert_stderr(&["one", "two"]);
    let name = std::ffi::OsStr::from_bytes(b"a\xff.csv");
    fs::write(bench.home().join(name), "x").unwrap();
    let mut command = bench.command("toolexec");
    command
        .arg("draft")
        .args(REQUIRED_OPTIONS)
        .arg("--input")
        .arg(name)
        .args(["--", "python", "-c", "1"]);
    let output = CliOutput::of(&mut command);
    output.assert_code(3);
    output.assert_stderr(&["write --input FILE or --input NAME=FILE"]);
    let mut named = std::ffi::OsString::from("a.csv=");
    named.push(name);
    let mut command = bench.command("toolexec");
    command
        .arg("draft")
        .args(REQUIRED_OPTIONS)
        .arg("--input")
        .arg(named)
        .args(["--", "python", "-c", "1"]);
    CliOutput::of(&mut command).assert_code(0);
}

#[test]
fn inputs_larger_than_any_run_may_have_are_not_copied() {
    let bench = bench(&[SCRIPT]);
    let large = fs::File::create(bench.home().join("large")).unwrap();
    large.set_len((1 << 30) + 1).unwrap();
    let output =
        draft(&bench, &["--input", "script.py", "--input", "large", "--", "python", "script.py"]);
    output.assert_code(3);
    output.assert_stderr(&["large", "--input", "larger than 1073741824 bytes"]);
    assert_only(&bench, &["large", "script.py"]);
}

#[test]
fn existing_files_are_not_replaced() {
    let bench = bench(&[SCRIPT]);
    // All names of the next 20 seconds are taken, so that a tick of the clock cannot free one.
    let taken = |ending: &str| {
        let directory = bench.home().join(format!("with-{ending}"));
        fs::create_dir(&directory).unwrap();
        // From one reading of the clock: one reading for each name could skip a second.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        for second in now..now + 20 {
            let stamp = format!("@{second}");
            let date = ["-u", "-d", &stamp, "+%Y%m%d-%H%M%SZ"];
            let date = String::from_utf8(Command::new("date").args(date).output().unwrap().stdout);
            let path = directory.join(format!("TR-{}-x{ending}", date.unwrap().trim()));
            match ending {
                ".md" => fs::write(path, "mine").unwrap(),
                _ => fs::create_dir(path).unwrap(),
            }
        }
        let before = list(&directory);
        let words = ["--slug", "x", "--dir", directory.to_str().unwrap(), "--input", "script.py"];
        let output = draft(&bench, &[&words[..], &["--", "python", "script.py"]].concat());
        output.assert_code(3);
        output.assert_stderr(&["already exists", "another slug"]);
        assert_eq!(list(&directory), before);
        directory
    };
    let files = taken(".md");
    for name in list(&files) {
        assert_eq!(fs::read(files.join(name)).unwrap(), b"mine");
    }
    taken(".inputs");
}

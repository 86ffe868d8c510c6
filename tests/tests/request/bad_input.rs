//! Requests that must not run. Each error names its object and its code. Each request gets a signed
//! refusal. The user's file and the state do not change.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use toolexec_tests::{Bench, CliOutput, Record, RequestText, SavedRequest, list};

toolexec_tests::as_both!(
    an_unreadable_request_is_reported,
    a_name_that_is_not_utf_8_is_not_taken_for_another,
    a_request_that_is_too_large_is_refused,
    a_file_that_is_not_a_request_is_refused,
    an_unapproved_request_is_refused,
    inputs_must_be_what_was_approved,
    the_command_must_be_one_permitted_command,
    limits_are_refused_never_lowered,
    a_missing_runtime_is_refused,
    the_network_is_refused,
    everything_wrong_is_reported_at_once,
    a_bad_policy_is_named,
);

fn bytes(request: &SavedRequest) -> Vec<u8> {
    fs::read(&request.path).unwrap()
}

/// Checks the common properties of every refusal, and returns its record.
#[track_caller]
fn assert_refusal(
    bench: &Bench,
    request: &SavedRequest,
    output: &CliOutput,
    codes: &[&str],
) -> Record {
    output.assert_code(2);
    output.assert_stderr(codes);
    output.assert_stderr(&[request.path.to_str().unwrap()]);
    assert!(
        !output.stderr.contains("panicked") && !output.stdout.contains("panicked"),
        "{output:#?}"
    );
    let record = Record::of(output);
    record.assert_outcome("refused");
    for code in codes {
        record.assert_violation(code);
    }
    assert_eq!((record.stdout(), record.stderr()), (String::new(), String::new()));
    let kept = record.path.join("request").join(record.front_matter_value("request_file"));
    assert_eq!(fs::read(kept).unwrap(), bytes(request), "the very bytes that were refused");
    bench.toolexec(["verify".as_ref(), record.path.as_os_str()]).assert_code(0);
    bench.assert_nothing_left();
    record
}

/// Runs a request. Asserts that it is refused for these codes and that its file does not change.
#[track_caller]
fn run_refused(bench: &Bench, text: &RequestText, codes: &[&str]) -> (CliOutput, Record) {
    let request = bench.save(text);
    let before = (bytes(&request), list(&request.inputs));
    let output = bench.run(&request);
    let record = assert_refusal(bench, &request, &output, codes);
    assert_eq!((bytes(&request), list(&request.inputs)), before, "the person's files stay");
    (output, record)
}

fn good() -> RequestText {
    RequestText::python("print('ran')")
}

fn an_unreadable_request_is_reported(bench: &Bench) {
    let place = bench.home();
    let unreadable = bench.save(&good()).path;
    fs::set_permissions(&unreadable, fs::Permissions::from_mode(0o000)).unwrap();
    let fifo = bench.scratch().path().join("fifo.md");
    CliOutput::of(std::process::Command::new("mkfifo").arg(&fifo)).assert_code(0);
    let mut cases = vec![
        (place.join("missing.md"), "No such file"),
        (place.clone(), "is a directory"),
        (fifo, "is a FIFO"),
        ("/dev/zero".into(), "is a device"),
    ];
    if !bench.is_root() {
        cases.push((unreadable, "Permission denied"));
    }
    for (path, why) in cases {
        let output = bench.toolexec(["run".as_ref(), path.as_os_str()]);
        output.assert_code(3);
        output.assert_stderr(&[path.to_str().unwrap(), why]);
        let problems = output.stderr.lines().filter(|line| !line.starts_with("help: ")).count();
        assert_eq!((output.stdout.as_str(), problems), ("", 1), "{output:#?}");
        assert_eq!(list(&bench.results()), Vec::<String>::new(), "nothing was asked of anybody");
        bench.assert_nothing_left();
    }
}

fn a_name_that_is_not_utf_8_is_not_taken_for_another(bench: &Bench) {
    let request = bench.save(&good());
    let path = request.path.with_file_name(OsStr::from_bytes(b"r\xff.md"));
    fs::rename(&request.path, &path).unwrap();
    let output = bench.toolexec(["run".as_ref(), path.as_os_str()]);
    output.assert_code(3);
    output.assert_stderr(&["its name is not UTF-8", "rename the file"]);
    fs::remove_file(&path).unwrap();
    bench.assert_nothing_left();
}

fn a_request_that_is_too_large_is_refused(bench: &Bench) {
    let text = good();
    let path = format!("{}.md", text.id);
    let path = bench.scratch().file(&path, text.text() + &"prose\n".repeat(50 * 1024));
    let lint = bench.toolexec(["lint".as_ref(), path.as_os_str()]);
    lint.assert_code(2);
    assert!(lint.stdout.contains("text.too-large"), "{lint:#?}");
    let request = SavedRequest { id: text.id, inputs: path.with_extension("inputs"), path };
    let output = bench.run(&request);
    output.assert_code(2);
    output.assert_stderr(&[request.path.to_str().unwrap(), "text.too-large", "262144"]);
    let record = Record::of(&output);
    record.assert_outcome("refused");
    record.assert_violation("text.too-large");
    bench.assert_nothing_left();
}

fn a_file_that_is_not_a_request_is_refused(bench: &Bench) {
    let garbage: Vec<u8> =
        (0..4096_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let cases: [(&str, &[u8], &str); 4] = [
        ("garbage.md", &garbage, "text.not-utf8"),
        ("empty.md", b"", "frontmatter.missing"),
        ("prose.md", b"# Please run this\n\npython script.py\n", "frontmatter.missing"),
        ("bomb.md", b"---\na: &a [x, x]\nb: [*a, *a]\n---\n", "frontmatter."),
    ];
    for (name, content, code) in cases {
        let path = bench.scratch().file(name, content);
        let inputs = path.with_extension("inputs");
        let request = SavedRequest { id: String::new(), path, inputs };
        let record = assert_refusal(bench, &request, &bench.run(&request), &[code]);
        assert!(record.id().contains("-REFUSED-"), "{}", record.id());
    }
}

fn an_unapproved_request_is_refused(bench: &Bench) {
    for field in ["approved_by: \"tester\"\n", "approved_utc: "] {
        let text = good();
        let line =
            text.text().lines().find(|line| line.starts_with(field.trim_end())).unwrap().to_owned();
        let key = line.split(':').next().unwrap();
        run_refused(bench, &text.edit(&line, &format!("{key}: \"\"")), &["approval.missing"]);
        run_refused(bench, &good().edit(&format!("{key}:"), &format!("x-{key}:")), &[key]);
    }
    let text = good();
    let line =
        text.text().lines().find(|line| line.starts_with("approved_utc")).unwrap().to_owned();
    run_refused(
        bench,
        &text.edit(&line, "approved_utc: \"2020-01-01T00:00:00Z\""),
        &["approval.date-order"],
    );
}

fn inputs_must_be_what_was_approved(bench: &Bench) {
    let request = bench.save(&good());
    fs::write(request.inputs.join("script.py"), "print('rAn')").unwrap();
    let output = bench.run(&request);
    assert_refusal(bench, &request, &output, &["inputs.mismatch", "script.py"]);

    let request = bench.save(&good());
    fs::remove_dir_all(&request.inputs).unwrap();
    let output = bench.run(&request);
    assert_refusal(bench, &request, &output, &["inputs.missing", "script.py"]);

    let request = bench.save(&good());
    fs::write(request.inputs.join("extra.py"), "").unwrap();
    let output = bench.run(&request);
    assert_refusal(bench, &request, &output, &["inputs.undeclared", "extra.py"]);

    let request = bench.save(&good());
    let script = request.inputs.join("script.py");
    let elsewhere = bench.scratch().file("elsewhere.py", fs::read(&script).unwrap());
    fs::remove_file(&script).unwrap();
    std::os::unix::fs::symlink(elsewhere, &script).unwrap();
    let output = bench.run(&request);
    assert_refusal(bench, &request, &output, &["inputs.missing", "symbolic link"]);

    // A refused request is not used up.
    fs::remove_file(&script).unwrap();
    fs::write(&script, "print('ran')").unwrap();
    bench.run(&request).assert_code(0);
    // A declared input without its line in the text, and the other way round.
    run_refused(bench, &good().edit("- /in/script.py\n", "None.\n"), &["inputs."]);
    run_refused(
        bench,
        &good().edit("- /in/script.py\n", "- /in/script.py\n- /in/b\n"),
        &["inputs."],
    );
    run_refused(
        bench,
        &good().command("python other.py"),
        &["command.undeclared-file", "other.py"],
    );
}

fn the_command_must_be_one_permitted_command(bench: &Bench) {
    for (command, code) in [
        ("python script.py && python script.py", "command.chaining"),
        ("python script.py; id", "command.chaining"),
        ("python script.py\npython script.py", "command.multiple-lines"),
        ("python script.py | cat", "command.pipeline"),
        ("python script.py > /out/x", "command.redirection"),
        ("python script.py $(id)", "command.substitution"),
        ("python script.py &", "command.background"),
        ("bash -c id", "command.shell"),
        ("/usr/bin/python3 script.py", "path.host"),
        ("curl https://example.org", "command.not-permitted"),
        ("", "command.empty"),
    ] {
        run_refused(bench, &good().command(command), &[code]);
    }
    let language =
        |name: &str| good().edit("language: \"python\"", &format!("language: \"{name}\""));
    run_refused(bench, &language("cobol"), &["language.unknown", "cobol"]);
    run_refused(bench, &language("shell_forbidden"), &["language.shell"]);
    run_refused(bench, &language("node"), &["language.mismatch"]);
    run_refused(
        bench,
        &good().edit("network: ", "backend: \"monty\"\nnetwork: "),
        &["backend.unavailable"],
    );
}

fn limits_are_refused_never_lowered(bench: &Bench) {
    run_refused(bench, &good().time_sec(3601), &["limits.over-policy", "3601", "3600"]);
    run_refused(bench, &good().memory_mb(16385), &["limits.over-policy", "16385"]);
    run_refused(bench, &good().cpu("8.5"), &["limits.over-policy", "8.5"]);
    run_refused(bench, &good().time_sec(0), &["limits.time"]);
    run_refused(bench, &good().memory_mb(0), &["limits.memory"]);
    run_refused(bench, &good().cpu("-1"), &["limits.cpu"]);
}

fn a_missing_runtime_is_refused(bench: &Bench) {
    let policy = bench.toolexec(["policy", "show", "embedded"]).stdout;
    let policy = policy.replacen("binary: auto", "binary: /usr/bin/no-such-python", 1);
    let policy = bench.scratch().file("policy.yaml", policy);
    let request = bench.save(&good());
    let output = CliOutput::of(
        bench
            .command("toolexec")
            .arg("run")
            .arg(&request.path)
            .arg("--policy")
            .arg(&policy)
            .args(["--format", "json"]),
    );
    assert_refusal(bench, &request, &output, &["runtime.missing", "/usr/bin/no-such-python"]);
    run_refused(bench, &RequestText::of("ruby", "jruby -v"), &["command.not-permitted"]);
}

fn the_network_is_refused(bench: &Bench) {
    let asks = |list: &str| {
        good()
            .edit("network: \"none\"", "network: \"allowlist\"")
            .edit("network_allowlist: []", &format!("network_allowlist: [{list}]"))
            .edit("Network rationale: none", "Network rationale: to fetch")
    };
    run_refused(bench, &asks("\"example.org\""), &["network.not-permitted", "example.org"]);
    run_refused(bench, &asks("\"http://example.org/\""), &["network.host"]);
    run_refused(bench, &good().edit("network: \"none\"", "network: \"all\""), &["network.value"]);
}

fn everything_wrong_is_reported_at_once(bench: &Bench) {
    let text = good()
        .command("python script.py | sort")
        .time_sec(0)
        .edit("approved_by: \"tester\"", "approved_by: \"\"")
        .edit("purpose:", "surprise: 1\npurpose:");
    let codes = ["command.pipeline", "limits.time", "approval.missing", "frontmatter.unknown-key"];
    run_refused(bench, &text, &codes);
}

fn a_bad_policy_is_named(bench: &Bench) {
    let request = bench.save(&good());
    let shown = bench.toolexec(["policy", "show", "embedded"]).stdout;
    let unknown = bench.scratch().file("unknown.yaml", format!("{shown}\nsurprise: 1\n"));
    for (policy, why) in [(unknown.as_path(), "surprise"), (Path::new("/no/policy"), "/no/policy")]
    {
        let output = CliOutput::of(
            bench.command("toolexec").arg("run").arg(&request.path).arg("--policy").arg(policy),
        );
        output.assert_code(3);
        output.assert_stderr(&[policy.to_str().unwrap(), why]);
        assert_eq!(output.stdout, "");
    }
    assert!(!bench.results().exists(), "nothing was decided under a policy that is not understood");
}

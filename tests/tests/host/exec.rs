//! `toolexec exec`: one command, one question, and the output, files and record of the run.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use toolexec_tests::{Bench, CliOutput, Process, Record, at_a_terminal, kill, list};

toolexec_tests::as_both!(
    one_answer_leads_to_the_files_and_the_record,
    without_the_question_the_streams_are_exact,
    the_output_comes_while_the_tool_runs,
    an_interrupt_cancels_the_run_and_records_it,
    commands_of_one_second_have_different_ids,
    a_command_that_cannot_run_is_explained,
    output_that_cannot_be_written_is_reported,
);

fn script(bench: &Bench, text: &str) {
    fs::write(bench.home().join("tool.py"), text).unwrap();
}

/// Writes a policy that permits `--yes`.
fn unasked_policy(bench: &Bench) -> PathBuf {
    let policy = bench.toolexec(["policy", "show", "embedded"]).stdout;
    assert!(policy.contains("unasked: false"));
    bench.scratch().file("unasked.yaml", policy.replace("unasked: false", "unasked: true"))
}

fn unasked(bench: &Bench) -> Command {
    let mut command = bench.command("toolexec");
    command.args(["exec", "--yes", "--policy"]).arg(unasked_policy(bench));
    command.args(["--input", "tool.py"]);
    command
}

fn start(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn only_record(bench: &Bench) -> Record {
    let results = list(&bench.results());
    assert_eq!(results.len(), 1, "{results:?}");
    Record::at(&bench.results().join(&results[0]))
}

fn assert_no_draft_left(bench: &Bench) {
    assert_eq!(list(&bench.state().join("exec")), Vec::<String>::new());
    bench.assert_nothing_left();
}

fn one_answer_leads_to_the_files_and_the_record(bench: &Bench) {
    let test = "one_answer_leads_to_the_files_and_the_record";
    script(
        bench,
        "import sys\nopen(sys.argv[1], 'w').write('made')\n\
         print('colour \\x1b[31m and \\u202e'); print('to stderr', file=sys.stderr)\n",
    );
    let words = ["exec", "--input", "tool.py", "--", "python", "tool.py", "/out/made"];
    let question = "Run it? [y/N, r shows the whole review] ";
    // Enter alone declines.
    let Some(output) = at_a_terminal(bench, test, &[(question, "")], &words) else { return };
    output.assert_code(1);
    for row in ["command   python tool.py /out/made", "inputs    tool.py (", "network   none"] {
        assert!(output.stdout.contains(row), "{row:?} is not in {output:#?}");
    }
    assert!(output.stdout.contains("policy    embedded, built in"), "{output:#?}");
    assert!(output.stdout.contains("not run"), "{output:#?}");
    assert!(!bench.results().exists());
    assert_no_draft_left(bench);

    let answers = [(question, "r"), (question, "y")];
    let output = at_a_terminal(bench, test, &answers, &words).unwrap();
    output.assert_code(0);
    // The review has the text of the script.
    let words = ["open(sys.argv[1], 'w')", "colour \\u{1b}[31m and \\u{202e}\r\n", "to stderr\r\n"];
    for text in [&words[..], &["ok: 1 file in out, record "]].concat() {
        assert!(output.stdout.contains(text), "{text:?} is not in {output:#?}");
    }
    assert_eq!(fs::read_to_string(bench.home().join("out/made")).unwrap(), "made");
    let record = only_record(bench);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "colour \x1b[31m and \u{202e}\n");
    bench.toolexec([&"verify".into(), &record.path]).assert_code(0);
    assert_no_draft_left(bench);
}

fn without_the_question_the_streams_are_exact(bench: &Bench) {
    script(
        bench,
        "import os\nos.write(1, bytes(range(256)) * 2000 + b'no end')\nos.write(2, b'\\x1b[2J\\xff')\n\
         raise SystemExit(3)\n",
    );
    // The shipped policy requires the question.
    let words = ["exec", "-y", "--input", "tool.py", "--", "python", "tool.py"];
    let output = bench.toolexec(words);
    output.assert_code(2);
    output.assert_stderr(&["--yes: policy `embedded` requires the question", "approval.unasked"]);
    assert!(!bench.state().exists(), "a refused option has left a state");

    let output = unasked(bench).args(["--", "python", "tool.py"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let bytes = [(0..=255).collect::<Vec<u8>>().repeat(2000), b"no end".to_vec()].concat();
    assert!(output.stdout == bytes, "stdout has {} bytes", output.stdout.len());
    assert!(output.stderr.starts_with(b"\x1b[2J\xff"), "{output:?}");
    let last = String::from_utf8_lossy(&output.stderr);
    let last = last.trim_end().lines().last().unwrap();
    assert!(last.contains("exit_nonzero: record "), "{last}");
    let record = only_record(bench);
    record.assert_outcome("exit_nonzero");
    assert!(fs::read(record.path.join("stdout")).unwrap() == bytes);
    assert!(!bench.home().join("out").exists(), "there was no artifact");
    assert_no_draft_left(bench);
}

fn the_output_comes_while_the_tool_runs(bench: &Bench) {
    script(bench, "import time\nprint('first', flush=True)\ntime.sleep(5)\nprint('second')\n");
    // Without `--`, the first word that is not an option begins the command.
    let mut child = start(unasked(bench).args(["python", "tool.py"]));
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "first");
    let begun = Instant::now();
    assert!(child.try_wait().unwrap().is_none(), "the tool has ended before its output came");
    assert_eq!(lines.next().unwrap().unwrap(), "second");
    // A stream that comes only at the end comes at once.
    assert!(begun.elapsed() > Duration::from_secs(2), "{:?}", begun.elapsed());
    assert!(child.wait().unwrap().success());
}

fn an_interrupt_cancels_the_run_and_records_it(bench: &Bench) {
    script(bench, "import time\nprint('started', flush=True)\ntime.sleep(600)\n");
    let mut child = start(unasked(bench).args(["--", "python", "tool.py"]));
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "started\n");
    kill("INT", Process(child.id()));
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{errors}");
    assert!(errors.contains("cancelled: record "), "{errors}");
    only_record(bench).assert_outcome("cancelled");
    assert_no_draft_left(bench);
}

fn commands_of_one_second_have_different_ids(bench: &Bench) {
    script(bench, "print('x')\n");
    let policy = unasked_policy(bench);
    let run = || {
        let mut command = bench.command("toolexec");
        command.args(["exec", "-y", "--policy"]).arg(&policy).args(["--input", "tool.py"]);
        start(command.args(["--", "python", "tool.py"]))
    };
    // The first run makes keys and directories.
    assert!(run().wait().unwrap().success());
    // On a busy host, commands that start at once can have ids of different seconds.
    for round in 1..=10 {
        for child in [run(), run(), run()] {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{output:?}");
        }
        let results = list(&bench.results());
        let ids: BTreeSet<_> = results.iter().map(|id| &id[id.find("TR-").unwrap()..]).collect();
        assert_eq!(ids.len(), 1 + 3 * round, "{results:?}");
        let seconds: BTreeSet<_> =
            ids.iter().map(|id| id.split_once("-exec-").unwrap().0).collect();
        if seconds.len() < ids.len() {
            return;
        }
    }
    panic!("no two commands have ids of the same second");
}

fn a_command_that_cannot_run_is_explained(bench: &Bench) {
    script(bench, "print('x')\n");
    let policy = unasked_policy(bench);
    let exec = |words: &[&str]| {
        let mut command = bench.command("toolexec");
        command.args(["exec", "-y", "--policy"]).arg(&policy).args(words);
        CliOutput::of(&mut command)
    };
    let output = exec(&["--", "python", "tool.py"]);
    output.assert_code(2);
    output.assert_stderr(&["command.undeclared-file", "help: add --input tool.py"]);
    let output = exec(&["--", "awk", "x"]);
    output.assert_code(3);
    output.assert_stderr(&["awk: no runtime of policy", "help: begin the command with", "python3"]);
    let output = exec(&["--input", "missing.py", "--", "python", "missing.py"]);
    output.assert_code(3);
    output.assert_stderr(&["--input missing.py: No such file"]);
    let output = exec(&["--input", "tool.py", "--time-sec", "999999", "--", "python", "tool.py"]);
    output.assert_code(2);
    output.assert_stderr(&["limits.over-policy", "refuses the run"]);
    // Without a terminal, the question cannot be answered.
    let words = ["exec", "--input", "tool.py", "--", "python", "tool.py"];
    let program = bench.scratch().path().join("bin/toolexec");
    let output = CliOutput::of(bench.command("setsid").arg("--wait").arg(program).args(words));
    output.assert_code(3);
    output.assert_stderr(&["no terminal for questions", "help: run it at a terminal"]);
    assert!(!bench.results().exists());
    assert_no_draft_left(bench);
}

/// The run is recorded and its record named, although its output could not be delivered.
fn output_that_cannot_be_written_is_reported(bench: &Bench) {
    script(bench, "import sys\nopen('/out/made', 'w').write('x')\nprint('line')\n");
    CliOutput::of(bench.command("mkdir").args(["-p", "out/made"])).assert_code(0);
    let command = |stdout: Stdio| {
        let mut command = unasked(bench);
        command.args(["--", "python", "tool.py"]).stdin(Stdio::null()).stdout(stdout);
        let output = command.stderr(Stdio::piped()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, stderr) = command(Stdio::null());
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("the record has all output, but it was not copied"), "{stderr}");
    assert!(stderr.trim_end().lines().last().unwrap().starts_with("ok: record "), "{stderr}");
    only_record(bench).assert_outcome("ok");
    CliOutput::of(bench.command("rmdir").arg("out/made")).assert_code(0);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (code, stderr) = command(full.into());
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("stdout: No space left"), "{stderr}");
    assert!(stderr.contains("ok: 1 file in out, record "), "{stderr}");
}

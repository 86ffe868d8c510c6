//! The progress display at a terminal: the line of `run` and `wait`, the tool's own output, and no
//! progress without a terminal. Also the full screen of `watch`.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod full;

use std::fs;

use serde_json::Value;
use toolexec_tests::{Bench, CliOutput, RequestText, Service, ServiceConfig, TmuxScreen};

/// Prints control characters, works for a while, holds some memory, and prints more. It runs long
/// enough to be seen on a busy host.
const LONG: &str = "import time\n\
    print('\\x1b[2Jbegun \\u202e', flush=True)\n\
    held = bytearray(40 << 20)\n\
    until = time.monotonic() + 8\n\
    while time.process_time() < 1.5: sum(range(1000))\n\
    time.sleep(max(0, until - time.monotonic()))\n\
    print('ended')\n";

#[test]
fn a_run_shows_what_it_uses_and_what_its_tool_says_to_a_terminal() {
    let bench = Bench::new();
    let Some(screen) = TmuxScreen::open("a_run_shows_what_it_uses", &bench, (100, 24)) else {
        return;
    };
    let request = bench.save(&RequestText::python(LONG));
    screen.type_line(&format!("$TOOLEXEC_BIN/toolexec run {} --follow", request.path.display()));
    screen.wait_for("| \\u{1b}[2Jbegun \\u{202e}");
    screen.wait_until("memory and CPU", |text| {
        text.lines().any(|line| {
            let of_limit = |word: &str, unit: &str| {
                let rest = line.split(word).nth(1)?;
                let (now, _) = rest.trim_start().split_once(unit)?;
                now.parse::<f64>().ok().filter(|now| *now > 0.0)
            };
            line.starts_with("running    [")
                && of_limit("memory", " of 256 MiB").is_some_and(|mib| mib > 40.0)
                && of_limit("cpu", " of 20 s").is_some_and(|sec| sec > 0.5)
        })
    });
    let text = screen.wait_for_prompt();
    assert!(text.contains("outcome    ok"), "{text}");
    assert!(text.contains("\n| ended\n") && !text.contains("running    ["), "{text}");
    // No raw byte of the tool reached the terminal.
    assert!(!screen.written().contains("\u{1b}[2Jbegun"), "{}", screen.written());
}

#[test]
fn without_a_terminal_nothing_is_drawn() {
    let bench = Bench::new();
    let run = |words: &[&str]| {
        let script = "import sys, time; print('x', flush=True); print('y', file=sys.stderr); time.sleep(0.6)";
        let request = bench.save(&RequestText::python(script));
        CliOutput::of(bench.command("toolexec").arg("run").arg(&request.path).args(words))
    };
    let stderr_of = |output: &CliOutput| -> String {
        let stderr = output.stderr_without_waits();
        let lines = stderr.split_inclusive('\n');
        lines.filter(|line| !line.starts_with("toolexec: ran without cgroup")).collect()
    };
    let output = run(&[]);
    output.assert_code(0);
    assert_eq!(stderr_of(&output), "");
    assert_eq!(output.stdout.lines().count(), 4, "{output:#?}");
    let output = run(&["--format", "json", "--follow"]);
    output.assert_code(0);
    assert_eq!((stderr_of(&output).as_str(), output.stdout.lines().count()), ("| x\n! y\n", 1));
    assert_eq!(output.json()["outcome"], "ok");
}

/// A terminal without cursor movement gets a line for each step.
#[test]
fn a_dumb_terminal_gets_plain_lines() {
    let bench = Bench::new();
    let Some(screen) = TmuxScreen::open("a_dumb_terminal_gets_plain_lines", &bench, (100, 24))
    else {
        return;
    };
    let request = bench.save(&RequestText::python("import time; time.sleep(1)"));
    let begun = screen.written().len();
    screen.type_line(&format!("TERM=dumb $TOOLEXEC_BIN/toolexec run {}", request.path.display()));
    screen.wait_for("outcome");
    let text = screen.wait_for_prompt();
    assert!(text.contains("outcome    ok"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("running    [")).count(), 1, "{text}");
    assert!(!screen.written()[begun..].contains("\u{1b}[K\r"), "{}", screen.written());
}

#[test]
fn wait_shows_the_progress_of_a_run() {
    let bench = Bench::new();
    let Some(screen) = TmuxScreen::open("what_the_daemon_tells_of_a_run", &bench, (100, 24)) else {
        return;
    };
    let service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let big = vec![7; 96 << 20];
    let request = service.submit(&RequestText::python(LONG).input("big", big));
    let spool = service.spool();
    screen.type_line(&format!(
        "$TOOLEXEC_BIN/toolexec wait {} --follow --spool {}",
        request.id,
        spool.display()
    ));
    service.wait_for("what the run uses to be told", |service| {
        let path = service.path(&format!("public/running/{}.json", request.id));
        let Ok(bytes) = fs::read(path) else { return false };
        let status: Value = serde_json::from_slice(&bytes).unwrap();
        status["step"] == "running"
            && status["memory_bytes"].as_u64().is_some_and(|bytes| bytes > 40 << 20)
            && status["cpu_ms"].as_u64().is_some_and(|ms| ms > 300)
            && status["cpu_ms_max"] == 20_000
            && status["hashed_bytes"] == status["input_bytes"]
            && status["input_bytes"].as_u64().is_some_and(|bytes| bytes > 96 << 20)
    });
    screen.wait_for("running    [");
    let text = screen.wait_for_prompt();
    assert!(text.contains(&format!("{}  ok", request.id)), "{text}");
    assert!(text.contains("| \\u{1b}[2Jbegun") && text.contains("\n| ended\n"), "{text}");
    assert!(!text.contains("running    ["), "{text}");
    service.verify().assert_code(0);
}

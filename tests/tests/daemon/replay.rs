//! `toolexec replay`: repeats the run of a record. It must use nothing up, run nothing that does
//! not verify, and never report a run with other bytes as reproducible.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use toolexec_tests::{Bench, CliOutput, Record, RequestText, SavedRequest, list, skip};

const STEADY: &str = "print('a')\nopen('/out/a.txt', 'w').write('same')\n";
const RANDOM: &str = "import os\nprint('a')\nopen('/out/a.txt', 'wb').write(os.urandom(16))\n";

fn ran(bench: &Bench, script: &str) -> (SavedRequest, Record) {
    let request = bench.save(&RequestText::python(script).output("a.txt"));
    let record = Record::of(&bench.run(&request));
    (request, record)
}

fn replay(bench: &Bench, record: &Path, words: &[&str]) -> CliOutput {
    let mut command = bench.command("toolexec");
    CliOutput::of(command.args(["replay", "--format", "json"]).arg(record).args(words))
}

#[test]
fn the_same_bytes_are_reproducible_as_often_as_one_likes() {
    let bench = Bench::new();
    let (request, record) = ran(&bench, STEADY);
    let before = list(&record.path);
    let inputs = request.inputs.to_str().unwrap();
    for _ in 0..2 {
        let output = replay(&bench, &record.path, &["--inputs", inputs]);
        output.assert_code(0);
        let json = output.json();
        assert_eq!((&json["reproducible"], &json["verified"]), (&true.into(), &true.into()));
        assert_eq!(json["replay_of"], record.id());
        let again = Record::at(Path::new(json["record"].as_str().unwrap()));
        again.assert_outcome("ok");
        assert!(again.text.contains("replay_of:\n  result_id: "), "{}", again.text);
        assert!(again.text.contains(&format!("- Replay of: {}", record.id())), "{}", again.text);
    }
    assert_eq!(list(&record.path), before, "the original is left alone");
    assert!(record.text.contains("replay_of: null"), "{}", record.text);
    // The replay does not undo the run of the request, and does not count as that run.
    let again = bench.run(&request);
    again.assert_code(2);
    again.assert_stderr(&["spool.replayed", record.id()]);
    bench.toolexec(["verify".as_ref(), bench.results().as_os_str()]).assert_code(0);
    bench.assert_nothing_left();
}

/// Waits for the start of the next second, and returns it.
fn wait_for_second() -> Duration {
    let now = since_epoch();
    let start = Duration::from_secs(now.as_secs() + 1);
    std::thread::sleep(start - now);
    start
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

/// Replays a run into a new directory, compares the ids, and returns the duration.
fn replay_elsewhere(
    bench: &Bench,
    (request, record): (&SavedRequest, &Record),
    name: &str,
) -> Duration {
    let elsewhere = bench.scratch().dir(name);
    let inputs = request.inputs.to_str().unwrap();
    let words = ["--inputs", inputs, "--results", elsewhere.to_str().unwrap()];
    let output = replay(bench, &record.path, &words);
    output.assert_code(0);
    let json = output.json();
    let again = Record::at(Path::new(json["record"].as_str().unwrap()));
    assert_ne!(again.id(), record.id());
    assert_eq!(json["verified"], true);
    for path in [&record.path, &again.path] {
        bench.toolexec(["verify".as_ref(), path.as_os_str()]).assert_code(0);
    }
    output.elapsed
}

/// Runs a request and replays it. Returns true if the replay asked for an id in the second in which
/// the run got its own.
fn replay_in_the_second_of_its_run(bench: &Bench, number: u32) -> bool {
    let second = wait_for_second();
    let (request, record) = ran(bench, STEADY);
    let begun = since_epoch();
    replay_elsewhere(bench, (&request, &record), &format!("same-second-{number}"));
    // The first replay may have waited for a free id. The second has one at once.
    wait_for_second();
    let took = replay_elsewhere(bench, (&request, &record), &format!("later-{number}"));
    begun + took < second + Duration::from_secs(1)
}

/// The ids differ even in the same second, and in a directory without the id of the run.
#[test]
fn a_replay_has_another_id_than_the_run_wherever_it_is_kept() {
    let bench = Bench::new();
    let same_second = (0..30).any(|number| replay_in_the_second_of_its_run(&bench, number));
    assert!(same_second, "no run and its replay fit into one second");
}

/// Each writes to its own directory, where no id is taken.
#[test]
fn replays_at_the_same_time_have_different_ids() {
    let bench = Bench::new();
    let (request, record) = ran(&bench, STEADY);
    let replay = |number: u32| {
        let results = bench.scratch().dir(&format!("at-once-{number}"));
        let mut command = bench.command("toolexec");
        command.args(["replay", "--format", "json"]).arg(&record.path);
        command.arg("--inputs").arg(&request.inputs).arg("--results").arg(&results);
        CliOutput::of(&mut command)
    };
    let mut ids: Vec<String> = std::thread::scope(|scope| {
        let replay = &replay;
        let begun: Vec<_> = (0..4).map(|number| scope.spawn(move || replay(number))).collect();
        let ended = begun.into_iter().map(|one| one.join().unwrap());
        let id_of = |output: CliOutput| {
            output.assert_code(0);
            let json = output.json();
            let record = Record::at(Path::new(json["record"].as_str().unwrap()));
            bench.toolexec(["verify".as_ref(), record.path.as_os_str()]).assert_code(0);
            record.id().to_owned()
        };
        ended.map(id_of).collect()
    });
    ids.push(record.id().to_owned());
    ids.sort();
    let all = ids.clone();
    ids.dedup();
    assert_eq!(ids, all, "an id was given twice");
}

#[test]
fn changed_bytes_are_reported() {
    let bench = Bench::new();
    let (request, record) = ran(&bench, RANDOM);
    let inputs = request.inputs.to_str().unwrap();
    let output = replay(&bench, &record.path, &["--inputs", inputs]);
    output.assert_code(1);
    let json = output.json();
    assert_eq!(json["reproducible"], false);
    let differences = json["differences"].as_array().unwrap();
    let what: Vec<_> = differences.iter().map(|row| row["field"].as_str().unwrap()).collect();
    assert_eq!(what, ["artifacts/a.txt"]);
}

#[test]
fn a_replay_with_other_conditions_is_refused() {
    let bench = Bench::new();
    let (request, record) = ran(&bench, STEADY);
    let inputs = request.inputs.to_str().unwrap();
    let count = list(&bench.results()).len();

    let output = replay(&bench, &record.path, &[]);
    output.assert_code(2);
    output.assert_stderr(&["--inputs"]);

    let policy = bench.toolexec(["policy", "show", "embedded"]).stdout;
    let policy = bench.scratch().file("policy.yaml", policy + "# mine\n");
    let words = ["--inputs", inputs, "--policy", policy.to_str().unwrap()];
    let output = replay(&bench, &record.path, &words);
    output.assert_code(2);
    output.assert_stderr(&["policy", "sha256"]);

    let refused = bench.save(&RequestText::python("1").edit("# A test", "## A test"));
    let refused = Record::of(&bench.run(&refused));
    let output = replay(&bench, &refused.path, &["--inputs", inputs]);
    output.assert_code(2);
    output.assert_stderr(&["nothing ran"]);
    assert_eq!(list(&bench.results()).len(), count + 1, "nothing was run");

    // Other inputs are reported like those of any run.
    fs::write(request.inputs.join("script.py"), "print('b')").unwrap();
    let output = replay(&bench, &record.path, &["--inputs", inputs]);
    output.assert_code(2);
    output.assert_stderr(&["inputs.mismatch"]);

    let stdout = record.path.join("stdout");
    fs::write(stdout, "forged\n").unwrap();
    let output = replay(&bench, &record.path, &["--inputs", inputs]);
    output.assert_code(1);
    output.assert_stderr(&["stdout", "does not verify"]);
}

#[test]
fn a_replay_under_unknown_keys_names_the_option() {
    let bench = Bench::new();
    let (request, record) = ran(&bench, STEADY);
    let inputs = request.inputs.to_str().unwrap();
    let stranger = bench.home().join("stranger");
    let state = ["--state", stranger.to_str().unwrap()];
    bench.toolexec(["keys", "init"].iter().chain(&state)).assert_code(0);
    let keys = bench.toolexec(["keys", "show"].iter().chain(&state)).stdout;
    let keys = bench.scratch().file("stranger.signers", keys);
    let words = ["--inputs", inputs, "--result-keys", keys.to_str().unwrap()];
    let output = replay(&bench, &record.path, &words);
    output.assert_code(1);
    output.assert_stderr(&["is not trusted", "help: name the keys of its host with --result-keys"]);
}

/// Another user with write access to the results changes the request between the check and the run.
#[test]
fn a_request_that_changes_after_the_look_is_not_run() {
    if Command::new("strace").arg("-V").output().is_err() {
        return skip("a_request_that_changes_after_the_look_is_not_run", "strace is not there");
    }
    let bench = Bench::new();
    let (request, record) = ran(&bench, STEADY);
    let copy = record.path.join("request").join(format!("{}.md", request.id));
    let before = list(&bench.results());
    let trace = bench.home().join("trace");
    let mut command = bench.command("strace");
    command.args(["-f", "-qq", "-e", "trace=flock", "-o"]).arg(&trace);
    command.args(["--inject=flock:delay_enter=5000000:when=1"]);
    let toolexec = bench.command("toolexec").get_program().to_owned();
    command.arg(toolexec).arg("replay").arg(&record.path).arg("--inputs").arg(&request.inputs);
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while !fs::read_to_string(&trace).unwrap_or_default().contains("flock(") {
        assert!(begun.elapsed() < Duration::from_secs(20), "the replay takes no lock");
        std::thread::sleep(Duration::from_millis(5));
    }
    let text = fs::read_to_string(&copy).unwrap();
    fs::write(&copy, text.replace("python script.py", "python script.py EVIL")).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("changed after it was checked"),
        "{output:?}"
    );
    assert_eq!(list(&bench.results()), before, "something was run");
}

/// Its leftovers are recorded as a replay, and do not block the next one.
#[test]
fn a_replay_that_is_killed_is_recorded_as_one() {
    let bench = Bench::new();
    let request = bench.save(&RequestText::python("import time; time.sleep(4)"));
    let record = Record::of(&bench.run(&request));
    let inputs = request.inputs.to_str().unwrap();
    let mut command = bench.command("toolexec");
    command.arg("replay").arg(&record.path).args(["--inputs", inputs]);
    let mut child = command.spawn().unwrap();
    let begun = Instant::now();
    let ledger = bench.state().join("ledger");
    while fs::read_to_string(&ledger).unwrap().lines().count() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(20), "the replay never began");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let output = replay(&bench, &record.path, &["--inputs", inputs]);
    output.assert_code(0);
    output.assert_stderr(&["an earlier run was interrupted"]);
    let records: Vec<Record> =
        list(&bench.results()).iter().map(|name| Record::at(&bench.results().join(name))).collect();
    let mut outcomes: Vec<&str> = records.iter().map(Record::outcome).collect();
    outcomes.sort_unstable();
    assert_eq!(outcomes, ["indeterminate", "ok", "ok"]);
    let lost = records.iter().find(|record| record.outcome() == "indeterminate").unwrap();
    assert!(lost.text.contains("replay_of:\n"), "{}", lost.text);
}

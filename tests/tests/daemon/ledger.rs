//! A lost, damaged or outdated ledger: no request runs twice, every program reports the same
//! problem, and an operator's command repairs it. The kernel counts the runs, not our records.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use toolexec_tests::crash_support::{CountedTool, RunCounter};
use toolexec_tests::{
    Bench, CliOutput, RequestText, SavedRequest, Service, list, wait_for_no_process,
};

const REBUILD_OPTION: &str = "--rebuild-ledger";

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
    assert!(copied.success());
}

/// Creates requests whose files are kept, so that they can be submitted repeatedly.
fn requests(bench: &Bench, counted: &RunCounter, how_many: usize) -> Vec<SavedRequest> {
    (0..how_many).map(|_| request(bench, counted, "")).collect()
}

fn request(bench: &Bench, counted: &RunCounter, how: &str) -> SavedRequest {
    let text = RequestText::python("the tool does not read it");
    let word = counted.run_argument(&text.id);
    bench.save(&text.command(format!("python script.py {word} {how}").trim_end()))
}

fn submit_again(service: &Service<'_>, request: &SavedRequest) {
    let approved = service.path("approved");
    copy(&request.inputs, &approved);
    let hidden = approved.join(format!(".{}", request.id));
    copy(&request.path, &hidden);
    fs::rename(hidden, approved.join(request.path.file_name().unwrap())).unwrap();
}

fn stop(service: &mut Service<'_>) {
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
}

fn doctor(bench: &Bench, service: &Service<'_>, more: &[&str]) -> CliOutput {
    let mut doctor = bench.command("toolexec");
    doctor.args(["doctor", "--spool"]).arg(service.spool());
    CliOutput::of(doctor.arg("--state").arg(service.state()).args(more))
}

/// Returns the number of runs of each request, in order.
fn counts(counted: &RunCounter, requests: &[SavedRequest]) -> Vec<u32> {
    let counts = counted.counts();
    requests.iter().map(|it| counts.get(&it.id).copied().unwrap_or_default()).collect()
}

/// Asserts that daemon, check and `doctor` refuse the ledger, and name the repairing command.
fn assert_refused(bench: &Bench, service: &mut Service<'_>, words: &str) {
    let command = service.command();
    service.spawn_as(command);
    assert_eq!(service.wait(), Some(3), "{words}: {}", service.log());
    let log = service.log();
    assert!(log.contains(words) && log.contains(REBUILD_OPTION), "{words}: {log}");
    let output = CliOutput::of(service.command().arg("--check"));
    output.assert_code(2);
    output.assert_stderr(&[words, REBUILD_OPTION]);
    let output = doctor(bench, service, &[]);
    output.assert_code(1);
    assert!(output.stdout.contains(REBUILD_OPTION), "{words}: {output:#?}");
}

/// Runs requests, damages the state, and submits the same requests again.
fn assert_nothing_runs_twice(words: &str, damage: impl FnOnce(&Path, &Path)) {
    let bench = Bench::new();
    let Some(tool) = CountedTool::build(&format!("no run is repeated: {words}")) else { return };
    let mut service = Service::start(&bench, &tool.service_config(&bench));
    let counted = tool.count();
    let requests = requests(&bench, &counted, 3);
    submit_again(&service, &requests[0]);
    service.record_of(&requests[0].id).assert_outcome("ok");
    stop(&mut service);
    let older = bench.home().join("older");
    copy(&service.state(), &older);
    service.spawn();
    for request in &requests[1..] {
        submit_again(&service, request);
        service.record_of(&request.id).assert_outcome("ok");
    }
    stop(&mut service);
    damage(&service.state(), &older);
    for request in &requests {
        submit_again(&service, request);
    }
    assert_refused(&bench, &mut service, words);
    assert_eq!(counts(&counted, &requests), [1, 1, 1], "{words}");

    let output = doctor(&bench, &service, &[REBUILD_OPTION]);
    output.assert_stderr(&["rebuilt by order of uid"]);
    let ledger = fs::read_to_string(service.state().join("ledger")).unwrap();
    let ordered = ledger.lines().last().unwrap();
    assert!(ordered.starts_with("{\"ordered\":{\"at\":\"20"), "{ordered}");
    assert!(ordered.contains("\"by_uid\":"), "{ordered}");
    service.spawn();
    for request in &requests {
        service.wait_for("a refusal", |it| it.records_of(&request.id).len() == 2);
        let records = service.records_of(&request.id);
        let refusal = records.iter().find(|it| it.outcome() == "refused").unwrap();
        refusal.assert_violation("spool.replayed");
    }
    let another = request(&bench, &counted, "");
    submit_again(&service, &another);
    service.record_of(&another.id).assert_outcome("ok");
    stop(&mut service);
    service.spawn();
    assert_eq!(counts(&counted, &requests), [1, 1, 1], "{words}");
    let output = doctor(&bench, &service, &[]);
    assert_eq!(output.code, Some(0), "{output:#?}");
}

fn truncate(ledger: &Path, length: impl FnOnce(&[u8]) -> usize) {
    let bytes = fs::read(ledger).unwrap();
    fs::write(ledger, &bytes[..length(&bytes)]).unwrap();
}

fn last_line(bytes: &[u8]) -> usize {
    bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1
}

#[test]
fn a_removed_ledger_runs_nothing_twice() {
    assert_nothing_runs_twice("the ledger is missing", |state, _| {
        fs::remove_file(state.join("ledger")).unwrap();
    });
}

#[test]
fn a_removed_state_runs_nothing_twice() {
    assert_nothing_runs_twice("the ledger is missing", |state, _| {
        let keys = state.with_file_name("keys");
        fs::rename(state.join("keys"), &keys).unwrap();
        fs::remove_dir_all(state).unwrap();
        fs::create_dir(state).unwrap();
        fs::set_permissions(state, fs::Permissions::from_mode(0o700)).unwrap();
        fs::rename(keys, state.join("keys")).unwrap();
    });
}

#[test]
fn an_emptied_ledger_runs_nothing_twice() {
    assert_nothing_runs_twice("the ledger was cut", |state, _| {
        truncate(&state.join("ledger"), |_| 0)
    });
}

#[test]
fn a_ledger_cut_within_its_last_line_runs_nothing_twice() {
    assert_nothing_runs_twice("the ledger was cut", |state, _| {
        truncate(&state.join("ledger"), |bytes| bytes.len() - 9);
    });
}

#[test]
fn a_ledger_cut_by_a_line_runs_nothing_twice() {
    assert_nothing_runs_twice("the ledger was cut", |state, _| {
        truncate(&state.join("ledger"), last_line)
    });
}

#[test]
fn an_older_ledger_runs_nothing_twice() {
    assert_nothing_runs_twice("or is an older copy", |state, older| {
        fs::copy(older.join("ledger"), state.join("ledger")).unwrap();
    });
}

#[test]
fn an_older_state_runs_nothing_twice() {
    assert_nothing_runs_twice("the ledger is older than 2 runs", |state, older| {
        fs::remove_dir_all(state).unwrap();
        copy(older, state);
    });
}

#[test]
fn a_ledger_without_its_head_runs_nothing_twice() {
    assert_nothing_runs_twice("(ledger.head) is missing", |state, _| {
        fs::remove_file(state.join("ledger.head")).unwrap();
    });
}

#[test]
fn a_changed_ledger_runs_nothing_twice() {
    assert_nothing_runs_twice("was changed", |state, _| {
        let ledger = state.join("ledger");
        let text = fs::read_to_string(&ledger).unwrap();
        fs::write(&ledger, text.replacen("\"request_id\":\"TR-2", "\"request_id\":\"TR-3", 1))
            .unwrap();
    });
}

/// The state is copied before the spool, so it does not know a run in the copy of the spool.
#[test]
fn a_copy_that_was_made_in_the_wrong_order_runs_nothing_twice() {
    let bench = Bench::new();
    let Some(tool) = CountedTool::build("a copy of a spool at work") else { return };
    let mut service = Service::start(&bench, &tool.service_config(&bench));
    let counted = tool.count();
    let slow = request(&bench, &counted, "slow");
    let copies = bench.home().join("copies");
    fs::create_dir(&copies).unwrap();
    copy(&service.state(), &copies.join("state"));
    submit_again(&service, &slow);
    service.wait_for("the tool to run", |_| counted.counts().get(&slow.id) == Some(&1));
    copy(&service.spool(), &copies.join("spool"));
    service.signal("KILL");
    service.wait();
    // The launcher ends a moment later, and may write to the state until then.
    wait_for_no_process(service.state().join("staging").to_str().unwrap());
    for (place, copy) in [(service.state(), "state"), (service.spool(), "spool")] {
        fs::remove_dir_all(&place).unwrap();
        fs::rename(copies.join(copy), place).unwrap();
    }
    assert_refused(&bench, &mut service, "the ledger is older than the run");
    assert_eq!(counted.counts().get(&slow.id), Some(&1));
    doctor(&bench, &service, &[REBUILD_OPTION]).assert_stderr(&["0 lines kept", "1 runs added"]);
    service.spawn();
    // The copied request is another file than the claimed one, so it gets its own record.
    service.wait_for("two records", |it| it.records_of(&slow.id).len() == 2);
    let records = service.records_of(&slow.id);
    let outcomes: Vec<&str> = records.iter().map(|record| record.outcome()).collect();
    assert_eq!(outcomes, ["indeterminate", "refused"]);
    assert_eq!(counted.counts().get(&slow.id), Some(&1));
}

#[test]
fn an_embedded_run_does_not_go_on_without_its_ledger() {
    let bench = Bench::new();
    let Some(tool) = CountedTool::build("an embedded run") else { return };
    let policy = tool.service_config(&bench).policy.replace("invoker: false", "invoker: true");
    let policy = bench.scratch().file("tool.yaml", policy);
    let counted = tool.count();
    let run = |request: &SavedRequest, more: &[&str]| {
        let mut command = bench.command("toolexec");
        command.arg("run").arg(&request.path).arg("--policy").arg(&policy);
        CliOutput::of(command.args(["--format", "json"]).args(more))
    };
    let requests = requests(&bench, &counted, 2);
    for request in &requests {
        run(request, &[]).assert_code(0);
    }
    let ledger = bench.state().join("ledger");
    let good = fs::read(&ledger).unwrap();
    for length in [None, Some(0), Some(good.len() - 9), Some(last_line(&good))] {
        fs::remove_file(&ledger).unwrap();
        if let Some(length) = length {
            fs::write(&ledger, &good[..length]).unwrap();
        }
        let output = run(&requests[1], &[]);
        output.assert_code(3);
        output.assert_stderr(&["the ledger", REBUILD_OPTION]);
        assert_eq!(ledger.exists(), length.is_some(), "a refusal makes no ledger");
        if length.is_none() {
            fs::write(&ledger, "").unwrap();
        }
    }
    let mut command = bench.command("toolexec");
    let state = bench.state();
    command.args(["doctor", REBUILD_OPTION, "--spool"]).arg(&state).arg("--state").arg(&state);
    CliOutput::of(&mut command).assert_stderr(&["rebuilt by order of uid"]);
    for request in &requests {
        let output = run(request, &[]);
        output.assert_code(2);
        output.assert_stderr(&["spool.replayed"]);
    }
    assert_eq!(counts(&counted, &requests), [1, 1]);
}

/// Two state directories of one user publish into the same results.
#[test]
fn what_another_state_ran_into_the_same_results_is_not_run_again() {
    let bench = Bench::new();
    let results = bench.scratch().dir("shared");
    let request = bench.save(&RequestText::python("print('ran')"));
    let run = |state: &str| {
        let mut command = bench.command("toolexec");
        command.arg("run").arg(&request.path).arg("--results").arg(&results);
        CliOutput::of(
            command.arg("--state").arg(bench.home().join(state)).args(["--format", "json"]),
        )
    };
    run("one").assert_code(0);
    let output = run("two");
    output.assert_code(2);
    output.assert_stderr(&["spool.replayed"]);
    assert_eq!(list(&results).len(), 2);
}

#[test]
fn a_good_ledger_is_left_as_it_is_by_the_order() {
    let bench = Bench::new();
    let mut service = Service::start(&bench, &toolexec_tests::ServiceConfig::for_owner(&bench));
    let request = service.submit(&RequestText::python("print('ran')"));
    service.record_of(&request.id).assert_outcome("ok");
    stop(&mut service);
    let before = fs::read(service.state().join("ledger")).unwrap();
    let output = doctor(&bench, &service, &[REBUILD_OPTION]);
    output.assert_code(0);
    output.assert_stderr(&["nothing to rebuild"]);
    assert_eq!(fs::read(service.state().join("ledger")).unwrap(), before);
    assert!(!list(&service.state()).iter().any(|name| name.contains("replaced")));
}

/// The kernel refuses to start the program after the intent was written to the ledger.
#[test]
fn what_could_not_be_started_is_not_used_up() {
    let bench = Bench::new();
    let Some(tool) = CountedTool::build("what_could_not_be_started_is_not_used_up") else { return };
    let good = tool.program().with_file_name("tool.good");
    fs::copy(tool.program(), &good).unwrap();
    // A truncated ELF file: the header announces more than the file contains.
    let header = fs::read(&good).unwrap()[..64].to_vec();
    fs::write(tool.program(), header).unwrap();
    let mut service = Service::start(&bench, &tool.service_config(&bench));
    let counted = tool.count();
    let request = request(&bench, &counted, "");
    submit_again(&service, &request);
    service.record_of(&request.id).assert_outcome("setup_error");
    let ledger = fs::read_to_string(service.state().join("ledger")).unwrap();
    assert!(ledger.contains(&request.id), "it was begun: {ledger}");
    stop(&mut service);
    fs::rename(&good, tool.program()).unwrap();
    service.spawn();
    submit_again(&service, &request);
    service.wait_for("a second record", |it| it.records_of(&request.id).len() == 2);
    let ran = |it: &Service<'_>| it.records_of(&request.id).iter().any(|it| it.outcome() == "ok");
    assert!(ran(&service), "{:#?}", service.records_of(&request.id));
    // The request has run, so it is used up now.
    service.wait_for("the request to leave", |it| list(&it.path("approved")).is_empty());
    submit_again(&service, &request);
    service.wait_for("a third record", |it| it.records_of(&request.id).len() == 3);
    assert_eq!(counts(&counted, std::slice::from_ref(&request)), [1]);
    stop(&mut service);
    let output = doctor(&bench, &service, &[]);
    assert_eq!(output.code, Some(0), "{output:#?}");
}

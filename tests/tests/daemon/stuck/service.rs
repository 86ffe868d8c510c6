//! The daemon with a stuck slot or a stuck launcher.

use std::time::{Duration, Instant};

use toolexec_tests::{
    Bench, Process, RequestText, Service, ServiceConfig, is_child_of, kill, parent_of,
    wait_for_process,
};

use super::stopping::{StoppedProcesses, available_means, children_of, state_of, wait_until};
use super::{END_TIMEOUT, seconds, sleeper};

/// Starts a daemon without prewarmed sandboxes, with this start timeout. Waits for its first run.
fn started(bench: &Bench, start_sec_max: u32, shutdown_grace_sec: u32) -> Service<'_> {
    let mut config = ServiceConfig::for_owner(bench);
    let bound = format!("start_sec_max: {start_sec_max}");
    config.policy = config.policy.replacen("start_sec_max: 30", &bound, 1);
    (config.prewarmed_sandboxes, config.shutdown_grace_sec) = (Some(0), shutdown_grace_sec);
    let service = Service::start(bench, &config);
    let request = service.submit(&RequestText::python("print(1)"));
    service.record_of(&request.id).assert_outcome("ok");
    service
}

/// Returns the daemon's launcher.
fn launcher_of(service: &Service<'_>) -> Process {
    let daemon = service.process();
    let staging = service.state().join("staging");
    let all = wait_for_process(staging.to_str().unwrap());
    *all.iter().find(|one| is_child_of(**one, daemon)).unwrap()
}

/// Waits until the launcher has all its slots, each with its init, and returns them. A slot may
/// still be replaced, so two readings in a row must agree.
fn slots_of(launcher: Process) -> Vec<Process> {
    let read = || -> Vec<_> {
        let slots = children_of(launcher).into_iter();
        slots.map(|slot| (slot, children_of(slot))).collect()
    };
    let is_complete = |slots: &[(Process, Vec<Process>)]| {
        slots.len() == 2 && slots.iter().all(|(_, inits)| inits.len() == 1)
    };
    wait_until("two slots wait", || {
        let before = read();
        std::thread::sleep(Duration::from_millis(200));
        is_complete(&before) && read() == before
    });
    children_of(launcher)
}

#[test]
fn a_daemon_goes_on_with_other_slots_while_some_stand_still() {
    for means in available_means() {
        let bench = Bench::new();
        let service = started(&bench, 10, 1);
        let slots = slots_of(launcher_of(&service));
        let mut still = StoppedProcesses::new(means);
        still.stop(&slots);
        let begun = Instant::now();
        for number in 0..3 {
            let request = service.submit(&RequestText::python(&format!("print({number})")));
            service.record_of(&request.id).assert_outcome("ok");
        }
        println!("{means:?}: three runs beside two slots that stand still: {:?}", begun.elapsed());
        assert!(begun.elapsed() < seconds(25), "{}", service.log());
        assert!(service.log().contains("worker slot: stuck"), "{}", service.log());
        service.verify().assert_code(0);
        still.resume();
    }
}

#[test]
fn a_request_whose_init_stands_still_is_a_setup_error_and_the_next_one_runs() {
    for means in available_means() {
        let bench = Bench::new();
        let service = started(&bench, 4, 1);
        let slots = slots_of(launcher_of(&service));
        let inits: Vec<_> = slots.iter().flat_map(|slot| children_of(*slot)).collect();
        let mut still = StoppedProcesses::new(means);
        still.stop(&inits);
        let requests = [1, 2].map(|n| service.submit(&RequestText::python(&format!("print({n})"))));
        for request in &requests {
            let record = service.record_of(&request.id);
            record.assert_outcome("setup_error");
            let reason = record.front_matter_value("reason");
            assert!(reason.contains("wait for the sandbox's init"), "{reason}");
            assert!(reason.contains("(D)") || reason.contains("(T)"), "{reason}");
        }
        // Nothing was used up, and the stuck processes block no request.
        for request in &requests {
            service.submit_saved(request).assert_code(0);
        }
        let ran = || {
            let of = |id: &str| service.records_of(id).iter().any(|it| it.outcome() == "ok");
            requests.iter().all(|request| of(&request.id))
        };
        service.wait_for("both to run", |_| ran());
        service.verify().assert_code(0);
        still.resume();
    }
}

#[test]
fn a_launcher_that_stands_still_is_replaced() {
    for means in available_means() {
        let bench = Bench::new();
        let mut service = started(&bench, 3, 1);
        let launcher = launcher_of(&service);
        let mut all = slots_of(launcher);
        all.insert(0, launcher);
        let mut still = StoppedProcesses::new(means);
        still.stop(&all);
        let first = service.submit(&RequestText::python("print(1)"));
        service.record_of(&first.id).assert_outcome("setup_error");
        let second = service.submit(&RequestText::python("print(2)"));
        service.record_of(&second.id).assert_outcome("ok");
        service.verify().assert_code(0);
        let begun = Instant::now();
        service.signal("TERM");
        assert_eq!(service.wait(), Some(0), "{}", service.log());
        println!("{means:?}: ended after {:?}", begun.elapsed());
        assert!(begun.elapsed() < seconds(15), "{}", service.log());
        still.resume();
    }
}

#[test]
fn two_signals_end_a_daemon_whose_launcher_stands_still() {
    for means in available_means() {
        let bench = Bench::new();
        let mut service = started(&bench, 30, 60);
        let (text, word) = sleeper(60);
        let request = service.submit(&text);
        let tool = wait_for_process(&word)[0];
        let slot = parent_of(parent_of(tool));
        let mut still = StoppedProcesses::new(means);
        still.stop(&[parent_of(slot), slot]);
        service.signal("TERM");
        // Two pending signals would be one.
        service.wait_for("the drain", |it| it.log().contains("draining"));
        std::thread::sleep(Duration::from_millis(500));
        assert!(service.is_alive(), "the run may go on for shutdown_grace_sec");
        kill("TERM", service.process());
        let begun = Instant::now();
        service.wait();
        println!("{means:?}: ended {:?} after the second signal", begun.elapsed());
        assert!(begun.elapsed() < END_TIMEOUT, "{}", service.log());
        // Without its daemon the tool must end, even if its launcher is stuck.
        wait_until("the tool is dead", || state_of(tool).is_none());
        still.resume();
        service.spawn();
        service.record_of(&request.id).assert_outcome("indeterminate");
    }
}

#[test]
fn two_signals_end_the_runs_of_a_daemon_at_once() {
    let bench = Bench::new();
    let mut service = started(&bench, 30, 60);
    let (text, word) = sleeper(60);
    let request = service.submit(&text);
    assert!(!wait_for_process(&word).is_empty());
    service.signal("TERM");
    service.wait_for("the drain", |it| it.log().contains("draining"));
    service.signal("TERM");
    let code = service.wait();
    if code.is_some() {
        assert_eq!(code, Some(0), "{}", service.log());
        service.record_of(&request.id).assert_outcome("cancelled");
        return;
    }
    // On a busy host it may need more than its 3 s, and then ends by the signal.
    service.spawn();
    let record = service.record_of(&request.id);
    assert!(["cancelled", "indeterminate"].contains(&record.outcome()), "{}", record.text);
}

//! Each ending of a report with the outcome that it decides. The launcher's facts come first.

use policies::VmAccelerator;
use sandbox::outcome::OutcomeFacts;

use super::super::finished_tests::{QUIET, finished_with};
use super::*;

const MACHINE_MEMORY_MB: u64 = 192;

fn machine() -> GrantedMachine {
    GrantedMachine {
        accelerator: VmAccelerator::Tcg,
        root: "python".to_owned(),
        memory_mb: MACHINE_MEMORY_MB,
        time_ms: 1000,
        start_ms: 22_000,
    }
}

fn finished() -> FinishedRun {
    finished_with(OutcomeFacts {
        tool: Some(ToolEnd::Exited(120)),
        pids_limit_hit: true,
        out_full: true,
        file_full: true,
        ..QUIET
    })
}

/// A report with these changed or added members.
fn report(changes: &[(&str, &str)]) -> String {
    let mut members = vec![
        ("outcome", "\"ended\""),
        ("reason", "null"),
        ("exit_code", "0"),
        ("signal", "null"),
        ("status_from", "\"guest\""),
        ("accelerator", "\"tcg\""),
        ("guest_kernel", "\"6.1.0\""),
        ("guest_memory_mb", "192"),
        ("boot_ms", "2000"),
        ("tool_ms", "100"),
        ("pids_refused", "0"),
        ("oom_kills", "0"),
        ("out_full", "false"),
        ("entries", "0"),
        ("bytes", "0"),
        ("left_out_count", "0"),
        ("left_out", "[]"),
        ("console", "null"),
        ("qemu_messages", "null"),
        ("qemu_version", "null"),
    ];
    for (key, value) in changes {
        members.retain(|(known, _)| known != key);
        members.push((*key, *value));
    }
    let members = members.iter().map(|(key, value)| format!("\"{key}\": {value}"));
    format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
}

#[track_caller]
fn settled(changes: &[(&str, &str)]) -> (Option<Outcome>, FinishedRun) {
    let mut run = finished();
    let end = settle_report(&machine(), &mut run, Some(report(changes).as_bytes()));
    let ran = matches!(end, GuestEnd::Ran(_));
    (ran.then(|| outcome(run.outcome(), &run)), run)
}

#[test]
fn each_ending_has_its_outcome() {
    let failed: [(&str, &str); 2] = [("reason", "\"why\""), ("exit_code", "null")];
    let with = |more: &[(&'static str, &'static str)]| settled(&[&failed[..], more].concat()).0;
    assert_eq!(settled(&[]).0, Some(Outcome::Ok));
    assert_eq!(settled(&[("exit_code", "7")]).0, Some(Outcome::ExitNonzero(7)));
    let signal = settled(&[("exit_code", "null"), ("signal", "31")]).0;
    assert_eq!(signal, Some(Outcome::Signal(31)));
    assert_eq!(settled(&[("oom_kills", "1")]).0, Some(Outcome::MemoryLimit));
    let refused = settled(&[("exit_code", "1"), ("pids_refused", "3")]).0;
    assert_eq!(refused, Some(Outcome::PidsLimit));
    let full = settled(&[("exit_code", "1"), ("out_full", "true")]).0;
    assert_eq!(full, Some(Outcome::OutputLimit));
    assert_eq!(with(&[("outcome", "\"time-limit\"")]), Some(Outcome::WallLimit));
    for ending in ["\"guest-failed\"", "\"wrapper-failed\"", "\"qemu-exited\"", "\"bad-status\""] {
        assert_eq!(with(&[("outcome", ending)]), Some(Outcome::Indeterminate), "{ending}");
    }
    let unstarted = [("boot_ms", "null"), ("tool_ms", "null")];
    for ending in ["\"no-boot\"", "\"wrapper-failed\"", "\"qemu-exited\""] {
        let changes = [&unstarted[..], &[("outcome", ending)]].concat();
        assert_eq!(with(&changes), None, "{ending}");
    }
    let changes = [&unstarted[..], &[("outcome", "\"bad-status\"")]].concat();
    assert_eq!(with(&changes), Some(Outcome::Indeterminate), "the guest may have run anything");
}

#[test]
fn a_refused_archive_rejects_the_output() {
    let changes = [("outcome", "\"bad-archive\""), ("reason", "\"archive\"")];
    let (outcome, run) = settled(&changes);
    assert_eq!(outcome, Some(Outcome::OutputRejected));
    assert!(!run.collected.complete);
}

#[test]
fn objects_that_the_guest_left_out_are_rejected() {
    let left_out = "[{\"name\": \"link\", \"reason\": \"symlink\"}]";
    let (outcome, run) = settled(&[("left_out", left_out), ("left_out_count", "1")]);
    assert_eq!(outcome, Some(Outcome::OutputRejected));
    assert_eq!(run.collected.rejected.len(), 1);
    assert!(run.collected.complete);
}

#[test]
fn a_report_of_another_machine_is_none() {
    for changes in [[("guest_memory_mb", "193")], [("accelerator", "\"kvm\"")]] {
        let (outcome, run) = settled(&changes);
        assert_eq!(outcome, Some(Outcome::Indeterminate), "{changes:?}");
        assert_eq!(run.lost.as_deref(), Some(UNREPORTED));
    }
}

#[test]
fn the_launchers_facts_come_first() {
    let mut run = finished();
    run.facts.killed = Some(KillReason::Wall);
    run.facts.pids_limit_hit = false;
    run.facts.out_full = false;
    run.facts.file_full = false;
    let _end = settle_report(&machine(), &mut run, Some(report(&[]).as_bytes()));
    assert_eq!(run.outcome(), Outcome::WallLimit);
}

//! Odd objects in the daemon's directories: none stops it, is followed, or decides anything.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use toolexec_tests::{Bench, CliOutput, HeldLock, RequestText, list, ssh_keygen_works};

use super::host::{AuthorityHost, CORE_DRAFTS, of_agent, plain};

const HELD: &str = "permission.requestable";

#[test]
fn odd_answers_stop_no_request() {
    if !ssh_keygen_works("odd_answers_stop_no_request") {
        return;
    }
    let bench = Bench::new();
    let host = AuthorityHost::start(&bench, &[CORE_DRAFTS]);
    let approved = host.service.path("approved");
    CliOutput::of(Command::new("mkfifo").arg(approved.join("fifo.answer.json"))).assert_code(0);
    fs::create_dir(approved.join("directory.answer.json")).unwrap();
    symlink("/etc/hostname", approved.join("link.answer.json")).unwrap();
    fs::write(approved.join("huge.answer.json"), vec![b' '; 2 << 20]).unwrap();
    // The longest possible name, twice: the second one finds the first at its destination.
    let long = format!("long.answer.json{}.sig", "x".repeat(255 - "long.answer.json.sig".len()));
    for _ in 0..2 {
        fs::write(approved.join(&long), "none").unwrap();
        fs::write(approved.join("long.answer.json"), "{}").unwrap();
        host.service.wait_for("the answer to be looked at", |it| {
            !approved.join("long.answer.json").exists() || it.log().contains("ignored until")
        });
    }
    // The daemon still works.
    let request = host.submit(&plain());
    host.service.record_of(&request.id).assert_outcome("ok");
    let put_away = list(&host.service.path("quarantine/permissions"));
    for name in
        ["fifo.answer.json", "directory.answer.json", "link.answer.json", "huge.answer.json"]
    {
        assert!(put_away.iter().any(|it| it == name), "{name}: {put_away:?}");
    }
}

#[test]
fn drafts_that_are_in_the_way_hold_the_request_and_no_link_is_followed() {
    if !ssh_keygen_works("drafts_that_are_in_the_way_hold_the_request_and_no_link_is_followed") {
        return;
    }
    let bench = Bench::new();
    let host = AuthorityHost::start(&bench, &[CORE_DRAFTS]);
    let drafts = host.service.path("drafts");
    fs::create_dir_all(&drafts).unwrap();
    let elsewhere = bench.home().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, drafts.join("permissions")).unwrap();
    let request = host.submit(&of_agent("a", "wf-1"));
    host.assert_held(&request.id, HELD);
    host.service.wait_for("the daemon to tell", |it| it.log().contains("request was not filed"));
    assert_eq!(list(&elsewhere), Vec::<String>::new());
    // A plain file blocks the directory too. Without it the permission is requested.
    fs::remove_file(drafts.join("permissions")).unwrap();
    fs::write(drafts.join("permissions"), "").unwrap();
    let other = host.submit(&plain());
    host.service.record_of(&other.id).assert_outcome("ok");
    fs::remove_file(drafts.join("permissions")).unwrap();
    host.service.wait_for("the question", |_| !host.permission_requests().is_empty());
    host.answer(&host.permission_request(), &["--grant", "toolexec.run.python"]);
    host.service.record_of(&request.id).assert_outcome("ok");
}

/// An agent holds the lock of the directory for ever.
#[test]
fn drafts_that_do_not_answer_hold_one_request_and_delay_no_other() {
    let test = "drafts_that_do_not_answer_hold_one_request_and_delay_no_other";
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let host = AuthorityHost::start(&bench, &[CORE_DRAFTS]);
    let drafts = host.service.path("drafts");
    fs::create_dir_all(&drafts).unwrap();
    fs::write(drafts.join("agent"), "x").unwrap();
    let Some(mut held) = HeldLock::of(test, &drafts.join("agent")) else { return };
    held.rename_to(&drafts.join("agent-2"));
    let request = host.submit(&of_agent("a", "wf-1"));
    let notice = "request was not filed: drafts/ does not answer";
    host.service.wait_for("a notice", |it| it.log().contains(notice));
    host.assert_held(&request.id, HELD);
    let other = host.submit(&plain());
    host.service.record_of(&other.id).assert_outcome("ok");
    drop(held);
    host.service.wait_for("the question", |it| it.log().contains("permission requested"));
    // The file that was written too late is removed again.
    host.service.wait_for("one file", |_| host.permission_requests().len() == 1);
    host.answer(&host.permission_request(), &["--grant", "toolexec.run.python"]);
    host.service.record_of(&request.id).assert_outcome("ok");
}

#[test]
fn a_trail_that_was_put_back_from_a_copy_permits_nothing() {
    if !ssh_keygen_works("a_trail_that_was_put_back_from_a_copy_permits_nothing") {
        return;
    }
    let bench = Bench::new();
    let mut host = AuthorityHost::start(&bench, &[CORE_DRAFTS]);
    let first = host.submit(&of_agent("a", "wf-1"));
    host.assert_held(&first.id, HELD);
    host.answer(&host.permission_request(), &["--grant", "toolexec.run.python"]);
    host.service.record_of(&first.id).assert_outcome("ok");
    let (store, copy) = (host.service.state().join("permissions"), bench.home().join("copy"));
    CliOutput::of(Command::new("cp").arg("-a").arg(&store).arg(&copy)).assert_code(0);
    fs::remove_dir_all(&store).unwrap();
    CliOutput::of(Command::new("cp").arg("-a").arg(&copy).arg(&store)).assert_code(0);
    let second = host.submit(&of_agent("a", "wf-1"));
    assert_eq!(host.service.wait(), Some(3), "{}", host.service.log());
    assert!(host.service.log().contains("restart the daemon"), "{}", host.service.log());
    assert!(host.service.records_of(&second.id).is_empty());
    // After a restart it reads the existing trail.
    host.service.spawn();
    host.service.record_of(&second.id).assert_outcome("ok");
}

#[test]
fn a_trust_file_that_others_may_write_admits_nothing() {
    if !ssh_keygen_works("a_trust_file_that_others_may_write_admits_nothing") {
        return;
    }
    let bench = Bench::new();
    let host = AuthorityHost::start(&bench, &[CORE_DRAFTS]);
    fs::set_permissions(&host.signers, Permissions::from_mode(0o666)).unwrap();
    let request = host.submit(&plain());
    host.service.wait_for("the daemon to tell", |it| it.log().contains("nothing is admitted"));
    assert!(host.service.records_of(&request.id).is_empty());
    // Users without access to `approved/` still see the waiting request.
    host.service.wait_for("what waits to be told", |it| {
        fs::read_to_string(it.path("public/waiting.json"))
            .is_ok_and(|text| text.contains(&request.id))
    });
    fs::set_permissions(&host.signers, Permissions::from_mode(0o644)).unwrap();
    host.service.record_of(&request.id).assert_outcome("ok");
}

#[test]
fn after_a_crash_the_authorities_are_unknown() {
    if !ssh_keygen_works("after_a_crash_the_authorities_are_unknown") {
        return;
    }
    let bench = Bench::new();
    let mut host = AuthorityHost::start(&bench, &[]);
    let request = host.submit(&RequestText::python("import time; time.sleep(60)"));
    host.service.wait_for("the start", |it| it.log().contains("started"));
    host.crash();
    let record = host.service.record_of(&request.id);
    record.assert_outcome("indeterminate");
    for key in ["gate", "permission", "ais"] {
        assert_eq!(record.front_matter_value(key), "unknown");
    }
    host.service.verify().assert_code(0);
}

//! Claiming from an untrusted `approved/`: other users put any object there and change it while the
//! daemon reads it. Each object gets one signed record, or stays in place for a logged reason. The
//! daemon follows no link, waits for no object, and runs the valid request beside it without help.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod changes;
mod objects;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::lchown;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use toolexec_tests::{Bench, CliOutput, Record, RequestText, Service, ServiceConfig, list};

/// The uid of a user without a role.
const OTHER: u32 = 65532;
const TEBIBYTE: u64 = 1 << 40;

fn good() -> RequestText {
    RequestText::python("print('ran')")
}

/// A request without inputs, in one file.
fn request_without_inputs() -> RequestText {
    RequestText::of("python", "python -V")
}

/// Prepares a daemon that rescans every second.
fn service<'a>(bench: &'a Bench, config: &ServiceConfig) -> Service<'a> {
    let mut service = Service::prepare(bench, config);
    let text = fs::read_to_string(service.config()).unwrap();
    fs::write(service.config(), text.replace("scan_interval_sec: 30", "scan_interval_sec: 1"))
        .unwrap();
    service.spawn();
    service
}

fn started(bench: &Bench) -> Service<'_> {
    service(bench, &ServiceConfig::for_owner(bench))
}

/// Returns a path of the same user, outside `approved/` on the same file system.
fn prepared_path(service: &Service<'_>, name: &str) -> PathBuf {
    let place = service.spool().with_file_name("aside");
    fs::create_dir_all(&place).unwrap();
    place.join(name)
}

/// Moves a prepared object into `approved/` as a given owner.
fn submit_as(service: &Service<'_>, uid: u32, made: &Path, name: &OsStr) {
    lchown(made, Some(uid), Some(uid)).unwrap();
    fs::rename(made, service.path("approved").join(name)).unwrap();
}

/// Writes a request file with this text and name into `approved/`.
fn submit_text(service: &Service<'_>, uid: u32, text: &str, name: &OsStr) {
    let made = prepared_path(service, "made");
    fs::write(&made, text).unwrap();
    submit_as(service, uid, &made, name);
}

fn fifo(path: &Path) {
    CliOutput::of(Command::new("mkfifo").arg(path)).assert_code(0);
}

/// Creates a sparse file of one tebibyte.
fn create_sparse(path: &Path) {
    File::create(path).unwrap().set_len(TEBIBYTE).unwrap();
}

/// Asserts that a valid request runs, the daemon lives, records verify, and no claim is left.
#[track_caller]
fn assert_still_works(service: &Service<'_>) {
    let request = service.submit(&good());
    service.record_of(&request.id).assert_outcome("ok");
    service.wait_for("the claims to be finished", |it| list(&it.path("work")).is_empty());
    assert!(service.is_alive(), "{}", service.log());
    service.verify().assert_code(0);
    service.fsck().assert_code(0);
    assert!(!service.log().contains('\u{1b}'), "{}", service.log());
}

/// Returns the one record that names an object. Asserts that it is a refusal.
#[track_caller]
fn refusal_of(service: &Service<'_>, named: &str) -> Record {
    let names = |record: &Record| record.text.contains(named);
    service.wait_for(named, |it| it.records().iter().any(names));
    let mut records = service.records();
    records.retain(names);
    assert_eq!(records.len(), 1, "{named}: {records:#?}");
    records[0].assert_outcome("refused");
    records.remove(0)
}

#[test]
fn names_that_are_not_ours_are_answered_or_left_alone() {
    let bench = Bench::new();
    let service = started(&bench);
    let approved = service.path("approved");
    let long = format!("TR-{}.md", "x".repeat(200));
    let longest = format!("TR-{}.md", "y".repeat(249));
    let twice = "TR-20260101-000000Z-a.md.b.md";
    let odd = [
        ("TR spaces.md", "TR spaces.md"),
        ("TR-line\nREADY forged=1.md", "TR-line"),
        ("TR-bell\u{7}\u{1b}[2Jred.md", "TR-bell"),
        ("TR-turned\u{202e}.md", "TR-turned"),
        ("TR-loud.MD", "TR-loud.MD"),
        ("-rf.md", "-rf.md"),
        ("TR-\u{e9}t\u{e9}.md", "t\u{e9}.md"),
        ("TR-quote\"'`$(id).md", "TR-quote"),
        (long.as_str(), long.as_str()),
        (longest.as_str(), longest.as_str()),
        (twice, twice),
    ];
    let left =
        [&b".TR-20260101-000000Z-dot.md"[..], b"notes.txt", b"TR-\xff\xfe.md", b"TR-\xc3.md"];
    for name in left {
        fs::write(approved.join(OsStr::from_bytes(name)), request_without_inputs().text()).unwrap();
    }
    for (name, _) in odd {
        submit_text(&service, bench.uid(), &request_without_inputs().text(), OsStr::new(name));
    }
    for (_, named) in odd {
        let record = refusal_of(&service, named);
        let control = |c: char| c.is_control() && c != '\n';
        assert!(!record.text.contains(control), "{named}: {:?}", record.text);
        assert!(!record.text.contains('\u{202e}'), "{named}: {:?}", record.text);
        assert!(!record.text.lines().any(|line| line.starts_with("READY")), "{}", record.text);
    }
    assert_still_works(&service);
    let log = service.log();
    assert!(!log.contains('\u{7}') && !log.contains('\u{202e}'), "{log}");
    assert!(!log.lines().any(|line| line.starts_with("READY")), "{log}");
    assert!(log.contains("file names that are not valid UTF-8: 2"), "{log}");
    assert_eq!(list(&approved).len(), left.len(), "{:?}", list(&approved));
    assert_eq!(service.records().len(), odd.len() + 1);
}

#[test]
fn a_signature_is_found_among_many_files() {
    let bench = Bench::new();
    let mut service = Service::prepare(&bench, &ServiceConfig::for_owner(&bench));
    let (request, name) = (request_without_inputs(), |id: &str| format!("approved/{id}.md"));
    for number in 0..2000 {
        fs::write(service.path(&format!("{}.junk-{number}", name(&request.id))), "").unwrap();
    }
    fifo(&service.path(&format!("{}.reject.sig", name(&request.id))));
    let cancelled = request_without_inputs();
    for number in 0..2000 {
        let path = service.path(&format!("{}.{number}.sig", name(&cancelled.id)));
        fs::write(path, "").unwrap();
    }
    fs::write(service.path(&format!("{}.cancel", name(&cancelled.id))), "").unwrap();
    for text in [&request, &cancelled] {
        fs::write(service.path(&name(&text.id)), text.text()).unwrap();
    }
    service.spawn();
    let record = service.record_of(&request.id);
    assert_eq!(record.outcome(), "refused", "{}", record.text);
    record.assert_violation("approval.signature");
    let record = service.record_of(&cancelled.id);
    assert_eq!(record.outcome(), "refused", "{}", record.text);
    assert!(record.text.contains("cancel"), "{}", record.text);
    assert_still_works(&service);
}

#[test]
fn nothing_happens_before_the_request_file_exists() {
    let bench = Bench::new();
    let service = started(&bench);
    let text = good();
    let saved = bench.save(&text);
    let inputs = service.path(&format!("approved/{}.inputs", text.id));
    fs::create_dir(&inputs).unwrap();
    fs::copy(saved.inputs.join("script.py"), inputs.join("script.py")).unwrap();
    let signature = service.path(&format!("approved/{}.md.early.sig", text.id));
    fs::write(&signature, "half of").unwrap();
    let hidden = service.path(&format!("approved/.{}.md", text.id));
    fs::write(&hidden, text.text().split_at(300).0).unwrap();
    std::thread::sleep(Duration::from_secs(3));
    assert!(service.records().is_empty() && list(&service.path("work")).is_empty());
    assert!(inputs.is_dir() && signature.is_file() && hidden.is_file());
    fs::remove_file(&signature).unwrap();
    fs::write(&hidden, text.text()).unwrap();
    fs::rename(&hidden, service.path(&format!("approved/{}.md", text.id))).unwrap();
    service.record_of(&text.id).assert_outcome("ok");
    assert_eq!(list(&service.path("approved")), Vec::<String>::new());
    assert_still_works(&service);
}

#[test]
fn one_id_runs_once_under_however_many_names() {
    let bench = Bench::new();
    let mut service = Service::prepare(&bench, &ServiceConfig::for_owner(&bench));
    let (same, other) = (request_without_inputs(), request_without_inputs());
    let uid = bench.uid();
    let own = |text: &RequestText| format!("{}.md", text.id);
    // The same bytes under two names, and another request with the same id.
    submit_text(&service, uid, &same.text(), OsStr::new("TR-20260101-000000Z-same-bytes.md"));
    submit_text(&service, uid, &same.text(), OsStr::new(&own(&same)));
    let differs = other.text().replace("# A test", "# Another test");
    submit_text(&service, uid, &differs, OsStr::new("TR-20260101-000000Z-same-id.md"));
    submit_text(&service, uid, &other.text(), OsStr::new(&own(&other)));
    service.spawn();
    for text in [&same, &other] {
        service.wait_for("its run", |it| {
            it.records_of(&text.id).iter().any(|record| record.outcome() == "ok")
        });
    }
    assert_still_works(&service);
    let records = service.records();
    assert_eq!(records.len(), 5, "{records:#?}");
    assert_eq!(records.iter().filter(|it| it.outcome() == "ok").count(), 3);
    assert_eq!(records.iter().filter(|it| it.outcome() == "refused").count(), 2);
    assert_eq!(list(&service.path("approved")), Vec::<String>::new());
}

#[test]
fn a_second_daemon_does_not_touch_what_runs() {
    let bench = Bench::new();
    let service = started(&bench);
    let request = service.submit(&RequestText::python("import time; time.sleep(9); print('ran')"));
    service.wait_for("it to run", |it| it.log().contains("started"));
    let before = (list(&service.path("work")), service.staging_slots());
    for _ in 0..3 {
        let second = CliOutput::of(&mut service.command());
        second.assert_code(3);
        second.assert_stderr(&["another daemon or an embedded run uses this spool"]);
    }
    assert_eq!((list(&service.path("work")), service.staging_slots()), before);
    let record = service.record_of(&request.id);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "ran\n");
    assert_still_works(&service);
}

#[test]
fn an_unremovable_order_blocks_only_its_request() {
    let bench = Bench::new();
    let service = started(&bench);
    let (held, cancelled) = (request_without_inputs(), request_without_inputs());
    let beside =
        |text: &RequestText, end: &str| service.path(&format!("approved/{}.md.{end}", text.id));
    for end in ["hold", "release"] {
        fs::create_dir(beside(&held, end)).unwrap();
    }
    // An object that is not a file still cancels.
    fifo(&beside(&cancelled, "cancel"));
    for text in [&held, &cancelled] {
        submit_text(&service, bench.uid(), &text.text(), OsStr::new(&format!("{}.md", text.id)));
    }
    let record = service.record_of(&cancelled.id);
    assert_eq!(record.outcome(), "refused", "{}", record.text);
    assert_still_works(&service);
    assert!(service.log().contains("the request waits until this is fixed"), "{}", service.log());
    assert!(service.records_of(&held.id).is_empty());
    for end in ["hold", "release"] {
        fs::remove_dir(beside(&held, end)).unwrap();
    }
    service.record_of(&held.id).assert_outcome("ok");
}

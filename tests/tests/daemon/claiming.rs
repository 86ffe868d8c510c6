//! Claiming from an untrusted `approved/`: other users put any object there and change it while the
//! daemon reads it. Each object gets one signed record, or stays in place for a logged reason. The
//! daemon follows no link, waits for no object, and runs the valid request beside it without help.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use toolexec_tests::{
    Bench, CliOutput, Record, RequestText, Service, ServiceConfig, as_both, list, skip,
};

as_both! {
    objects_that_are_not_files_are_refused_unread,
    odd_objects_in_place_of_inputs_are_refused,
    an_unreadable_signature_is_reported,
}

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

fn objects_that_are_not_files_are_refused_unread(bench: &Bench) {
    let service = started(bench);
    let approved = service.path("approved");
    let request = bench.save(&request_without_inputs());
    let elsewhere = bench.home().join("elsewhere.md");
    fs::write(&elsewhere, request_without_inputs().text()).unwrap();
    let name = |kind: &str| format!("TR-20260101-000000Z-{kind}.md");
    let at = |kind: &str| approved.join(name(kind));
    symlink(&request.path, at("good")).unwrap();
    symlink("/etc/shadow", at("shadow")).unwrap();
    symlink("/nowhere", at("dangling")).unwrap();
    symlink("/dev/zero", at("endless")).unwrap();
    symlink(".", at("loop")).unwrap();
    UnixListener::bind(at("socket")).unwrap();
    fs::hard_link(&elsewhere, at("hard")).unwrap();
    fifo(&at("fifo"));
    let made = prepared_path(&service, "giant");
    create_sparse(&made);
    submit_as(&service, bench.uid(), &made, OsStr::new(&name("giant")));
    let made = prepared_path(&service, "full");
    fs::create_dir(&made).unwrap();
    fs::write(made.join("inner.md"), request_without_inputs().text()).unwrap();
    submit_as(&service, bench.uid(), &made, OsStr::new(&name("directory")));

    let mut kinds = vec![
        ("good", "symbolic link"),
        ("shadow", "symbolic link"),
        ("dangling", "symbolic link"),
        ("endless", "symbolic link"),
        ("loop", "symbolic link"),
        ("socket", "socket"),
        ("hard", "hard link"),
        ("fifo", "FIFO"),
        ("giant", "262144"),
        ("directory", "directory"),
    ];
    let device = prepared_path(&service, "device");
    let made = Command::new("mknod").arg(&device).args(["c", "1", "5"]).output().unwrap();
    if made.status.success() {
        fs::rename(&device, at("device")).unwrap();
        // A file system mounted `nodev` does not even let it be opened.
        kinds.push(("device", if bench.is_root() { "device" } else { "" }));
    } else {
        skip("objects_that_are_not_files_are_refused_unread::device", "mknod is not permitted");
    }
    for (kind, word) in &kinds {
        let record = refusal_of(&service, &name(kind));
        assert!(record.text.contains(word), "{kind}: {}", record.text);
        assert!(!record.text.contains("root:"), "{}", record.text);
        let place = service.path("quarantine").join(record.id()).join(name(kind));
        service.wait_for("quarantine", |_| fs::symlink_metadata(&place).is_ok());
        assert!(fs::symlink_metadata(at(kind)).is_err());
    }
    assert!(elsewhere.is_file() && request.path.is_file());
    assert_still_works(&service);
    assert_eq!(service.records().len(), kinds.len() + 1);
}

#[test]
fn inaccessible_objects_are_recorded_once() {
    let test = "inaccessible_objects_are_recorded_once";
    let Some(bench) = Bench::as_ordinary_user(test) else { return };
    let mine = bench.scratch().file("mine", "");
    if lchown(&mine, Some(OTHER), Some(OTHER)).is_err() {
        return skip(test, "only root can make another user's files");
    }
    let mut service = started(&bench);
    let closed = prepared_path(&service, "closed");
    fs::write(&closed, request_without_inputs().text()).unwrap();
    fs::set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();
    submit_as(&service, bench.uid(), &closed, OsStr::new("closed.md"));
    let text = request_without_inputs();
    let foreign = format!("{}.md", text.id);
    submit_text(&service, OTHER, &text.text(), OsStr::new(&foreign));
    // Only its owner may move a directory to another parent.
    let kept = prepared_path(&service, "kept");
    fs::create_dir(&kept).unwrap();
    submit_as(&service, OTHER, &kept, OsStr::new("kept.md"));

    let record = refusal_of(&service, "closed.md");
    assert!(record.text.contains("Permission denied"), "{}", record.text);
    refusal_of(&service, &foreign).assert_violation("approval.principal");
    refusal_of(&service, "kept.md").assert_violation("spool.file-kind");
    service.wait_for("the reason", |it| it.log().contains("ignored until it changes"));
    // The claim stays as the only trace of the refusal. A valid request beside it still runs.
    let request = service.submit(&good());
    service.wait_for("a record", |it| !it.records_of(&request.id).is_empty());
    service.records_of(&request.id)[0].assert_outcome("ok");
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
    service.spawn();
    std::thread::sleep(Duration::from_secs(3));
    let _only_record = refusal_of(&service, "kept.md");
    assert_eq!(list(&service.path("approved")), ["kept.md"]);
    assert_eq!(service.records().len(), 4);
    service.verify().assert_code(0);
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

/// A change of a file while the daemon reads it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ConcurrentChange {
    Overwrite,
    Truncate,
    Grow,
    Swap,
}

/// Returns one version of a request, long enough to catch a reader in the middle.
fn version(text: &RequestText, letter: &str) -> String {
    let line = format!("{}\n", letter.repeat(79));
    text.text().replacen("# A test\n", &format!("# A test\n\n{}\n", line.repeat(2500)), 1)
}

/// Changes a submitted object until it is stopped.
fn change_until_stopped(
    mischief: ConcurrentChange,
    path: &Path,
    versions: &[String; 2],
    stop: &AtomicBool,
) {
    let hidden = path.with_file_name(format!(".{}", path.file_name().unwrap().to_str().unwrap()));
    fs::write(&hidden, &versions[0]).unwrap();
    let file = OpenOptions::new().write(true).open(&hidden).unwrap();
    fs::rename(&hidden, path).unwrap();
    for round in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let bytes = versions[(round + 1) % 2].as_bytes();
        match mischief {
            ConcurrentChange::Overwrite => file.write_all_at(bytes, 0).unwrap(),
            ConcurrentChange::Truncate => {
                file.set_len(0).unwrap();
                file.write_all_at(bytes, 0).unwrap();
            }
            ConcurrentChange::Grow => {
                file.set_len(bytes.len() as u64 + 1024 * 1024).unwrap();
                file.set_len(bytes.len() as u64).unwrap();
            }
            ConcurrentChange::Swap => {
                fs::write(&hidden, bytes).unwrap();
                // Only while the old one is still there: each version is one object.
                if fs::symlink_metadata(path).is_err() {
                    fs::remove_file(&hidden).unwrap();
                    return;
                }
                fs::rename(&hidden, path).unwrap();
            }
        }
    }
}

/// Returns the records of a request, including those of an unreadable one.
fn records_naming(service: &Service<'_>, text: &RequestText) -> Vec<Record> {
    let mut records = service.records();
    records.retain(|record| record.text.contains(&format!("{}.md", text.id)));
    records
}

#[test]
fn a_changing_file_never_runs_as_a_mixture() {
    let bench = Bench::as_root("a_changing_file_never_runs_as_a_mixture");
    let Some(bench) = bench else { return };
    let service = started(&bench);
    let (mut ran, mut refused) = (0, 0);
    for round in 0..24 {
        let mischief = [
            ConcurrentChange::Overwrite,
            ConcurrentChange::Truncate,
            ConcurrentChange::Overwrite,
            ConcurrentChange::Grow,
            ConcurrentChange::Overwrite,
            ConcurrentChange::Swap,
        ][round % 6];
        let text = request_without_inputs();
        let versions = ["a", "b"].map(|letter| version(&text, letter));
        let path = service.path(&format!("approved/{}.md", text.id));
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| change_until_stopped(mischief, &path, &versions, &stop));
            let begun = Instant::now();
            while records_naming(&service, &text).is_empty() && begun.elapsed().as_secs() < 20 {
                std::thread::sleep(Duration::from_millis(10));
            }
            stop.store(true, Ordering::Relaxed);
        });
        service.wait_for("it to leave", |it| {
            fs::symlink_metadata(&path).is_err() && list(&it.path("work")).is_empty()
        });
        let records = records_naming(&service, &text);
        let runs: Vec<_> = records.iter().filter(|it| it.outcome() == "ok").collect();
        assert!(runs.len() <= 1, "{mischief:?}: {records:#?}");
        assert!(
            mischief == ConcurrentChange::Swap || records.len() == 1,
            "{mischief:?}: {records:#?}"
        );
        for record in runs {
            let copy = record.path.join("request").join(format!("{}.md", text.id));
            let bytes = fs::read_to_string(&copy).unwrap();
            assert!(versions.contains(&bytes), "{mischief:?}: {} is a mixture", copy.display());
            ran += 1;
        }
        refused += records.iter().filter(|it| it.outcome() == "refused").count();
    }
    assert_still_works(&service);
    assert_eq!(service.records().len(), ran + refused + 1);
    assert!(ran > 0, "nothing ran: {refused} were refused");
}

fn odd_objects_in_place_of_inputs_are_refused(bench: &Bench) {
    let service = started(bench);
    let secret = bench.scratch().file("script.py", "print('secret of the host')");
    type Put<'a> = &'a dyn Fn(&Path);
    // In place of the directory, and in place of its one input.
    let objects: [(&str, Put<'_>); 6] = [
        ("file", &|path| fs::write(path, "print('ran')").unwrap()),
        ("link", &|path| symlink(bench.scratch().path(), path).unwrap()),
        ("dangling", &|path| symlink("/nowhere", path).unwrap()),
        ("fifo", &fifo),
        ("socket", &|path| drop(UnixListener::bind(path).unwrap())),
        ("giant", &create_sparse),
    ];
    let inside: [(&str, Put<'_>); 6] = [
        ("fifo", &fifo),
        ("link", &|path| symlink(&secret, path).unwrap()),
        ("socket", &|path| drop(UnixListener::bind(path).unwrap())),
        ("giant", &create_sparse),
        ("directory", &|path| fs::create_dir(path).unwrap()),
        ("hard", &|path| fs::hard_link(&secret, path).unwrap()),
    ];
    for (kind, put) in objects {
        let text = good();
        put(&service.path(&format!("approved/{}.inputs", text.id)));
        submit_text(&service, bench.uid(), &text.text(), OsStr::new(&format!("{}.md", text.id)));
        let record = service.record_of(&text.id);
        assert_eq!(record.outcome(), "refused", "{kind}: {}", record.text);
        assert!(!record.text.contains("secret of the host"), "{}", record.text);
        let place = service.path("quarantine").join(record.id());
        assert!(list(&place).contains(&format!("{}.inputs", text.id)), "{:?}", list(&place));
    }
    for (kind, put) in inside {
        let text = good();
        let inputs = prepared_path(&service, "made.inputs");
        fs::create_dir(&inputs).unwrap();
        put(&inputs.join("script.py"));
        let name = format!("{}.inputs", text.id);
        submit_as(&service, bench.uid(), &inputs, OsStr::new(&name));
        submit_text(&service, bench.uid(), &text.text(), OsStr::new(&format!("{}.md", text.id)));
        let record = service.record_of(&text.id);
        assert_eq!(record.outcome(), "refused", "{kind}: {}", record.text);
        assert!(!record.text.contains("secret of the host"), "{}", record.text);
    }
    assert_eq!(list(&service.path("approved")), Vec::<String>::new());
    assert_still_works(&service);
}

fn an_unreadable_signature_is_reported(bench: &Bench) {
    let service = started(bench);
    let elsewhere = bench.scratch().file("elsewhere.sig", "no signature");
    type Put<'a> = &'a dyn Fn(&Path);
    let objects: [(&str, Put<'_>); 6] = [
        ("link", &|path| symlink(&elsewhere, path).unwrap()),
        ("dangling", &|path| symlink("/nowhere", path).unwrap()),
        ("fifo", &fifo),
        ("directory", &|path| fs::create_dir(path).unwrap()),
        ("socket", &|path| drop(UnixListener::bind(path).unwrap())),
        ("giant", &create_sparse),
    ];
    for (kind, put) in objects {
        let text = request_without_inputs();
        let name = format!("{}.md", text.id);
        put(&service.path(&format!("approved/{name}.{kind}.sig")));
        submit_text(&service, bench.uid(), &text.text(), OsStr::new(&name));
        let record = service.record_of(&text.id);
        assert_eq!(record.outcome(), "refused", "{kind}: {}", record.text);
        record.assert_violation("approval.signature");
        assert!(record.text.contains(&format!("{name}.{kind}.sig")), "{}", record.text);
    }
    for (_, put) in objects {
        let text = request_without_inputs();
        put(&service.path(&format!("approved/{}.ais.json", text.id)));
        let name = format!("{}.md", text.id);
        submit_text(&service, bench.uid(), &text.text(), OsStr::new(&name));
        // This policy needs no bundle. The point is that the daemon does not wait for it.
        service.record_of(&text.id).assert_outcome("ok");
    }
    assert_still_works(&service);
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

#[test]
fn three_hundred_invalid_objects_delay_no_request() {
    let bench = Bench::as_root("three_hundred_invalid_objects_delay_no_request");
    let Some(bench) = bench else { return };
    let service = started(&bench);
    let made = prepared_path(&service, "made");
    // All of them are there before the daemon looks.
    service.signal("STOP");
    for number in 0..300 {
        match number % 6 {
            0 => symlink("/etc/shadow", &made).unwrap(),
            1 => fifo(&made),
            2 => fs::create_dir(&made).unwrap(),
            3 => drop(UnixListener::bind(&made).unwrap()),
            // In one second these get the same name, because their bytes are the same.
            4 if number < 60 => fs::write(&made, "no request").unwrap(),
            4 => fs::write(&made, format!("no request: {number}")).unwrap(),
            _ => create_sparse(&made),
        }
        submit_as(&service, OTHER, &made, OsStr::new(&format!("rubbish-{number}-.md")));
    }
    let request = service.submit(&good());
    let begun = Instant::now();
    service.signal("CONT");
    let published = format!("published request=\"{}\"", request.id);
    service.wait_for("its record", |it| it.log().contains(&published));
    service.records_of(&request.id)[0].assert_outcome("ok");
    // The order of the log: others may get their records before this test looks again.
    let log = service.log();
    let earlier = log.lines().take_while(|line| !line.contains(&published));
    let refused = earlier.filter(|line| line.trim_start().starts_with("WARN refused")).count();
    assert!(refused < 300, "the rubbish was first");
    while !list(&service.path("approved")).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{}", service.log());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_still_works(&service);
    let records = service.records();
    assert_eq!(records.len(), 302);
    for number in 0..300 {
        let name = format!("rubbish-{number}-.md");
        let of_it = records.iter().filter(|record| record.text.contains(&name)).count();
        assert_eq!(of_it, 1, "{name}");
    }
}

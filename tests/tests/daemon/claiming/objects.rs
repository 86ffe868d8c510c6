//! Objects in `approved/` that are not files, or that the daemon may not read.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use toolexec_tests::{Bench, Record, RequestText, Service, as_both, list, skip};

use super::{
    OTHER, assert_still_works, create_sparse, fifo, good, prepared_path, refusal_of,
    request_without_inputs, started, submit_as, submit_text,
};

/// The bytes of a declared input, and of a file elsewhere on the host.
const SECRET: &str = "print('secret of the host')";

/// Puts an object at a path.
type Put<'a> = &'a dyn Fn(&Path);

as_both! {
    objects_that_are_not_files_are_refused_unread,
    odd_objects_in_place_of_inputs_are_refused,
    a_hard_link_in_place_of_an_input_counts_by_its_bytes,
    an_unreadable_signature_is_reported,
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

/// The bytes are the approved ones, so only the kind of the object can be the reason.
fn odd_objects_in_place_of_inputs_are_refused(bench: &Bench) {
    let service = started(bench);
    let secret = bench.scratch().file("script.py", SECRET);
    let objects: [(&str, Put<'_>); 6] = [
        ("file", &|path| fs::write(path, SECRET).unwrap()),
        ("link", &|path| symlink(bench.scratch().path(), path).unwrap()),
        ("dangling", &|path| symlink("/nowhere", path).unwrap()),
        ("fifo", &fifo),
        ("socket", &|path| drop(UnixListener::bind(path).unwrap())),
        ("giant", &create_sparse),
    ];
    let inside: [(&str, &str, Put<'_>); 5] = [
        ("fifo", "spool.file-kind", &fifo),
        ("link", "inputs.missing", &|path| symlink(&secret, path).unwrap()),
        ("socket", "inputs.missing", &|path| drop(UnixListener::bind(path).unwrap())),
        ("giant", "limits.over-policy", &create_sparse),
        ("directory", "spool.file-kind", &|path| fs::create_dir(path).unwrap()),
    ];
    for (kind, put) in objects {
        let text = RequestText::python(SECRET);
        put(&service.path(&format!("approved/{}.inputs", text.id)));
        submit_text(&service, bench.uid(), &text.text(), OsStr::new(&format!("{}.md", text.id)));
        let record = service.record_of(&text.id);
        assert_refused_unread(&record, kind, "inputs.missing");
        let place = service.path("quarantine").join(record.id());
        assert!(list(&place).contains(&format!("{}.inputs", text.id)), "{:?}", list(&place));
    }
    for (kind, code, put) in inside {
        let text = RequestText::python(SECRET);
        assert_refused_unread(&record_with_input(&service, bench.uid(), &text, put), kind, code);
    }
    assert_eq!(list(&service.path("approved")), Vec::<String>::new());
    assert_still_works(&service);
}

/// The tool reads a copy that was hashed. Another name of the original cannot change it, so only
/// the approved digest decides.
fn a_hard_link_in_place_of_an_input_counts_by_its_bytes(bench: &Bench) {
    let service = started(bench);
    let secret = bench.scratch().file("script.py", SECRET);
    let put = |path: &Path| fs::hard_link(&secret, path).unwrap();
    let record = record_with_input(&service, bench.uid(), &RequestText::python(SECRET), &put);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "secret of the host\n");
    let record = record_with_input(&service, bench.uid(), &good(), &put);
    assert_refused_unread(&record, "other bytes", "inputs.mismatch");
    assert_eq!(fs::read_to_string(&secret).unwrap(), SECRET);
    assert_still_works(&service);
}

/// Submits a request with an object in place of its one input. Returns its record.
fn record_with_input(service: &Service<'_>, uid: u32, text: &RequestText, put: Put<'_>) -> Record {
    let inputs = prepared_path(service, "made.inputs");
    fs::create_dir(&inputs).unwrap();
    put(&inputs.join("script.py"));
    submit_as(service, uid, &inputs, OsStr::new(&format!("{}.inputs", text.id)));
    submit_text(service, uid, &text.text(), OsStr::new(&format!("{}.md", text.id)));
    service.record_of(&text.id)
}

#[track_caller]
fn assert_refused_unread(record: &Record, kind: &str, code: &str) {
    assert_eq!(record.outcome(), "refused", "{kind}: {}", record.text);
    record.assert_violation(code);
    assert!(!record.text.contains("secret of the host"), "{}", record.text);
}

fn an_unreadable_signature_is_reported(bench: &Bench) {
    let service = started(bench);
    let elsewhere = bench.scratch().file("elsewhere.sig", "no signature");
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
        submit_as(&service, OTHER, &made, OsStr::new(&format!("invalid-{number}-.md")));
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
    assert!(refused < 300, "the invalid objects were first");
    while !list(&service.path("approved")).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{}", service.log());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_still_works(&service);
    let records = service.records();
    assert_eq!(records.len(), 302);
    for number in 0..300 {
        let name = format!("invalid-{number}-.md");
        let of_it = records.iter().filter(|record| record.text.contains(&name)).count();
        assert_eq!(of_it, 1, "{name}");
    }
}

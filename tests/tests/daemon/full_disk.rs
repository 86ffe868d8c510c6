//! A full disk, before the daemon starts and while it serves: each store alone, all together, and
//! without inodes; also a used-up quota and too few file descriptors. The daemon stays alive,
//! reports that it admits no requests, and continues when there is enough space again.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use toolexec_tests::{
    Bench, CliOutput, Process, RequestText, SavedRequest, Service, ServiceConfig, SmallDisk, list,
    skip,
};

/// Enough for the reserve, a few runs and their files.
const DISK_KIB: u32 = 32 * 1024;
const DISK_INODES: u32 = 4096;
/// A file that is ignored even in results/.
const FILLER: &str = ".filler";
/// A daemon that ends because of the full disk does so within this time.
const WAIT: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FullResource {
    Bytes,
    Inodes,
}

/// Fills the file system of a directory to its last byte or inode.
fn fill(place: &Path, full: FullResource) {
    let filler = place.join(FILLER);
    match full {
        FullResource::Bytes => {
            let mut file = File::create(&filler).unwrap();
            for piece in [1 << 20, 4096, 1] {
                while file.write_all(&vec![1; piece]).is_ok() {}
            }
        }
        FullResource::Inodes => {
            fs::create_dir(&filler).unwrap();
            let made =
                (0..1_000_000).take_while(|n| File::create(filler.join(n.to_string())).is_ok());
            assert!(made.count() < 1_000_000);
        }
    }
}

fn empty(place: &Path, full: FullResource) {
    let filler = place.join(FILLER);
    match full {
        FullResource::Bytes => fs::remove_file(filler).unwrap(),
        FullResource::Inodes => fs::remove_dir_all(filler).unwrap(),
    }
}

fn submit_request(service: &Service<'_>, aside: &Path) -> SavedRequest {
    let request = RequestText::python("print('ran')").save(aside);
    move_in(service, &request);
    request
}

/// Checks the daemon and the waiting request on a full disk.
fn assert_waits(service: &Service<'_>, process: Process, request: &SavedRequest, what: &str) {
    service.wait_for("admission to stop", |it| it.log().contains("admission-stopped"));
    std::thread::sleep(WAIT);
    assert!(service.is_alive(), "{what}: {}", service.log());
    assert_eq!(service.process().0, process.0);
    assert!(service.records_of(&request.id).is_empty(), "{what}: there was no room for it");
    assert!(!service.log().contains("halted"), "{what}: {}", service.log());
}

/// Fills `store` twice. `store` is a path below the home directory, with a small disk of its own.
fn assert_survives_full_disk(
    test: &str,
    store: &str,
    full: FullResource,
    prepare: impl FnOnce(&Service<'_>),
) {
    let Some(bench) = Bench::as_root(test) else { return };
    let place = bench.home().join(store);
    fs::create_dir_all(&place).unwrap();
    let Some(_disk) = SmallDisk::mount_with_inodes(&place, DISK_KIB, DISK_INODES) else {
        return skip(test, "this host does not let root mount a tmpfs");
    };
    // Requests are prepared on the same file system, so that a rename submits them.
    let aside: PathBuf = bench.home().join("spool/aside");
    let mut service = Service::prepare(&bench, &ServiceConfig::for_owner(&bench));
    fs::create_dir_all(&aside).unwrap();
    prepare(&service);
    service.spawn();
    let first = submit_request(&service, &aside);
    service.record_of(&first.id).assert_outcome("ok");

    let waiting: Vec<SavedRequest> =
        (0..2).map(|_| RequestText::python("print('ran')").save(&aside)).collect();
    let process = service.process();
    fill(&place, full);
    move_in(&service, &waiting[0]);
    assert_waits(&service, process, &waiting[0], store);
    // This holds even if status.json is on the full disk.
    let status = bench.toolexec(["status", "--spool", service.spool().to_str().unwrap()]).stdout;
    assert!(status.contains("admission    stopped: "), "{store}: {status}{}", service.log());
    let listed = bench.toolexec(["list", "--spool", service.spool().to_str().unwrap()]);
    listed.assert_code(0);
    empty(&place, full);
    service.record_of(&waiting[0].id).assert_outcome("ok");
    assert_eq!(service.process().0, process.0, "it was started again");
    assert!(service.log().contains("admission-resumed"), "{}", service.log());

    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
    fill(&place, full);
    move_in(&service, &waiting[1]);
    let command = service.command();
    service.spawn_as(command);
    let process = service.process();
    std::thread::sleep(WAIT);
    assert!(service.is_alive(), "{store}, before the start: {}", service.log());
    assert!(service.records_of(&waiting[1].id).is_empty());
    empty(&place, full);
    service.record_of(&waiting[1].id).assert_outcome("ok");
    assert_eq!(service.process().0, process.0);
    assert_eq!(service.visible_results().len(), 3);
    service.verify().assert_code(0);
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
}

fn move_in(service: &Service<'_>, request: &SavedRequest) {
    for path in [&request.inputs, &request.path] {
        fs::rename(path, service.path("approved").join(path.file_name().unwrap())).unwrap();
    }
}

#[test]
fn a_full_spool_ends_no_daemon() {
    assert_survives_full_disk("a_full_spool_ends_no_daemon", "spool", FullResource::Bytes, |_| {});
}

#[test]
fn a_full_state_ends_no_daemon() {
    assert_survives_full_disk("a_full_state_ends_no_daemon", "daemon", FullResource::Bytes, |_| {});
}

#[test]
fn full_results_end_no_daemon() {
    assert_survives_full_disk(
        "full_results_end_no_daemon",
        "spool/results",
        FullResource::Bytes,
        |_| {},
    );
}

#[test]
fn a_full_log_ends_no_daemon() {
    assert_survives_full_disk("a_full_log_ends_no_daemon", "log", FullResource::Bytes, |service| {
        let log = service.spool().with_file_name("log");
        service.configure(&format!("log: {{directory: {}}}", log.display()));
    });
}

#[test]
fn full_public_files_end_no_daemon() {
    let test = "full_public_files_end_no_daemon";
    let Some(bench) = Bench::as_root(test) else { return };
    let place = bench.home().join("spool/public");
    fs::create_dir_all(&place).unwrap();
    let Some(_disk) = SmallDisk::mount(&place, 1024) else {
        return skip(test, "this host does not let root mount a tmpfs");
    };
    let service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    fill(&place, FullResource::Bytes);
    let request = service.submit(&RequestText::python("print('ran')"));
    service.record_of(&request.id).assert_outcome("ok");
    assert!(service.is_alive());
    empty(&place, FullResource::Bytes);
}

#[test]
fn one_full_disk_for_everything_ends_no_daemon() {
    assert_survives_full_disk(
        "one_full_disk_for_everything_ends_no_daemon",
        "spool",
        FullResource::Bytes,
        |service| {
            let state = service.path(".state");
            fs::create_dir(&state).unwrap();
            fs::set_permissions(&state, Permissions::from_mode(0o700)).unwrap();
            symlink(state, service.state()).unwrap();
        },
    );
}

#[test]
fn a_spool_without_inodes_ends_no_daemon() {
    assert_survives_full_disk(
        "a_spool_without_inodes_ends_no_daemon",
        "spool",
        FullResource::Inodes,
        |_| {},
    );
}

#[test]
fn a_state_without_inodes_ends_no_daemon() {
    assert_survives_full_disk(
        "a_state_without_inodes_ends_no_daemon",
        "daemon",
        FullResource::Inodes,
        |_| {},
    );
}

/// A run without space for its record keeps its outcome, and no request runs twice.
#[test]
fn what_ran_is_recorded_as_what_it_was_when_there_is_room() {
    let test = "what_ran_is_recorded_as_what_it_was_when_there_is_room";
    let Some(bench) = Bench::as_root(test) else { return };
    let place = bench.home().join("spool");
    fs::create_dir_all(&place).unwrap();
    let Some(_disk) = SmallDisk::mount(&place, DISK_KIB) else {
        return skip(test, "this host does not let root mount a tmpfs");
    };
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let request = service.submit(&RequestText::python("import time; time.sleep(6); print('ran')"));
    let runs =
        |it: &Service<'_>| list(&it.path("results")).iter().any(|it| it.starts_with(".new-"));
    service.wait_for("the run", runs);
    std::thread::sleep(Duration::from_millis(500));
    // The reserve is taken too: the space for the record is used up as soon as it is released.
    fs::remove_file(service.path(".reserve")).unwrap();
    fill(&place, FullResource::Bytes);
    std::thread::sleep(Duration::from_secs(9));
    assert!(service.is_alive(), "{}", service.log());
    assert!(service.records_of(&request.id).is_empty());
    empty(&place, FullResource::Bytes);
    let record = service.record_of(&request.id);
    assert!(["ok", "indeterminate"].contains(&record.outcome()), "{}", record.text);
    let next = service.submit(&RequestText::python("print('ran')"));
    service.record_of(&next.id).assert_outcome("ok");
    service.verify().assert_code(0);
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
    assert_eq!(list(&service.path("work")), Vec::<String>::new());
}

/// A running daemon loses a resource, reports `reported`, and continues when the resource is back.
fn assert_survives_loss<L>(
    test: &str,
    reported: &[&str],
    lose: impl FnOnce(&Service<'_>) -> Option<L>,
    give_back: impl FnOnce(L),
) {
    let Some(bench) = Bench::as_root(test) else { return };
    let mut service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let first = service.submit(&RequestText::python("print('ran')"));
    service.record_of(&first.id).assert_outcome("ok");
    let Some(lost) = lose(&service) else { return };
    let request = service.submit(&RequestText::python("print('ran')"));
    service.wait_for("the reason", |it| {
        let status = fs::read_to_string(it.path("public/status.json")).unwrap_or_default();
        reported.iter().all(|part| status.contains(part))
    });
    assert!(service.records_of(&request.id).is_empty(), "{}", service.log());
    assert!(service.log().contains("admission-stopped"), "{}", service.log());
    give_back(lost);
    service.record_of(&request.id).assert_outcome("ok");
    assert!(service.log().contains("admission-resumed"), "{}", service.log());
    service.signal("TERM");
    assert_eq!(service.wait(), Some(0));
}

/// Returns true if every thread is being traced.
fn is_traced(process: Process) -> bool {
    let threads = fs::read_dir(format!("/proc/{}/task", process.0)).unwrap().flatten();
    let mut status = threads.filter_map(|it| fs::read_to_string(it.path().join("status")).ok());
    status.all(|it| !it.contains("TracerPid:\t0\n"))
}

#[test]
fn a_quota_that_is_used_up_is_waited_for() {
    let test = "a_quota_that_is_used_up_is_waited_for";
    let reported = ["admission_stopped", "Disk quota exceeded", "raise the quota"];
    let lose = |service: &Service<'_>| {
        let (pid, reserve) = (service.process().0.to_string(), service.path(".reserve"));
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "-o", "/dev/null", "-p", &pid, "-P"]).arg(reserve);
        strace.args(["-e", "trace=openat", "-e", "inject=openat:error=EDQUOT"]);
        let Ok(mut strace) = strace.stdin(Stdio::null()).stderr(Stdio::null()).spawn() else {
            skip(test, "strace is not installed; tests/prepare installs it");
            return None;
        };
        while !is_traced(service.process()) {
            if strace.try_wait().unwrap().is_some() {
                skip(test, "strace cannot attach to a process here");
                return None;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(strace)
    };
    let give_back = |mut strace: Child| {
        // `strace` detaches from the daemon before it ends.
        CliOutput::of(Command::new("kill").arg(strace.id().to_string())).assert_code(0);
        strace.wait().unwrap();
    };
    assert_survives_loss(test, &reported, lose, give_back);
}

#[test]
fn too_few_file_descriptors_are_reported_as_that_and_waited_for() {
    let test = "too_few_file_descriptors_are_reported_as_that_and_waited_for";
    let reported =
        ["admission_stopped", "Too many open files", "free file descriptors", "LimitNOFILE="];
    // Only the soft limit: without CAP_SYS_RESOURCE, a lowered hard limit cannot be raised again.
    let prlimit = |pid: u32, nofile: &str| {
        let output = CliOutput::of(Command::new("prlimit").args([
            &format!("--pid={pid}"),
            nofile,
            "--output=SOFT",
            "--noheadings",
        ]));
        output.assert_code(0);
        output.stdout.trim().to_owned()
    };
    let lose = |service: &Service<'_>| {
        let pid = service.process().0;
        let before = prlimit(pid, "--nofile");
        // Enough to scan and report, too few for a request.
        let open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
        prlimit(pid, &format!("--nofile={}:", open + 16));
        Some((pid, before))
    };
    assert_survives_loss(test, &reported, lose, |(pid, before)| {
        prlimit(pid, &format!("--nofile={before}:"));
    });
}

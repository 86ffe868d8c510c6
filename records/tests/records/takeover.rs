//! Key rotation while the host runs, with the new key next to the old one or in its place. An
//! unusable key is refused before any write, and a crash at any step does not prevent completion.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use records::log::{KeyRole, Log, LogLocation, fsck};
use records::{
    ActiveKeys, HostKeyError, HostKeys, KeySource, RotationError, Takeover, TakeoverError,
    finish_rotations, takeovers,
};

use crate::agent::{StockAgent, source};
use crate::fixture::skip::skip;
use crate::fixture::{RecordScratch, at};
use crate::rotation::{FIRST, KeyHost, SECOND, killed_at, open_log, open_with, unlocked};

/// Set in the child process that the test kills.
const CHILD: &str = "TOOLEXEC_TEST_ROTATE";

fn at_work(keys: HostKeys) -> ActiveKeys {
    ActiveKeys { result: Arc::new(keys.result), log: Arc::new(keys.log) }
}

fn waiting(host: &KeyHost, keys: &ActiveKeys) -> Result<Vec<Takeover>, RotationError> {
    takeovers(&host.source(), keys, at(SECOND))
}

/// Copies another host's key of this role to this name.
fn put(host: &KeyHost, role: KeyRole, name: &str) {
    let other = KeyHost::new();
    fs::copy(other.dir().join(role.as_str()), host.dir().join(name)).unwrap();
}

fn put_file(path: &Path, bytes: &[u8]) {
    File::create(path).unwrap().write_all(bytes).unwrap();
}

fn names(host: &KeyHost) -> Vec<String> {
    let files = fs::read_dir(host.dir()).unwrap();
    let mut names: Vec<_> =
        files.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Opens the log as a running host does.
fn log_at_work(host: &KeyHost, keys: &ActiveKeys) -> Log {
    open_with(host, &keys.log)
}

#[test]
fn a_new_key_is_taken_over_from_beside_the_old_one_or_from_its_place() {
    for &role in KeyRole::ALL {
        for name in [format!("{role}.new"), role.to_string()] {
            let host = KeyHost::new();
            let before = names(&host);
            let keys = at_work(host.open().unwrap());
            let mut log = log_at_work(&host, &keys);
            assert!(waiting(&host, &keys).unwrap().is_empty());
            put(&host, role, &name);
            let found = waiting(&host, &keys).unwrap();
            assert_eq!(found.iter().map(Takeover::role).collect::<Vec<_>>(), [role], "{name}");
            let done = found[0].carry_out(&mut log, at(FIRST)).unwrap();
            drop(log);
            let now = at_work(host.open().unwrap());
            let prints = |keys: &ActiveKeys| match role {
                KeyRole::Result => keys.result.public().fingerprint(),
                KeyRole::Log => keys.log.public().fingerprint(),
            };
            assert_eq!((done.old, done.new), (prints(&keys), prints(&now)), "{name}");
            assert_eq!(host.changes().len(), 1, "{name}");
            let known = host.known();
            assert_eq!(known.results().len() + known.logs().len(), 3, "{name}");
            let after: Vec<_> = names(&host).into_iter().filter(|it| it != "retired").collect();
            assert_eq!(after, before, "{name}");
            open_log(&host).append(b"after").unwrap();
            assert!(fsck(&host.log(), known.logs()[0].key()).unwrap().faults.is_empty());
            assert!(waiting(&host, &now).unwrap().is_empty());
        }
    }
}

#[test]
fn a_key_that_cannot_be_used_is_refused_before_anything_is_written() {
    let host = KeyHost::new();
    host.rotate(KeyRole::Result, FIRST).unwrap();
    let keys = at_work(host.open().unwrap());
    let new = host.dir().join("result.new");
    let refused = |output: &str| {
        let before = names(&host);
        let error = waiting(&host, &keys).unwrap_err().to_string();
        assert!(error.contains(output), "{error}");
        assert_eq!(names(&host), before);
        assert_eq!(host.open().unwrap().result.public(), keys.result.public());
    };
    put_file(&new, b"no key\n");
    fs::set_permissions(&new, Permissions::from_mode(0o600)).unwrap();
    refused("result.new: not an OpenSSH private key");
    put(&host, KeyRole::Log, "result.new");
    refused("result.new: not an ECDSA P-256 key");
    put(&host, KeyRole::Result, "result.new");
    fs::set_permissions(&new, Permissions::from_mode(0o644)).unwrap();
    refused("private key has mode 0644");
    // Two different new keys, and no key at all.
    let own = fs::read(host.dir().join("result")).unwrap();
    fs::set_permissions(&new, Permissions::from_mode(0o600)).unwrap();
    put(&host, KeyRole::Result, "result");
    let error = waiting(&host, &keys).unwrap_err();
    assert!(matches!(error, RotationError::TwoNewKeys(_)), "{error}");
    fs::remove_file(&new).unwrap();
    fs::remove_file(host.dir().join("result")).unwrap();
    let error = waiting(&host, &keys).unwrap_err();
    assert!(matches!(error, RotationError::Key(HostKeyError::Io { .. })), "{error}");
    put_file(&host.dir().join("result"), &own);
    fs::set_permissions(host.dir().join("result"), Permissions::from_mode(0o600)).unwrap();
    // The clock is behind the last rotation.
    put(&host, KeyRole::Result, "result.new");
    let early = takeovers(&host.source(), &keys, at("2026-11-30T00:00:00Z")).unwrap_err();
    assert!(matches!(early, RotationError::Clock(_)), "{early}");
    assert_eq!(waiting(&host, &keys).unwrap().len(), 1);
}

#[test]
fn a_key_that_was_retired_is_not_taken_over() {
    let host = KeyHost::new();
    let first = fs::read(host.dir().join("result")).unwrap();
    host.rotate(KeyRole::Result, FIRST).unwrap();
    let keys = at_work(host.open().unwrap());
    let place = host.dir().join("result");
    put_file(&place, &first);
    let error = waiting(&host, &keys).unwrap_err();
    assert!(matches!(error, RotationError::RetiredKey(_)), "{error}");
}

#[test]
fn what_could_not_be_finished_is_finished_later() {
    let host = KeyHost::new();
    let keys = at_work(host.open().unwrap());
    let mut log = log_at_work(&host, &keys);
    put(&host, KeyRole::Result, "result");
    let found = waiting(&host, &keys).unwrap();
    // A public file that cannot be replaced.
    let signers = host.dir().join("allowed_signers");
    fs::remove_file(&signers).unwrap();
    fs::create_dir_all(signers.join("in the way")).unwrap();
    let error = found[0].carry_out(&mut log, at(FIRST)).unwrap_err();
    assert!(matches!(error, TakeoverError::Unfinished(_)), "{error:?}");
    drop(log);
    assert!(matches!(host.open(), Err(HostKeyError::Unfinished { .. })));
    fs::remove_dir_all(&signers).unwrap();
    let finish = || finish_rotations(&host.source(), &LogLocation::from(&host.log()), at(SECOND));
    let done = unlocked(finish).unwrap();
    assert_eq!(done.len(), 1);
    assert_eq!(done[0].time, at(FIRST));
    assert_ne!(host.open().unwrap().result.public(), keys.result.public());
    assert_eq!(host.changes().len(), 1);
    assert!(unlocked(finish).unwrap().is_empty());
}

#[test]
fn a_key_of_an_agent_is_taken_over_when_the_configuration_names_another() {
    let test = "a_key_of_an_agent_is_taken_over";
    let host = KeyHost { scratch: RecordScratch::new() };
    let Some(agent) = StockAgent::start(test, host.scratch.path()) else { return };
    let results = [agent.add("ecdsa"), agent.add("ecdsa")];
    let log = agent.add("ed25519");
    let of = |result: &str| source(&agent.socket, result, &log, &host.dir());
    let origin = "toolexec.host1.example".parse().unwrap();
    let keys = at_work(HostKeys::open_or_create(&of(&results[0]), &origin).unwrap());
    let mut opened = open_with(&host, &keys.log);
    assert!(takeovers(&of(&results[0]), &keys, at(FIRST)).unwrap().is_empty());
    let found = takeovers(&of(&results[1]), &keys, at(FIRST)).unwrap();
    let done = found[0].carry_out(&mut opened, at(FIRST)).unwrap();
    assert_eq!([&done.old, &done.new], [&results[0], &results[1]]);
    drop(opened);
    let keys = HostKeys::open_or_create(&of(&results[1]), &origin).unwrap();
    assert_eq!(keys.result.public().fingerprint(), results[1]);
    assert_eq!(host.changes().len(), 1);
    // A file cannot replace an agent's key.
    let error = takeovers(&host.source(), &at_work(keys), at(SECOND)).unwrap_err();
    assert!(matches!(error, RotationError::Source(_)), "{error}");
}

/// Not a test: runs under `strace`. New keys appear while the old ones are active.
#[test]
fn child_takes_both_keys_over() {
    let Some(directory) = std::env::var_os(CHILD) else { return };
    let directory = Path::new(&directory);
    let source = KeySource::Directory(directory.join("keys"));
    let origin = "toolexec.host1.example".parse().unwrap();
    let keys = at_work(HostKeys::open(&source, &origin).unwrap());
    let mut log = Log::open_or_create(&directory.join("log"), keys.log.clone()).unwrap();
    for file in fs::read_dir(directory.join("come")).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), directory.join("keys").join(file.file_name())).unwrap();
    }
    let found = takeovers(&source, &keys, at(FIRST)).unwrap();
    found.iter().for_each(|one| one.save().unwrap());
    for one in found {
        one.carry_out(&mut log, at(FIRST)).unwrap();
    }
}

/// Kills a takeover at every system call that names a file, makes it durable, or deletes it.
/// Returns the number of kills, or `None` if the child cannot be traced.
fn killed_everywhere(names: [&str; 2], judge: impl Fn(&KeyHost, &HostKeys, &str)) -> Option<u32> {
    let mut killed = 0;
    for syscall in ["fsync", "fdatasync", "renameat", "renameat2", "linkat", "unlinkat"] {
        for when in 1.. {
            let (host, other) = (KeyHost::new(), KeyHost::new());
            drop(open_log(&host));
            let first = host.open().unwrap();
            fs::create_dir(host.scratch.path().join("come")).unwrap();
            for (&role, name) in KeyRole::ALL.iter().zip(names) {
                let come = host.scratch.path().join("come").join(name);
                fs::copy(other.dir().join(role.to_string()), come).unwrap();
            }
            let child = "takeover::child_takes_both_keys_over";
            if killed_at(host.scratch.path(), child, syscall, when)? {
                break;
            }
            killed += 1;
            judge(&host, &first, &format!("{syscall} {when}"));
        }
    }
    Some(killed)
}

#[test]
fn a_takeover_that_is_killed_anywhere_is_finished_at_the_next_start() {
    let Some(killed) = killed_everywhere(["result.new", "log.new"], judge) else {
        return skip(
            "a_takeover_that_is_killed_anywhere_is_finished_at_the_next_start",
            "strace cannot run here",
        );
    };
    assert!(killed > 30, "only {killed} deaths: the child is not where it should be");
}

#[test]
fn a_takeover_from_the_place_of_the_key_is_finished_once_the_key_is_saved() {
    let unsaved = std::cell::Cell::new(0);
    let judged = |host: &KeyHost, first: &HostKeys, death: &str| {
        finish(host, death);
        if let Err(error) = host.open() {
            // The process died with the only copy, as if the key was replaced while no daemon ran.
            assert!(matches!(error, HostKeyError::OtherKey { .. }), "{death}: {error}");
            unsaved.set(unsaved.get() + 1);
        } else {
            judge(host, first, death);
        }
    };
    let Some(killed) = killed_everywhere(["result", "log"], judged) else {
        return skip(
            "a_takeover_from_the_place_of_the_key_is_finished_once_the_key_is_saved",
            "strace cannot run here",
        );
    };
    let unsaved = unsaved.get();
    assert!(killed > 30 && unsaved * 3 < killed, "{unsaved} of {killed} deaths lost the key");
}

fn finish(host: &KeyHost, death: &str) {
    unlocked(|| finish_rotations(&host.source(), &LogLocation::from(&host.log()), at(SECOND)))
        .unwrap_or_else(|error| panic!("{death}: {error}"));
}

/// Checks the next start, and a reload after it.
fn judge(host: &KeyHost, first: &HostKeys, death: &str) {
    finish(host, death);
    let keys = at_work(host.open().unwrap_or_else(|error| panic!("{death}: {error}")));
    let known = host.known();
    assert_eq!(&keys.result.public(), known.results()[0].key(), "{death}");
    assert_eq!(keys.log.public(), known.logs()[0].key(), "{death}");
    let retired = known.results().len() + known.logs().len() - 2;
    assert_eq!(host.changes().len(), retired, "{death}: each change is logged once");
    let mut log = open_with(host, &keys.log);
    for one in waiting(host, &keys).unwrap() {
        one.carry_out(&mut log, at(SECOND)).unwrap();
    }
    drop(log);
    let known = host.known();
    assert_eq!((known.results().len(), known.logs().len()), (2, 2), "{death}");
    assert_eq!(known.results()[1].key(), &first.result.public(), "{death}");
    assert_eq!(known.logs()[1].key(), first.log.public(), "{death}");
    open_log(host).append(b"after").unwrap();
    assert!(fsck(&host.log(), known.logs()[0].key()).unwrap().faults.is_empty(), "{death}");
}

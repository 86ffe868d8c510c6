//! Key rotations: the keys that verifiers get, the acceptance by stock tools, and the completion of
//! a rotation that was killed at any step, with one active key at a time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use model::UtcTime;
use records::log::{
    Checkpoint, KEY_CHANGE_NAMESPACE, KeyChange, KeyChangeError, KeyRole, Log, LogError, LogKey,
    LogView, fsck,
};
use records::{
    CompletedRotation, HostKeyError, HostKeys, KeySource, PublicKeys, RESULT_NAMESPACE, ResultKey,
    RotationError, Successor, rotate, sign,
};
use serde_json::Value;

use crate::agent::{StockAgent, source};
use crate::fixture::skip::skip;
use crate::fixture::{RecordCase, RecordScratch, at, put, replace, stock};

pub(crate) const FIRST: &str = "2026-12-01T00:00:00Z";
pub(crate) const SECOND: &str = "2026-12-02T00:00:00Z";
/// Set in the child process that the test kills.
const CHILD: &str = "TOOLEXEC_TEST_ROTATE";

/// A directory of keys and its log.
pub(crate) struct KeyHost {
    pub(crate) scratch: RecordScratch,
}

impl KeyHost {
    pub(crate) fn new() -> Self {
        let host = Self { scratch: RecordScratch::in_memory() };
        host.open().unwrap();
        host
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.scratch.path().join("keys")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.scratch.path().join("log")
    }

    pub(crate) fn source(&self) -> KeySource {
        KeySource::Directory(self.dir())
    }

    pub(crate) fn open(&self) -> Result<HostKeys, HostKeyError> {
        HostKeys::open_or_create(&self.source(), &"toolexec.host1.example".parse().unwrap())
    }

    pub(crate) fn rotate(
        &self,
        role: KeyRole,
        time: &str,
    ) -> Result<CompletedRotation, RotationError> {
        unlocked(|| rotate(&self.source(), role, Successor::Generated, &self.log(), at(time)))
    }

    pub(crate) fn known(&self) -> PublicKeys {
        PublicKeys::open(&self.dir()).unwrap()
    }

    /// Returns the rotations in the log, each signed by both keys.
    pub(crate) fn changes(&self) -> Vec<KeyChange> {
        let view = LogView::open(&self.log(), self.known().logs()[0].key()).unwrap();
        let entries = (0..view.head().size()).map(|index| view.entry(index).unwrap().0);
        entries.filter_map(|entry| KeyChange::verify(&entry).ok()).collect()
    }
}

fn times<K>(keys: &[records::DatedKey<K>]) -> Vec<[Option<UtcTime>; 2]> {
    keys.iter().map(|key| [key.valid_after(), key.valid_before()]).collect()
}

#[test]
fn a_retired_result_key_counts_for_its_time() {
    let host = KeyHost::new();
    let first = host.open().unwrap().result;
    let signed = sign(&RecordCase::plain().statement(), &first).unwrap();
    let done = host.rotate(KeyRole::Result, FIRST).unwrap();
    assert_eq!((done.role, done.time), (KeyRole::Result, at(FIRST)));
    let second = host.open().unwrap().result;
    assert_eq!([done.old, done.new], [&first, &second].map(|key| key.public().fingerprint()));
    host.rotate(KeyRole::Result, SECOND).unwrap();
    let third = host.open().unwrap().result;
    let known = host.known();
    let keys: Vec<_> = known.results().iter().map(|dated| dated.key().clone()).collect();
    assert_eq!(keys, [&third, &second, &first].map(ResultKey::public));
    let (one, two) = (Some(at(FIRST)), Some(at(SECOND)));
    assert_eq!(times(known.results()), [[two, None], [one, two], [None, one]]);
    assert_eq!(times(known.logs()), [[None, None]]);
    let file = |name: &str| fs::read_to_string(host.dir().join(name)).unwrap();
    assert_eq!(file("allowed_signers"), known.allowed_signers());
    assert_eq!(file("result.pub"), format!("{}\n", third.public().openssh_line()));
    assert!(!file("retired").contains("PRIVATE"));

    // The log has the same rotations.
    let changes = host.changes();
    assert_eq!(changes.iter().map(KeyChange::time).collect::<Vec<_>>(), [at(FIRST), at(SECOND)]);
    assert_eq!(changes[0].new_spki(), changes[1].old_spki());
    assert!(fsck(&host.log(), known.logs()[0].key()).unwrap().faults.is_empty());

    // Stock ssh-keygen: the old key's record counts within its validity, and not after.
    let signature = host.scratch.path().join("sig");
    put(&signature, &signed.files()[1].1);
    let signers = host.dir().join("allowed_signers");
    let verify = |time: &str| {
        let (signers, time) = (signers.to_str().unwrap(), format!("-Overify-time={time}"));
        let sig = signature.to_str().unwrap();
        let args = ["-Y", "verify", "-f", signers, "-I", "tool-exec", "-n", RESULT_NAMESPACE];
        let args = [&args[..], &["-s", sig, &time]].concat();
        stock("a_retired_result_key_counts_for_its_time", "ssh-keygen", &args, &signed.files()[0].1)
    };
    let Some((accepted, output)) = verify("20261121121100Z") else { return };
    assert!(accepted, "{output}");
    assert!(!verify("20261203000000Z").unwrap().0);
}

#[test]
fn while_the_logs_key_changes_both_sign() {
    let host = KeyHost::new();
    let old = host.known().logs()[0].key().clone();
    let before = {
        let mut log = open_log(&host);
        log.append(b"before").unwrap();
        log.head().clone()
    };
    host.rotate(KeyRole::Log, FIRST).unwrap();
    let known = host.known();
    let new = known.logs()[0].key().clone();
    assert_ne!(new, old);
    assert_eq!(known.logs()[1].key(), &old);
    assert_eq!(times(known.logs()), [[Some(at(FIRST)), None], [None, Some(at(FIRST))]]);
    let lines = format!("{}\n{}\n", new.verifier_line(), old.verifier_line());
    assert_eq!(fs::read_to_string(host.dir().join("log.pub")).unwrap(), lines);
    let note = || fs::read_to_string(host.log().join("checkpoint")).unwrap();
    let changed = note();
    assert_eq!(changed.matches('\u{2014}').count(), 2, "{changed}");
    // A reader with either key continues from the checkpoint that it saved.
    let by_old = LogView::open(&host.log(), &old).unwrap();
    let by_new = LogView::open(&host.log(), &new).unwrap();
    let proof = by_old.consistency(1, 2).unwrap();
    assert!(before.grew_into(by_old.head(), &proof) && before.grew_into(by_new.head(), &proof));
    another_reader_accepts(&changed, &[&old.verifier_line(), &new.verifier_line()]);
    // Then the new key signs alone.
    let mut log = open_log(&host);
    log.append(b"after").unwrap();
    assert!(Checkpoint::verify(&note(), &new).is_ok());
    assert!(Checkpoint::verify(&note(), &old).is_err());
    let root: Value = serde_json::from_str(&known.trusted_root()).unwrap();
    let windows: Vec<_> =
        (0..2).map(|at| root["tlogs"][at]["publicKey"]["validFor"].clone()).collect();
    assert_eq!(windows[0], serde_json::json!({"start": FIRST}));
    assert_eq!(windows[1], serde_json::json!({"start": "1970-01-01T00:00:00Z", "end": FIRST}));
}

fn another_reader_accepts(note: &str, lines: &[&str]) {
    use signed_note::{Note, StandardVerifier, VerifierList};
    for line in lines {
        let verifiers = VerifierList::new(vec![Box::new(StandardVerifier::new(line).unwrap())]);
        let (verified, _) = Note::from_bytes(note.as_bytes()).unwrap().verify(&verifiers).unwrap();
        assert_eq!(verified.len(), 1, "{line}");
    }
}

#[test]
fn the_entry_is_canonical_and_counts_whole_or_not_at_all() {
    let host = KeyHost::new();
    for role in [KeyRole::Result, KeyRole::Log] {
        host.rotate(role, FIRST).unwrap();
        let changes = host.changes();
        let entry = changes.last().unwrap().entry();
        let value: Value = serde_json::from_slice(entry).unwrap();
        assert_eq!(serde_json_canonicalizer::to_vec(&value).unwrap(), entry);
        assert_eq!(value["kind"], "toolexec-key-change");
        assert_eq!(value["spec"]["key"], role.as_str());
        for at in 0..entry.len() {
            let mut changed = entry.to_vec();
            changed[at] ^= 1;
            assert!(KeyChange::verify(&changed).is_err(), "byte {at}");
        }
        let spaced = entry.iter().copied().chain(*b"\n").collect::<Vec<_>>();
        assert_eq!(KeyChange::verify(&spaced).unwrap_err(), KeyChangeError::Form);
        // Each signature is of one key only.
        let with = |of: &str, from: &str| {
            let mut value = value.clone();
            value["spec"]["signatures"][of] = value["spec"]["signatures"][from].clone();
            KeyChange::verify(&serde_json_canonicalizer::to_vec(&value).unwrap()).unwrap_err()
        };
        assert_eq!(with("old", "new"), KeyChangeError::Old);
        assert_eq!(with("new", "old"), KeyChangeError::New);
        stock_tools_accept(&host, &value);
    }
}

/// Verifies the armoured signature of the old key over the entry without the signatures.
fn stock_tools_accept(host: &KeyHost, entry: &Value) {
    let test = "the_entry_is_canonical_and_counts_whole_or_not_at_all";
    let mut signed = entry.clone();
    signed["spec"].as_object_mut().unwrap().remove("signatures");
    let signed = serde_json_canonicalizer::to_vec(&signed).unwrap();
    let signature = entry["spec"]["signatures"]["old"].as_str().unwrap();
    let begin = "-----BEGIN SSH SIGNATURE-----";
    let armoured = format!("{begin}\n{signature}\n-----END SSH SIGNATURE-----\n");
    let role = entry["spec"]["key"].as_str().unwrap();
    let (file, signers) = (host.dir().join(format!("{role}.sig")), host.dir().join("signers"));
    put(&file, armoured.as_bytes());
    fs::remove_file(&signers).ok();
    let retired = fs::read_to_string(host.dir().join("retired")).unwrap();
    put(&signers, retired.replace(RESULT_NAMESPACE, KEY_CHANGE_NAMESPACE).as_bytes());
    let principal = if role == "log" { "toolexec.host1.example" } else { "tool-exec" };
    let (file, signers) = (file.to_str().unwrap(), signers.to_str().unwrap());
    let args = ["-Y", "verify", "-f", signers, "-I", principal, "-n", KEY_CHANGE_NAMESPACE];
    let args = [&args[..], &["-s", file, "-Overify-time=20261121000000Z"]].concat();
    let Some((accepted, output)) = stock(test, "ssh-keygen", &args, &signed) else { return };
    assert!(accepted, "{output}");
}

#[test]
fn a_change_that_cannot_be_is_refused_before_it_begins() {
    let host = KeyHost::new();
    let names = || {
        let files = fs::read_dir(host.dir()).unwrap();
        let mut names: Vec<_> = files.map(|it| it.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    // The log is open elsewhere.
    let open = open_log(&host);
    let error = host.rotate(KeyRole::Result, FIRST).unwrap_err();
    assert!(error.to_string().contains("another process appends"), "{error}");
    assert_eq!(names(), before);
    drop(open);
    host.rotate(KeyRole::Result, SECOND).unwrap();
    let error = host.rotate(KeyRole::Result, FIRST).unwrap_err();
    assert!(matches!(error, RotationError::Clock(_)), "{error}");
    host.open().unwrap();
    let credentials = KeySource::Credentials { directory: host.dir(), public: host.dir() };
    let error =
        rotate(&credentials, KeyRole::Result, Successor::Generated, &host.log(), at(SECOND))
            .unwrap_err();
    assert!(error.to_string().contains("credentials"), "{error}");
    // A line that this program never writes.
    let retired = host.dir().join("retired");
    let text = fs::read_to_string(&retired).unwrap();
    for damaged in [text.replacen("valid-before", "valid-beyond", 1), format!("{text}tool-exec\n")]
    {
        replace(&retired, damaged.as_bytes());
        assert!(matches!(host.open(), Err(HostKeyError::Retired { .. })), "{damaged}");
        assert!(PublicKeys::open(&host.dir()).is_err());
    }
}

#[test]
fn an_interrupted_change_keeps_both_keys_from_signing() {
    let host = KeyHost::new();
    put(&host.dir().join("result.change"), b"{}");
    let error = host.open().unwrap_err();
    assert!(error.to_string().contains("finish it with `toolexec keys rotate"), "{error}");
    let error = host.rotate(KeyRole::Log, FIRST).unwrap_err();
    assert!(matches!(error, RotationError::OtherUnfinished(KeyRole::Result)), "{error}");
    let error = host.rotate(KeyRole::Result, FIRST).unwrap_err();
    assert!(matches!(error, RotationError::Change(..)), "{error}");
}

#[test]
fn keys_of_an_agent_change_for_others_of_it() {
    let test = "keys_of_an_agent_change_for_others_of_it";
    let host = KeyHost { scratch: RecordScratch::new() };
    let Some(agent) = StockAgent::start(test, host.scratch.path()) else { return };
    let origin = "toolexec.host1.example".parse().unwrap();
    let (results, logs) =
        ([agent.add("ecdsa"), agent.add("ecdsa")], [agent.add("ed25519"), agent.add("ed25519")]);
    let at_agent = |result: usize, log: usize| {
        source(&agent.socket, &results[result], &logs[log], &host.dir())
    };
    HostKeys::open_or_create(&at_agent(0, 0), &origin).unwrap();
    let change = |from: &KeySource, role, to: &str, time: &str| {
        unlocked(|| {
            let successor = Successor::InAgent(to.parse().unwrap());
            rotate(from, role, successor, &host.log(), at(time))
        })
    };
    change(&at_agent(0, 0), KeyRole::Result, &results[1], FIRST).unwrap();
    change(&at_agent(1, 0), KeyRole::Log, &logs[1], FIRST).unwrap();
    // A configuration with the old keys is refused; neither key returns.
    assert!(matches!(
        HostKeys::open_or_create(&at_agent(0, 1), &origin),
        Err(HostKeyError::OtherKey { .. })
    ));
    let error = change(&at_agent(0, 1), KeyRole::Result, &results[1], SECOND).unwrap_err();
    assert!(matches!(error, RotationError::OtherKey(_)), "{error}");
    let error = change(&at_agent(1, 1), KeyRole::Result, &results[0], SECOND).unwrap_err();
    assert!(matches!(error, RotationError::RetiredKey(_)), "{error}");
    let keys = HostKeys::open_or_create(&at_agent(1, 1), &origin).unwrap();
    Log::open_or_create(&host.log(), keys.log).unwrap().append(b"after").unwrap();
    assert_eq!(host.changes().len(), 2);
    assert_eq!(host.known().results().len(), 2);
    assert_eq!(host.known().logs().len(), 2);
}

/// Not a separate test: the code that runs under `strace`.
#[test]
fn child_changes_both_keys() {
    let Some(directory) = std::env::var_os(CHILD) else { return };
    let directory = Path::new(&directory);
    let source = KeySource::Directory(directory.join("keys"));
    for role in [KeyRole::Result, KeyRole::Log] {
        rotate(&source, role, Successor::Generated, &directory.join("log"), at(FIRST)).unwrap();
    }
}

#[test]
fn a_change_that_is_killed_anywhere_is_finished_by_the_next() {
    let mut killed = 0;
    // The system calls that name a file, make it durable, or delete it.
    for syscall in ["fsync", "fdatasync", "renameat", "linkat", "unlinkat"] {
        for when in 1.. {
            let host = KeyHost::new();
            let first = host.open().unwrap();
            let keys = (first.result.public(), first.log.public().clone());
            drop(Log::open_or_create(&host.log(), first.log).unwrap());
            let child = "rotation::child_changes_both_keys";
            match killed_at(host.scratch.path(), child, syscall, when) {
                None => {
                    return skip(
                        "a_change_that_is_killed_anywhere_is_finished_by_the_next",
                        "strace cannot run here",
                    );
                }
                Some(true) => break,
                Some(false) => killed += 1,
            }
            judge(&host, &keys, &format!("{syscall} {when}"));
        }
    }
    assert!(killed > 40, "only {killed} deaths: the child is not where it should be");
}

type HostPublicKeys = (records::PublicResultKey, records::log::PublicLogKey);

fn judge(host: &KeyHost, first: &HostPublicKeys, death: &str) {
    // Either both keys are settled, or neither can be opened.
    if let Ok(keys) = host.open() {
        let known = host.known();
        assert_eq!(&keys.result.public(), known.results()[0].key(), "{death}");
        assert_eq!(keys.log.public(), known.logs()[0].key(), "{death}");
        let retired = known.results().len() + known.logs().len() - 2;
        let message = "a key signs on after the log said that it went";
        assert_eq!(host.changes().len(), retired, "{death}: {message}");
        drop(open_log(host));
    }
    let known = host.known();
    assert!(known.results().iter().any(|key| *key.key() == first.0), "{death}");
    assert!(known.logs().iter().any(|key| *key.key() == first.1), "{death}");
    // Repeat the rotations in their order.
    for role in [KeyRole::Result, KeyRole::Log] {
        let known = host.known();
        let done = match role {
            KeyRole::Result => known.results().len() > 1,
            KeyRole::Log => known.logs().len() > 1,
        };
        let pending = host.dir().join(format!("{role}.change")).exists();
        if pending || !done {
            host.rotate(role, FIRST).unwrap_or_else(|error| panic!("{death}: {error}"));
        }
    }
    let known = host.known();
    assert_eq!((known.results().len(), known.logs().len()), (2, 2), "{death}");
    assert_eq!((known.results()[1].key(), known.logs()[1].key()), (&first.0, &first.1), "{death}");
    let roles: Vec<_> = host.changes().iter().map(KeyChange::role).collect();
    assert_eq!(roles, [KeyRole::Result, KeyRole::Log], "{death}: each is logged once");
    open_log(host).append(b"after").unwrap();
    assert!(fsck(&host.log(), known.logs()[0].key()).unwrap().faults.is_empty(), "{death}");
}

/// Retries while the log is locked for a moment; see [`open_with`].
pub(crate) fn unlocked<T>(act: impl Fn() -> Result<T, RotationError>) -> Result<T, RotationError> {
    for _ in 0..500 {
        match act() {
            Err(RotationError::Log(LogError::Locked { .. })) => {
                std::thread::sleep(Duration::from_millis(20));
            }
            done => return done,
        }
    }
    act()
}

pub(crate) fn open_log(host: &KeyHost) -> Log {
    open_with(host, &Arc::new(host.open().unwrap().log))
}

/// As `opened` in `log.rs`: another test's child may hold the lock between fork and exec.
pub(crate) fn open_with(host: &KeyHost, key: &Arc<LogKey>) -> Log {
    for _ in 0..500 {
        match Log::open_or_create(&host.log(), Arc::clone(key)) {
            Err(LogError::Locked { .. }) => std::thread::sleep(Duration::from_millis(20)),
            opened => return opened.unwrap(),
        }
    }
    panic!("{}: locked for ten seconds", host.log().display());
}

/// Runs the child and kills it at this call. Returns whether the child ended before.
pub(crate) fn killed_at(directory: &Path, child: &str, syscall: &str, when: u32) -> Option<bool> {
    let output = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={syscall}")])
        .args(["-e", &format!("inject={syscall}:signal=KILL:when={when}")])
        .arg(std::env::current_exe().unwrap())
        .args([child, "--exact", "--test-threads=1"])
        .env(CHILD, directory)
        .env_remove("RUST_BACKTRACE")
        .output()
        .ok()?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        assert!(stdout.contains("1 passed"), "{stdout}");
        return Some(true);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    if stderr.contains("PTRACE") || stderr.contains("attach") {
        return None;
    }
    assert!(!stdout.contains("panicked"), "{stdout}");
    Some(false)
}

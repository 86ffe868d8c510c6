//! The records of earlier versions in `tests/golden/`. The verifier accepts each, and rejects each
//! copy with one changed byte. It must never write to the records themselves.

use std::fs;
use std::path::{Path, PathBuf};

use records::log::PublicLogKey;
use records::{Trust, summary, verify};

use crate::fixture::{RecordScratch, put, replace};

/// The number of bytes that are changed in each file, one at a time, from the first to the last.
const PLACES: usize = 12;

fn versions() -> Vec<PathBuf> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden");
    let entries = fs::read_dir(golden).unwrap().map(|entry| entry.unwrap().path());
    let versions: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    assert!(!versions.is_empty(), "tests/golden/ has no version");
    versions
}

fn trust(version: &Path) -> Trust {
    let signers = fs::read_to_string(version.join("keys/signers")).unwrap();
    let log = fs::read_to_string(version.join("keys/log.vkey")).unwrap();
    let log = PublicLogKey::from_verifier_line(log.trim()).unwrap();
    Trust::from_allowed_signers(&signers).unwrap().with_logs(vec![log])
}

fn results(version: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(version.join("state/results")).unwrap();
    let mut results: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    results.sort();
    results
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

fn copy(from: &Path, to: &Path) {
    let mut all = Vec::new();
    files(from, &mut all);
    for path in all {
        put(&to.join(path.strip_prefix(from).unwrap()), &fs::read(&path).unwrap());
    }
}

#[test]
fn golden_records_verify() {
    for version in versions() {
        let trust = trust(&version);
        for path in results(&version) {
            let verified = verify(&path, &trust);
            let verified =
                verified.unwrap_or_else(|faults| panic!("{}: {faults:?}", path.display()));
            let claimed = summary(&path).unwrap();
            assert_eq!(verified.result_id().as_str(), claimed.result_id);
            assert_eq!(verified.outcome(), claimed.outcome);
            assert_eq!(verified.exit_code(), i64::from(claimed.exit_code));
            assert!(verified.log().is_some(), "{}", claimed.result_id);
        }
    }
}

/// Returns the changed bytes of a file with which the copy still verifies.
fn unseen(copy: &Path, file: &Path, trust: &Trust) -> Vec<String> {
    let good = fs::read(file).unwrap();
    let last = good.len().saturating_sub(1);
    let mut places: Vec<usize> = (0..PLACES).map(|part| last * part / (PLACES - 1)).collect();
    places.dedup();
    let mut unseen = Vec::new();
    for at in places {
        let mut changed = good.clone();
        match changed.get_mut(at) {
            Some(byte) => *byte ^= 1,
            None => changed.push(b'x'),
        }
        replace(file, &changed);
        if verify(copy, trust).is_ok() {
            unseen.push(format!("{}, byte {at}", file.display()));
        }
    }
    replace(file, &good);
    unseen
}

#[test]
fn a_changed_byte_of_a_golden_record_is_seen() {
    let scratch = RecordScratch::in_memory();
    let mut missed = Vec::new();
    for version in versions() {
        let trust = trust(&version);
        for path in results(&version) {
            let place = scratch.path().join(path.file_name().unwrap());
            copy(&path, &place);
            let mut all = Vec::new();
            files(&place, &mut all);
            for file in all {
                missed.extend(unseen(&place, &file, &trust));
            }
            assert!(verify(&place, &trust).is_ok(), "{}", place.display());
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

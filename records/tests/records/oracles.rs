//! Sigstore's own verifiers on valid and on changed bundles, with inclusion in the log required.
//! `tests/prepare` installs them; without its oracle a test is skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::attestation::LoggedRecord;
use crate::fixture::skip::skip;
use crate::fixture::{RecordCase, put};

/// The files for a verifier.
struct OracleInput {
    logged: LoggedRecord,
    bundle: PathBuf,
    key: PathBuf,
    other_key: PathBuf,
    root: PathBuf,
    artifact: PathBuf,
    other_artifact: PathBuf,
}

impl OracleInput {
    fn new() -> Self {
        let logged = LoggedRecord::new(RecordCase::plain());
        let at = |name: &str| logged.scratch.path().join("given").join(name);
        let given = Self {
            bundle: at("bundle.json"),
            key: at("key.pem"),
            other_key: at("other.pem"),
            root: at("trusted_root.json"),
            artifact: at("result.md"),
            other_artifact: at("other.md"),
            logged,
        };
        let logged = &given.logged;
        let valid_from = "2026-11-21T00:00:00Z".parse().unwrap();
        put(&given.bundle, &logged.bundle);
        put(&given.key, logged.key.pem().as_bytes());
        put(&given.other_key, logged.scratch.key("other").public().pem().as_bytes());
        put(&given.root, logged.log.key().trusted_root(valid_from).as_bytes());
        let md = &logged.attested.record().files()[0].1;
        put(&given.artifact, md);
        put(&given.other_artifact, &[md.as_slice(), b"\n"].concat());
        given
    }

    /// Returns a bundle with one bit flipped in the string at this place.
    fn changed(&self, place: &str) -> PathBuf {
        let mut bundle: Value = serde_json::from_slice(&self.logged.bundle).unwrap();
        let mut text = bundle.pointer(place).unwrap().as_str().unwrap().to_owned().into_bytes();
        // In a checkpoint this is the root. Some readers ignore the name next to its signature.
        let at = text.len() / 6;
        // A to a, 0 to 1 and so on: still a base64 digit.
        text[at] ^= if text[at].is_ascii_alphabetic() { 0x20 } else { 1 };
        *bundle.pointer_mut(place).unwrap() = String::from_utf8(text).unwrap().into();
        self.write(&place.replace('/', "-"), &bundle)
    }

    /// Returns a bundle with an additional field.
    fn with_more(&self, place: &str) -> PathBuf {
        let mut bundle: Value = serde_json::from_slice(&self.logged.bundle).unwrap();
        bundle.pointer_mut(place).unwrap()["more"] = "1".into();
        self.write("more", &bundle)
    }

    fn write(&self, name: &str, bundle: &Value) -> PathBuf {
        let path = self.logged.scratch.path().join("changed").join(format!("{name}.json"));
        put(&path, &serde_json::to_vec(bundle).unwrap());
        path
    }
}

const PAYLOAD: &str = "/dsseEnvelope/payload";
const SIGNATURE: &str = "/dsseEnvelope/signatures/0/sig";
const ENTRY: &str = "/verificationMaterial/tlogEntries/0/canonicalizedBody";
const HASH: &str = "/verificationMaterial/tlogEntries/0/inclusionProof/hashes/1";
const CHECKPOINT: &str = "/verificationMaterial/tlogEntries/0/inclusionProof/checkpoint/envelope";

/// Without the bundle's own `rootHash`, which only our verifier compares with the checkpoint's.
const PLACES: [&str; 5] = [PAYLOAD, SIGNATURE, ENTRY, HASH, CHECKPOINT];

/// Returns whether the program accepts, and its output.
pub(crate) fn judge(program: &Path, arguments: &[&Path]) -> (bool, String) {
    let output = Command::new(program).args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

pub(crate) fn oracle(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/oracles").join(file)
}

/// Returns the path that `tests/run` found, or reports a skip.
pub(crate) fn installed(test: &str, variable: &str) -> Option<PathBuf> {
    let found = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.exists());
    if found.is_none() {
        skip(test, &format!("{variable} names no oracle; tests/prepare installs it"));
    }
    found
}

#[test]
fn sigstore_for_node_accepts_the_bundle_and_no_other() {
    let test = "sigstore_for_node_accepts_the_bundle_and_no_other";
    if installed(test, "TOOLEXEC_NODE_MODULES").is_none() {
        return;
    }
    let given = OracleInput::new();
    let verify = |bundle: &Path, key: &Path| {
        judge(Path::new("node"), &[&oracle("sigstore.js"), bundle, key, &given.root])
    };
    let (accepted, output) = verify(&given.bundle, &given.key);
    assert!(accepted, "{output}");
    for place in PLACES {
        let (accepted, output) = verify(&given.changed(place), &given.key);
        assert!(!accepted && output.contains("Error"), "{place}: {output}");
    }
    assert!(!verify(&given.bundle, &given.other_key).0);
}

#[test]
fn sigstore_for_rust_accepts_the_bundle_and_no_other() {
    let test = "sigstore_for_rust_accepts_the_bundle_and_no_other";
    let Some(program) = installed(test, "TOOLEXEC_SIGSTORE_VERIFY") else { return };
    let given = OracleInput::new();
    let verify = |bundle: &Path, key: &Path, artifact: &Path| {
        judge(&program, &[bundle, key, &given.root, artifact])
    };
    let (accepted, output) = verify(&given.bundle, &given.key, &given.artifact);
    assert!(accepted, "{output}");
    for place in PLACES {
        let (accepted, output) = verify(&given.changed(place), &given.key, &given.artifact);
        assert!(!accepted, "{place}: {output}");
    }
    assert!(!verify(&given.bundle, &given.other_key, &given.artifact).0);
    assert!(!verify(&given.bundle, &given.key, &given.other_artifact).0);
    drop(fs::remove_file(&given.artifact));
    assert!(!verify(&given.bundle, &given.key, &given.artifact).0);
}

#[test]
fn libraries_of_python_accept_the_envelope_and_no_other() {
    let test = "libraries_of_python_accept_the_envelope_and_no_other";
    let Some(python) = installed(test, "TOOLEXEC_PYTHON") else { return };
    if !judge(&python, &[Path::new("-c"), Path::new("import securesystemslib, rfc8785")]).0 {
        skip(test, "securesystemslib and rfc8785 are not installed; tests/prepare installs them");
        return;
    }
    let given = OracleInput::new();
    let verify = |bundle: &Path, key: &Path| judge(&python, &[&oracle("bundle.py"), bundle, key]);
    let (accepted, output) = verify(&given.bundle, &given.key);
    assert!(accepted, "{output}");
    for place in [PAYLOAD, SIGNATURE] {
        let (accepted, output) = verify(&given.changed(place), &given.key);
        assert!(!accepted && output.contains("Error"), "{place}: {output}");
    }
    assert!(!verify(&given.bundle, &given.other_key).0);
    // This library ignores an additional field; our verifier rejects it.
    assert!(verify(&given.with_more("/dsseEnvelope"), &given.key).0);
}

/// Checks the oracle for our log entries with the six files of RFC 8785.
#[test]
fn the_judge_of_canonical_json_knows_the_vectors() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jcs");
    let mut count = 0;
    for file in fs::read_dir(directory).unwrap() {
        let path = file.unwrap().path();
        let Some(name) = path.to_str().and_then(|it| it.strip_suffix(".input.json")) else {
            continue;
        };
        let value: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let expected = fs::read(format!("{name}.output.json")).unwrap();
        assert_eq!(serde_json_canonicalizer::to_vec(&value).unwrap(), expected, "{name}");
        count += 1;
    }
    assert_eq!(count, 6);
}

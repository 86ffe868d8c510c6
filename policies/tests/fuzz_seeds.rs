//! The seeds of the fuzzers of signatures and signed actions. Each must stay valid, because almost
//! valid input reaches deeper than random bytes. Past findings of these fuzzers are tests here.

use std::fs;
use std::path::Path;

use policies::{SignedAction, SignedActionKind, SshSignature};

use crate::soft::armour;

/// The bytes that the seeds sign.
const MESSAGE: &[u8] = b"exactly these bytes\n";

/// Returns the name and the content of each seed of a target.
fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let entries = fs::read_dir(corpus).expect("a corpus");
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.expect("a seed");
        let name = entry.file_name().into_string().expect("a name");
        (name, fs::read(entry.path()).expect("its bytes"))
    };
    entries.map(read).collect()
}

#[test]
fn seeds_of_signed_actions_are_read_and_have_each_kind() {
    let mut kinds = Vec::new();
    for (name, bytes) in seeds("action") {
        let action = SignedAction::parse(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(action.text().as_bytes(), bytes, "{name}");
        kinds.push(action.terms().kind());
    }
    for kind in SignedActionKind::ALL {
        assert!(kinds.contains(kind), "no seed for {kind}");
    }
}

#[test]
fn seeds_of_signatures_verify_unless_they_are_without_a_touch() {
    let mut passkeys = 0;
    for (name, bytes) in seeds("webauthn") {
        let armoured = match bytes.first() {
            Some(b'-') => bytes,
            Some(b'S') => armour(&bytes),
            // The flags and the end of a statement, which the target signs.
            _ => continue,
        };
        let signature = SshSignature::parse(&armoured);
        let signature = signature.unwrap_or_else(|error| panic!("{name}: {error}"));
        let verified = signature.verify_with_passkeys(MESSAGE);
        assert_eq!(verified.is_ok(), !name.ends_with("no-touch"), "{name}: {verified:?}");
        passkeys += usize::from(verified.is_ok_and(|it| it.webauthn().is_some()));
    }
    assert!(passkeys >= 3, "{passkeys} passkeys");
}

//! The key file: made once, kept private, and refused if anything about it is wrong.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use records::HostKeyError;
use records::log::{PublicLogKey, WitnessKey, WitnessSigner};

use super::origin;
use crate::fixture::{RecordScratch, put};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn the_witness_key_is_made_once_and_private() {
    let scratch = RecordScratch::new();
    let file = scratch.path().join("state/witness.key");
    let host = origin("host-b");
    let open = || WitnessSigner::open_or_create(&file, &host).unwrap().verifier_line();
    let lines: Vec<String> = std::thread::scope(|scope| {
        let makers: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
        makers.into_iter().map(|maker| maker.join().unwrap()).collect()
    });
    assert!(lines.iter().all(|line| *line == lines[0]), "{lines:?}");
    assert_eq!(open(), lines[0]);
    assert_eq!((mode(&scratch.path().join("state")), mode(&file)), (0o700, 0o600));
    assert_eq!(WitnessKey::from_verifier_line(&lines[0]).unwrap().name(), "host-b-witness");
    // A log's key has another type, so neither can pass for the other.
    assert_eq!(PublicLogKey::from_verifier_line(&lines[0]), None);
    let names: Vec<_> = fs::read_dir(scratch.path().join("state")).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    let debug = format!("{:?}", WitnessSigner::open_or_create(&file, &host).unwrap());
    assert_eq!(debug, format!("WitnessSigner({})", lines[0]));
}

#[test]
fn a_wrong_witness_key_file_is_refused_and_kept() {
    let scratch = RecordScratch::new();
    let directory = scratch.path().join("state");
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(&directory, Permissions::from_mode(0o700)).unwrap();
    let file = directory.join("witness.key");
    let open = || WitnessSigner::open_or_create(&file, &origin("host-b")).unwrap_err();
    put(&file, b"text\n");
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    assert!(matches!(open(), HostKeyError::Format { .. }), "{}", open());
    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(open(), HostKeyError::Exposed { mode: 0o640, .. }), "{}", open());
    assert_eq!(fs::read(&file).unwrap(), b"text\n");
    fs::remove_file(&file).unwrap();
    drop(scratch.key("keys"));
    fs::copy(scratch.path().join("keys/result"), &file).unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    assert!(matches!(open(), HostKeyError::NotEd25519 { .. }), "{}", open());
}

//! The key files: made once, kept private, and refused if anything about them is wrong.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use records::{HostKeyError, PublicResultKey, ResultKey};

use crate::fixture::{RecordScratch, put, replace, stock};

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn keys_are_made_once_and_private() {
    let scratch = RecordScratch::new();
    let dir = scratch.path().join("a/keys");
    let first = ResultKey::open_or_create(&dir).unwrap();
    let second = ResultKey::open_or_create(&dir).unwrap();
    let third = ResultKey::open(&dir).unwrap();
    assert_eq!(first.public(), second.public());
    assert_eq!(first.public(), third.public());
    assert_eq!((mode(&dir), mode(&dir.join("result"))), (0o700, 0o600));
    let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
    let public = first.public();
    assert_eq!(read("result.pub"), format!("{}\n", public.openssh_line()));
    assert_eq!(read("allowed_signers"), format!("{}\n", public.allowed_signers_line()));
    let signer = "tool-exec namespaces=\"result.tool-exec@threegate\" ecdsa-sha2-nistp256 AAAA";
    assert!(public.allowed_signers_line().starts_with(signer));
    assert!(public.fingerprint().starts_with("SHA256:"));
    assert!(!format!("{first:?}").contains("PRIVATE"));
    let mut names: Vec<_> = fs::read_dir(&dir).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["allowed_signers", "result", "result.pub"]);
}

#[test]
fn makers_at_the_same_time_get_the_same_key() {
    let scratch = RecordScratch::new();
    let dir = scratch.path().join("keys");
    let make = || ResultKey::open_or_create(&dir).unwrap().public();
    let keys: Vec<_> = std::thread::scope(|scope| {
        let makers: Vec<_> = (0..8).map(|_| scope.spawn(make)).collect();
        makers.into_iter().map(|maker| maker.join().unwrap()).collect()
    });
    assert!(keys.iter().all(|key| *key == keys[0]));
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    for exposed in [0o644, 0o640, 0o604, 0o660] {
        let scratch = RecordScratch::new();
        drop(scratch.key("keys"));
        let dir = scratch.path().join("keys");
        fs::set_permissions(dir.join("result"), Permissions::from_mode(exposed)).unwrap();
        let error = ResultKey::open_or_create(&dir).unwrap_err();
        assert!(matches!(error, HostKeyError::Exposed { mode, .. } if mode == exposed), "{error}");
        assert!(ResultKey::open(&dir).is_err());
    }
    let scratch = RecordScratch::new();
    drop(scratch.key("keys"));
    let dir = scratch.path().join("keys");
    fs::set_permissions(dir.join("result"), Permissions::from_mode(0o400)).unwrap();
    assert!(ResultKey::open(&dir).is_ok());
}

#[test]
fn what_is_no_file_is_refused() {
    let scratch = RecordScratch::new();
    let key = scratch.path().join("keys/result");
    drop(scratch.key("keys"));
    rustix::fs::rename(&key, scratch.path().join("moved")).unwrap();
    symlink(scratch.path().join("moved"), &key).unwrap();
    let dir = scratch.path().join("keys");
    let error = ResultKey::open_or_create(&dir).unwrap_err();
    assert!(matches!(error, HostKeyError::NotAFile { .. }), "{error}");
    fs::remove_file(&key).unwrap();
    fs::create_dir(&key).unwrap();
    let error = ResultKey::open(&dir).unwrap_err();
    assert!(matches!(error, HostKeyError::NotAFile { .. }), "{error}");
}

#[test]
fn another_kind_of_key_is_refused() {
    let scratch = RecordScratch::new();
    let dir = scratch.path().join("keys");
    fs::create_dir(&dir).unwrap();
    let file = dir.join("result");
    let made = |args: &[&str]| {
        fs::remove_file(&file).ok();
        fs::remove_file(dir.join("result.pub")).ok();
        let args = [args, &["-q", "-f", file.to_str().unwrap()]].concat();
        stock("another_kind_of_key_is_refused", "ssh-keygen", &args, b"")
    };
    for args in [
        &["-t", "ed25519", "-N", ""][..],
        &["-t", "ecdsa", "-b", "384", "-N", ""],
        &["-t", "ecdsa", "-b", "256", "-N", "a passphrase"],
    ] {
        let Some((fine, output)) = made(args) else { return };
        assert!(fine, "{output}");
        let error = ResultKey::open(&dir).unwrap_err();
        let kind = matches!(error, HostKeyError::NotP256 { .. } | HostKeyError::Format { .. });
        assert!(kind, "{error}");
    }
    // A key that the user made is as good as a generated one.
    made(&["-t", "ecdsa", "-b", "256", "-N", ""]);
    assert!(ResultKey::open_or_create(&dir).is_ok());
}

#[test]
fn a_lost_or_foreign_half_is_reported() {
    let scratch = RecordScratch::new();
    drop(scratch.key("keys"));
    let dir = scratch.path().join("keys");
    replace(&dir.join("allowed_signers"), b"tool-exec ssh-ed25519 AAAA\n");
    let error = ResultKey::open_or_create(&dir).unwrap_err();
    assert!(matches!(error, HostKeyError::OtherKey { .. }), "{error}");
    fs::remove_file(dir.join("result")).unwrap();
    let error = ResultKey::open_or_create(&dir).unwrap_err();
    assert!(matches!(error, HostKeyError::PrivateKeyMissing { .. }), "{error}");
    assert!(!dir.join("result").exists());
    let error = ResultKey::open(&dir).unwrap_err();
    assert!(error.to_string().contains("keys/result: cannot open"), "{error}");
    put(&scratch.path().join("other/result"), b"not a key");
    let file = scratch.path().join("other/result");
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let error = ResultKey::open(&scratch.path().join("other")).unwrap_err();
    assert!(matches!(error, HostKeyError::Format { .. }), "{error}");
}

#[test]
fn keys_that_others_can_change_are_not_used() {
    let scratch = RecordScratch::in_memory();
    let dir = scratch.path().join("keys");
    ResultKey::open_or_create(&dir).unwrap();
    let set = |path: &std::path::Path, mode| {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    for (name, mode, fine) in [("", 0o770, 0o755), ("", 0o702, 0o700), ("result.pub", 0o664, 0o644)]
    {
        let path = if name.is_empty() { dir.clone() } else { dir.join(name) };
        set(&path, mode);
        for error in [ResultKey::open_or_create(&dir).err(), PublicResultKey::open(&dir).err()] {
            let named =
                matches!(&error, Some(HostKeyError::Writable { mode: it, .. }) if *it == mode);
            assert!(named, "{name}: {error:?}");
        }
        set(&path, fine);
        ResultKey::open_or_create(&dir).unwrap();
        PublicResultKey::open(&dir).unwrap();
    }
}

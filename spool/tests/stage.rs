//! Staging: the sandbox gets the hashed bytes, regardless of later changes to the original file,
//! and bytes that were staged before are shared and not written again.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail"
)]

use crate::scene;

use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use model::Sha256;
use scene::{SpoolScene, sha256_of, staged_file};
use spool::{Spool, Staged};

const MIB: usize = 1024 * 1024;

/// Returns bytes without a repetition near a buffer's length.
fn bytes(len: usize, seed: u8) -> Vec<u8> {
    (0..len).map(|at| seed ^ u8::try_from((at * 2_654_435_761) >> 16 & 0xff).unwrap()).collect()
}

fn links(path: &Path) -> (u64, u64) {
    let found = fs::metadata(path).unwrap();
    (found.ino(), found.nlink())
}

fn finish(spool: &Spool, staged: Staged) {
    spool.abandon(staged.into_parts().1);
}

#[test]
fn every_length_arrives_whole_for_the_first_time_and_again() {
    let scene = SpoolScene::new();
    let spool = scene.spool();
    let buffer = 256 * 1024;
    for len in [0, 1, buffer - 1, buffer, buffer + 1, 4 * buffer, 5 * buffer + 7, 3 * MIB] {
        let content = bytes(len, 1);
        fs::write(scene.input(), &content).unwrap();
        let sha256 = Sha256::of(&content);
        for round in ["first", "again"] {
            let staged = scene.stage(&spool, &sha256).unwrap();
            let file = staged_file(&spool, &staged);
            assert_eq!(fs::read(&file).unwrap(), content, "{len} bytes, {round}");
            assert_eq!(staged.input_bytes(), u64::try_from(len).unwrap());
            let found = fs::metadata(&file).unwrap();
            assert_eq!(found.mode() & 0o7777, 0o444, "{len} bytes, {round}");
            finish(&spool, staged);
        }
    }
}

#[test]
fn an_input_seen_before_is_the_stored_copy_and_not_the_file() {
    let scene = SpoolScene::new();
    let content = bytes(MIB + 5, 2);
    fs::write(scene.input(), &content).unwrap();
    let sha256 = Sha256::of(&content);
    let spool = scene.spool();
    let first = scene.stage(&spool, &sha256).unwrap();
    let (stored, shared) = links(&scene.stored(&sha256));
    assert_eq!(shared, 2, "the store and one slot");
    assert_eq!(links(&staged_file(&spool, &first)).0, stored);
    assert_ne!(links(&scene.input()).0, stored);
    // Two concurrent sandboxes share no file: a lock on it would be visible to both.
    let second = scene.stage(&spool, &sha256).unwrap();
    assert_ne!(links(&staged_file(&spool, &second)).0, stored);
    assert_eq!(fs::read(staged_file(&spool, &second)).unwrap(), content);
    finish(&spool, first);
    finish(&spool, second);
    // Another process, later.
    drop(spool);
    let spool = scene.spool();
    let third = scene.stage(&spool, &sha256).unwrap();
    assert_eq!(links(&staged_file(&spool, &third)), (stored, 2));
    finish(&spool, third);
}

#[test]
fn a_stored_copy_does_not_stand_in_for_an_input_that_changed_or_went() {
    let scene = SpoolScene::new();
    let spool = scene.spool();
    let content = bytes(MIB, 3);
    fs::write(scene.input(), &content).unwrap();
    let sha256 = Sha256::of(&content);
    finish(&spool, scene.stage(&spool, &sha256).unwrap());
    let mut other = content.clone();
    other[MIB - 1] ^= 1;
    for wrong in [&other[..], &content[..MIB - 1], &[&content[..], b"x"].concat(), b""] {
        fs::write(scene.input(), wrong).unwrap();
        assert_eq!(scene.stage(&spool, &sha256).err().unwrap(), ["inputs.mismatch"]);
    }
    fs::remove_file(scene.input()).unwrap();
    assert_eq!(scene.stage(&spool, &sha256).err().unwrap(), ["inputs.missing"]);
    assert_eq!(sha256_of(&scene.stored(&sha256)), sha256, "and it is not to blame");
}

#[test]
fn a_damaged_stored_copy_is_noticed_and_replaced() {
    let scene = SpoolScene::new();
    let content = bytes(MIB, 4);
    fs::write(scene.input(), &content).unwrap();
    let sha256 = Sha256::of(&content);
    let spool = scene.spool();
    let stored = scene.stored(&sha256);
    let mut flipped = content.clone();
    flipped[700_000] ^= 4;
    let torn: [(&str, &[u8]); 4] = [
        ("one bit", &flipped),
        ("cut off", &content[..MIB - 4096]),
        ("longer", &[&content[..], b"x"].concat()),
        ("empty", b""),
    ];
    for (how, damage) in torn {
        finish(&spool, scene.stage(&spool, &sha256).unwrap());
        fs::set_permissions(&stored, Permissions::from_mode(0o644)).unwrap();
        fs::write(&stored, damage).unwrap();
        fs::set_permissions(&stored, Permissions::from_mode(0o444)).unwrap();
        let staged = scene.stage(&spool, &sha256).unwrap();
        assert_eq!(sha256_of(&staged_file(&spool, &staged)), sha256, "{how}");
        assert_eq!(sha256_of(&stored), sha256, "{how}: replaced");
        finish(&spool, staged);
    }
    // A file that another user could write to is not shared, nor is a non-regular file.
    fs::set_permissions(&stored, Permissions::from_mode(0o644)).unwrap();
    let staged = scene.stage(&spool, &sha256).unwrap();
    for path in [&stored, &staged_file(&spool, &staged)] {
        assert_eq!(fs::metadata(path).unwrap().mode() & 0o7777, 0o444, "{}", path.display());
    }
    fs::remove_file(&stored).unwrap();
    std::os::unix::fs::symlink(scene.input(), &stored).unwrap();
    let again = scene.stage(&spool, &sha256).unwrap();
    let file = staged_file(&spool, &again);
    assert!(fs::symlink_metadata(&file).unwrap().is_file());
    assert_ne!(links(&file).0, links(&scene.input()).0);
    finish(&spool, staged);
    finish(&spool, again);
}

#[test]
fn a_slot_never_shows_what_became_of_the_file_afterwards() {
    let scene = SpoolScene::new();
    let spool = scene.spool();
    let content = bytes(2 * MIB, 5);
    fs::write(scene.input(), &content).unwrap();
    let sha256 = Sha256::of(&content);
    for round in ["first", "again"] {
        fs::write(scene.input(), &content).unwrap();
        let staged = scene.stage(&spool, &sha256).unwrap();
        let file = staged_file(&spool, &staged);
        let open = OpenOptions::new().write(true).open(scene.input()).unwrap();
        open.write_all_at(b"new bytes", 0).unwrap();
        assert_eq!(sha256_of(&file), sha256, "{round}: overwritten");
        open.set_len(10).unwrap();
        assert_eq!(sha256_of(&file), sha256, "{round}: cut off");
        open.set_len(8 << 20).unwrap();
        assert_eq!(sha256_of(&file), sha256, "{round}: grown");
        fs::remove_file(scene.input()).unwrap();
        assert_eq!(sha256_of(&file), sha256, "{round}: gone");
        finish(&spool, staged);
    }
}

/// Changes the file in many ways while it is read: either the request is refused, or the slot holds
/// the approved bytes.
#[test]
fn a_file_that_changes_while_it_is_staged_is_refused_or_staged_as_it_was() {
    let scene = SpoolScene::new();
    let spool = scene.spool();
    let content = bytes(2 * MIB, 6);
    fs::write(scene.input(), &content).unwrap();
    let sha256 = Sha256::of(&content);
    let stop = AtomicBool::new(false);
    let path = scene.input();
    let (mut staged_count, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let open = OpenOptions::new().write(true).open(&path).unwrap();
            // Hosts differ in speed: any number of changes happens during the staging. A busy host
            // stages the file unchanged only in the longest pause.
            for pause_ms in [1, 2, 4, 8, 16, 32, 64, 512].into_iter().cycle() {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                for at in [0, 1_000_000, 2_000_000] {
                    open.write_all_at(b"other bytes", at).unwrap();
                    let at = usize::try_from(at).unwrap();
                    let original = &content[at..at + 11];
                    open.write_all_at(original, u64::try_from(at).unwrap()).unwrap();
                }
                open.set_len(1_500_000).unwrap();
                std::thread::sleep(Duration::from_micros(200));
                open.write_all_at(&content[1_500_000..], 1_500_000).unwrap();
                std::thread::sleep(Duration::from_millis(pause_ms));
            }
        });
        let until = std::time::Instant::now() + Duration::from_secs(60);
        while std::time::Instant::now() < until && (staged_count < 5 || refused < 5) {
            match scene.stage(&spool, &sha256) {
                Ok(staged) => {
                    assert_eq!(sha256_of(&staged_file(&spool, &staged)), sha256);
                    finish(&spool, staged);
                    staged_count += 1;
                }
                Err(codes) => {
                    assert_eq!(codes, ["inputs.mismatch"]);
                    refused += 1;
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(staged_count > 0 && refused > 0, "{staged_count} staged, {refused} refused");
}

#[test]
fn an_input_that_is_too_large_is_refused_before_it_is_read() {
    let scene = SpoolScene::new();
    let spool = scene.spool();
    let file = fs::File::create(scene.input()).unwrap();
    // A sparse file: reading it would take minutes.
    file.set_len(1 << 40).unwrap();
    let codes = scene.stage(&spool, &Sha256::of(b"")).err().unwrap();
    assert_eq!(codes, ["limits.over-policy"]);
}

#[test]
fn what_was_unused_for_long_is_deleted() {
    let scene = SpoolScene::new();
    let spool = scene.spool();
    let mut digests = Vec::new();
    for seed in [7, 8] {
        let content = bytes(1000, seed);
        fs::File::create(scene.input()).unwrap().write_all(&content).unwrap();
        digests.push(Sha256::of(&content));
        finish(&spool, scene.stage(&spool, &digests[digests.len() - 1]).unwrap());
    }
    let month = SystemTime::now() - Duration::from_secs(30 * 24 * 60 * 60);
    for digest in &digests {
        fs::File::open(scene.stored(digest)).unwrap().set_modified(month).unwrap();
    }
    // A use resets the expiry.
    finish(&spool, scene.stage(&spool, &digests[1]).unwrap());
    spool.expire_inputs();
    assert!(!scene.stored(&digests[0]).exists());
    assert!(scene.stored(&digests[1]).exists());
}

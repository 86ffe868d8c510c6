//! Attempts of a process that may only deliver files: nothing runs, nothing is lost, and the next
//! good action is taken at once.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use toolexec_tests::{Bench, CliOutput, RequestText, list, ssh_keygen_works};

use super::{APPROVE, BATCH, PlacedDraft, REJECT, SignedActionScene, output_of, sha256};

const FLOOD: usize = 1000;
/// The drafts of each file of the flood.
const DRAFTS: usize = 100;

fn good() -> RequestText {
    RequestText::python("print('ran')")
}

impl SignedActionScene<'_> {
    fn large_draft(&self) -> PlacedDraft {
        let mut draft = self.draft(&good());
        draft.draft.push_str(&"x".repeat(30_000));
        self.place_draft(&draft.id, &draft.draft);
        draft
    }
}

/// Returns a new key that no list names.
fn stranger(bench: &Bench) -> PathBuf {
    let key = bench.home().join("stranger");
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]).arg(&key);
    CliOutput::of(&mut command).assert_code(0);
    key
}

#[test]
fn no_forged_approval_moves_a_draft() {
    if !ssh_keygen_works("no_forged_approval_moves_a_draft") {
        return;
    }
    let bench = Bench::new();
    let scene = SignedActionScene::start(&bench);
    let (one, other) = (scene.draft(&good()), scene.draft(&good()));
    let action = scene.signed_approval(&one);
    let header = &action[..action.find("-----").unwrap()];
    let line = scene.line(&one);

    scene.refuses("unsigned", header, "does not end in one SSH signature");
    let signature = scene.sign_with(&stranger(&bench), APPROVE, &one.filled);
    scene.refuses("stranger", scene.approval(&[&one], &signature), "is not in allowed_signers");
    let signature = scene.sign(APPROVE, &other.filled);
    scene.refuses("other-request", scene.approval(&[&one], &signature), "does not verify");
    let signature = scene.sign(APPROVE, &one.draft);
    scene.refuses("as-drafted", scene.approval(&[&one], &signature), "does not verify");
    let signature = scene.sign(REJECT, &one.filled);
    scene.refuses("other-use", scene.approval(&[&one], &signature), "namespace");

    let named = one.filled.replacen("approved_by: \"tester\"", "approved_by: \"bob\"", 1);
    let by_bob = action.replacen("by: tester", "by: bob", 1);
    scene.refuses("renamed", &by_bob, "does not verify");
    let armour = scene.sign(APPROVE, &named);
    let by_bob = format!("{}{armour}", header.replacen("by: tester", "by: bob", 1));
    scene.refuses("another-person", by_bob, "bob did not sign");

    scene.refuses("twice", action.replacen(&line, &format!("{line}{line}"), 1), "named twice");
    let digest = sha256(other.draft.as_bytes(), bench.scratch().path());
    let mixed = action.replacen(&line, &format!("document: {digest} {}\n", one.id), 1);
    scene.refuses("other-digest", mixed, "has other bytes");
    let missing = action.replacen(&one.id, "TR-20260101-000000Z-none", 1);
    scene.refuses("missing", missing, "not a draft any more");
    let outside = action.replacen(&one.id, "../state/ledger", 1);
    scene.refuses("outside", outside, "line 5");
    let old = output_of(Command::new("date").args(["-u", "-d", "-601 seconds", "+%FT%TZ"]));
    let (old, at) = (old.trim(), one.at());
    let late = one.filled.replacen(&format!("approved_utc: \"{at}\""), old, 1);
    let late = format!("{}{}", header.replacen(at, old, 1), scene.sign(APPROVE, &late));
    scene.refuses("late", late, "sign it again");
    for draft in [&one, &other] {
        scene.assert_untouched(draft);
    }
    assert!(scene.service.records().is_empty());
    scene.still_takes_a_good_action();
}

/// The signature of a draft does not count for what an agent has put in its place.
#[test]
fn a_draft_that_changes_after_it_was_signed_is_not_moved() {
    if !ssh_keygen_works("a_draft_that_changes_after_it_was_signed_is_not_moved") {
        return;
    }
    let bench = Bench::new();
    let scene = SignedActionScene::start(&bench);
    let draft = scene.draft(&good());
    let action = scene.signed_approval(&draft);
    let changed = draft.draft.replacen("time_limit_sec: 20", "time_limit_sec: 60", 1);
    assert_ne!(changed, draft.draft);
    scene.place_draft(&draft.id, &changed);
    scene.refuses("old-digest", &action, "has other bytes");
    // With the digest of the new bytes, and the signature of the old ones.
    let digest = sha256(changed.as_bytes(), bench.scratch().path());
    let line = format!("document: {digest} {}\n", draft.id);
    let forged = action.replacen(&scene.line(&draft), &line, 1);
    scene.refuses("new-digest", forged, "does not verify");
    scene.place_draft(&draft.id, &draft.draft);
    scene.assert_untouched(&draft);
    // An approver that a drafter wrote is not the signer's statement.
    scene.place_draft(&draft.id, &draft.filled);
    let digest = sha256(draft.filled.as_bytes(), bench.scratch().path());
    let line = format!("document: {digest} {}\n", draft.id);
    let named = action.replacen(&scene.line(&draft), &line, 1);
    scene.refuses("named", named, "already has approved_by");
    // A link in the place of the draft.
    let path = scene.service.path(&format!("drafts/{}.md", draft.id));
    fs::rename(&path, bench.scratch().path().join("elsewhere")).unwrap();
    symlink(bench.scratch().path().join("elsewhere"), &path).unwrap();
    scene.refuses("link", &action, "symbolic link");
    fs::remove_file(&path).unwrap();
    assert!(scene.service.records().is_empty());
    scene.still_takes_a_good_action();
}

#[test]
fn hostile_objects_in_the_directory_stop_nothing() {
    if !ssh_keygen_works("hostile_objects_in_the_directory_stop_nothing") {
        return;
    }
    let bench = Bench::new();
    let scene = SignedActionScene::start(&bench);
    let draft = scene.draft(&good());
    let action = scene.signed_approval(&draft);
    let outside = bench.scratch().file("outside", &action);
    let path = |name: &str| scene.service.path("signed").join(name);
    symlink(&outside, path("link.action")).unwrap();
    assert!(scene.answer("link")["reason"].as_str().unwrap().contains("a symbolic link"));
    fs::hard_link(&outside, path("hard.action")).unwrap();
    assert!(scene.answer("hard")["reason"].as_str().unwrap().contains("a hard link"));
    output_of(Command::new("mkfifo").arg(path("fifo.action")));
    assert!(scene.answer("fifo")["reason"].as_str().unwrap().contains("a FIFO"));
    scene.refuses("huge", "x".repeat(64 * 1024 * 1024), "larger than 49152 bytes");
    scene.refuses("padded", format!("{action}{}", "\n".repeat(49_152)), "larger than 49152 bytes");
    scene.refuses("empty", "", "line 1");
    scene.refuses("zeros", vec![0_u8; 40_000], "line 1");
    // Moved as a whole: the daemon removes an empty directory.
    let full = |name: &str| {
        let directory = bench.scratch().dir("full");
        fs::create_dir(directory.join("inside")).unwrap();
        fs::rename(&directory, path(name)).unwrap();
    };
    full("full.action");
    fs::create_dir(path("empty-directory.action")).unwrap();
    full("blocked.answer");
    scene.deliver("blocked", "x");
    scene.service.wait_for("the action to be removed", |_| !path("blocked.action").exists());
    assert_eq!(fs::read_to_string(&outside).unwrap(), action);
    scene.assert_untouched(&draft);
    scene.still_takes_a_good_action();
    scene.takes("first", &action);
    scene.service.record_of(&draft.id).assert_outcome("ok");
    assert!(path("full.action/inside").exists());
    assert!(scene.service.is_alive());
}

#[test]
fn a_flood_of_files_delays_no_good_action() {
    if !ssh_keygen_works("a_flood_of_files_delays_no_good_action") {
        return;
    }
    let bench = Bench::new();
    let scene = SignedActionScene::start(&bench);
    // Each draft is filled in and hashed before the signature turns out to be of another message.
    let drafts: Vec<_> = (0..DRAFTS).map(|_| scene.large_draft()).collect();
    let drafts: Vec<_> = drafts.iter().collect();
    let signature = scene.sign(BATCH, "another message");
    let expensive = scene.approval(&drafts, &signature);
    let signed = scene.service.path("signed");
    for number in 0..FLOOD {
        fs::write(signed.join(format!("n{number}.action")), &expensive).unwrap();
    }
    scene.still_takes_a_good_action();
    // A request that is signed later is not delayed either.
    scene.still_takes_a_good_action();
    let left = list(&signed).iter().filter(|name| name.ends_with(".action")).count();
    assert!(left > FLOOD / 2, "{left} of {FLOOD} files are left: it was no flood");
}

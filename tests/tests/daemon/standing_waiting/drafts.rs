//! Drafts that the daemon takes by itself: neither a draft that cannot be moved nor thousands of
//! other files stop them.

use std::fs;
use std::path::PathBuf;

use super::WaitingScene;
use toolexec_tests::{Bench, HeldLock, ServiceConfig, list, ssh_keygen_works};

/// More directories within each other than the inputs of a draft may have.
const LEVELS: usize = 40;
/// More than a look of the daemon opens.
const OTHERS: usize = 1500;

/// The daemon takes drafts. The owner of a draft must not approve it by its submission.
fn start(bench: &Bench) -> (WaitingScene<'_>, PathBuf) {
    let edits = [("from_drafts: false", "from_drafts: true")];
    let config = ServiceConfig::for_owner(bench).with_one_signature().edited(&edits);
    let scene = WaitingScene::start(bench, config, &[]);
    let drafts = scene.service.path("drafts");
    fs::create_dir_all(&drafts).unwrap();
    // The daemon notices the new directory at its next look.
    scene.service.signal("HUP");
    (scene, drafts)
}

#[test]
fn a_draft_that_cannot_be_moved_stops_no_other() {
    if !ssh_keygen_works("a_draft_that_cannot_be_moved_stops_no_other") {
        return;
    }
    let bench = Bench::new();
    let (scene, drafts) = start(&bench);
    let deep = scene.use_of(1);
    let saved = deep.save(&scene.aside());
    let mut place = saved.inputs.clone();
    place.extend(std::iter::repeat_n("d", LEVELS));
    fs::create_dir_all(&place).unwrap();
    for path in [&saved.inputs, &saved.path] {
        fs::rename(path, drafts.join(path.file_name().unwrap())).unwrap();
    }
    let others = [scene.use_of(1), scene.use_of(1), scene.use_of(1)];
    for request in &others {
        scene.place(request, &drafts);
    }
    for request in &others {
        scene.service.record_of(&request.id).assert_outcome("ok");
    }
    scene.service.wait_for("a message", |service| service.log().contains("are not taken"));
    let log = scene.service.log();
    assert!(log.contains(&deep.id) && log.contains("levels of directories"), "{log}");
    let stem = drafts.join(&deep.id);
    let (file, inputs) = (stem.with_extension("md"), stem.with_extension("inputs"));
    assert!(file.exists() && inputs.exists());
    assert!(scene.service.records_of(&deep.id).is_empty());
    // The agent drafts it again.
    fs::remove_dir_all(inputs.join("d")).unwrap();
    let again = scene.aside().join("again.md");
    fs::copy(&file, &again).unwrap();
    fs::rename(&again, &file).unwrap();
    scene.service.record_of(&deep.id).assert_outcome("ok");
    scene.assert_uses(4);
}

#[test]
fn many_other_drafts_do_not_prevent_a_use() {
    if !ssh_keygen_works("many_other_drafts_do_not_prevent_a_use") {
        return;
    }
    let bench = Bench::new();
    let (scene, drafts) = start(&bench);
    for number in 0..OTHERS {
        let name = format!("TR-20260209-160501Z-other-{number}.md");
        fs::write(drafts.join(name), "---\npurpose: \"Another.\"\n---\n").unwrap();
    }
    let request = scene.use_of(1);
    scene.place(&request, &drafts);
    scene.service.record_of(&request.id).assert_outcome("ok");
    assert_eq!(list(&drafts).len(), OTHERS);
    scene.assert_uses(1);
}

/// An agent holds the lock of the directory for ever.
#[test]
fn drafts_that_do_not_answer_delay_no_submission() {
    let test = "drafts_that_do_not_answer_delay_no_submission";
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let (scene, drafts) = start(&bench);
    fs::write(drafts.join("agent"), "x").unwrap();
    let Some(mut held) = HeldLock::of(test, &drafts.join("agent")) else { return };
    held.rename_to(&drafts.join("agent-2"));
    scene.service.signal("HUP");
    scene.service.wait_for("a notice", |it| it.log().contains("drafts: no answer for 10 s"));
    let request = scene.use_of(1);
    scene.place(&request, &scene.service.path("approved"));
    scene.service.record_of(&request.id).assert_outcome("ok");
    drop(held);
    let request = scene.use_of(1);
    scene.place(&request, &drafts);
    scene.service.record_of(&request.id).assert_outcome("ok");
    scene.assert_uses(2);
}

//! Each kind of action about a document has the effect of the submitted files.

use std::fs;

use toolexec_tests::{
    Bench, CliOutput, RequestText, STANDING_NAMESPACE, SmallDisk, StandingText, list, skip,
    ssh_keygen_works,
};

use super::{
    BATCH, NOTHING, PlacedDraft, REJECT, SignedActionScene, sha256, value, without_approval,
};

fn good() -> RequestText {
    RequestText::python("print('ran')")
}

#[test]
fn a_signed_draft_runs_and_its_record_has_the_signature() {
    if !ssh_keygen_works("a_signed_draft_runs_and_its_record_has_the_signature") {
        return;
    }
    let bench = Bench::new();
    let scene = SignedActionScene::start(&bench);
    let draft = scene.draft(&good());
    scene.takes("a", &scene.signed_approval(&draft));
    let record = scene.service.record_of(&draft.id);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "ran\n");
    assert_eq!(list(&scene.service.path("drafts")), NOTHING);
    let request = record.path.join("request");
    let file = request.join(format!("{}.md", draft.id));
    assert_eq!(fs::read_to_string(&file).unwrap(), draft.filled);
    // Stock OpenSSH verifies what the record keeps.
    let signature = list(&request).into_iter().find(|name| name.ends_with(".sig")).unwrap();
    assert!(signature.contains(".md.action-"), "{signature}");
    let stock = format!(
        "ssh-keygen -Y verify -I tester -n {} -f {} -s {} < {}",
        super::APPROVE,
        bench.scratch().path().join("allowed_signers").display(),
        request.join(signature).display(),
        file.display()
    );
    CliOutput::of(&mut bench.shell(&stock)).assert_code(0);
    scene.service.verify().assert_code(0);
    let log = scene.service.log();
    assert!(log.contains(&format!("{}: approve signed by tester with key", draft.id)), "{log}");
    // The same action once more has no effect.
    scene.refuses("again", scene.signed_approval(&draft), "not a draft any more");
    assert_eq!(scene.service.records_of(&draft.id).len(), 1);
}

#[test]
fn one_signature_approves_ten_drafts_or_none() {
    if !ssh_keygen_works("one_signature_approves_ten_drafts_or_none") {
        return;
    }
    let bench = Bench::new();
    let scene = SignedActionScene::start(&bench);
    let first = scene.draft(&good());
    // All have the time of the first.
    let drafts: Vec<PlacedDraft> =
        std::iter::once(first).chain((0..9).map(|_| scene.draft(&good()))).collect();
    let at = drafts[0].at().to_owned();
    let drafts: Vec<PlacedDraft> = drafts
        .into_iter()
        .map(|draft| {
            let filled = draft.filled.replace(
                &format!("approved_utc: \"{}\"", draft.at()),
                &format!("approved_utc: \"{at}\""),
            );
            PlacedDraft { filled, ..draft }
        })
        .collect();
    let row = |draft: &PlacedDraft| {
        let digest = sha256(draft.filled.as_bytes(), bench.scratch().path());
        format!("{digest}  {}.md\n", draft.id)
    };
    let batch: String = drafts.iter().map(row).collect();
    let all: Vec<&PlacedDraft> = drafts.iter().collect();
    let action = scene.approval(&all, &scene.sign(BATCH, &batch));
    // One that has changed leaves all where they are.
    let last = &drafts[9];
    scene.place_draft(&last.id, &last.draft.replacen("A test.", "Another.", 1));
    scene.refuses("changed", &action, &format!("{}: has other bytes", last.id));
    scene.place_draft(&last.id, &last.draft);
    drafts.iter().for_each(|draft| scene.assert_untouched(draft));
    scene.takes("batch", &action);
    for draft in &drafts {
        scene.service.record_of(&draft.id).assert_outcome("ok");
    }
    assert_eq!(list(&scene.service.path("drafts")), NOTHING);
    scene.service.verify().assert_code(0);
}

#[test]
fn a_rejected_draft_is_recorded_and_never_runs() {
    if !ssh_keygen_works("a_rejected_draft_is_recorded_and_never_runs") {
        return;
    }
    let bench = Bench::new();
    let scene = SignedActionScene::start(&bench);
    let draft = scene.draft(&good());
    let action = format!(
        "toolexec-action v1\naction: reject\n{}{}",
        scene.line(&draft),
        scene.sign(REJECT, &draft.draft)
    );
    scene.takes("a", &action);
    scene.service.wait_for("a record", |service| service.records().len() == 1);
    let record = scene.service.records().remove(0);
    record.assert_outcome("refused");
    let kept = list(&record.path.join("request"));
    assert!(kept.iter().any(|name| name.ends_with(".reject.sig")), "{kept:?}");
    assert_eq!(list(&scene.service.path("drafts")), NOTHING);
    scene.refuses("approved", scene.signed_approval(&draft), "not a draft any more");
}

#[test]
fn a_standing_approval_is_admitted_and_revoked() {
    if !ssh_keygen_works("a_standing_approval_is_admitted_and_revoked") {
        return;
    }
    let bench = Bench::new();
    let scene = SignedActionScene::start(&bench);
    let text = StandingText::of_script("print('ran')");
    let (id, filled) = (text.id.clone(), text.text());
    let draft = without_approval(&filled);
    let standing = PlacedDraft { id, draft, filled };
    scene.place_draft(&standing.id, &standing.draft);
    let signature = scene.sign(STANDING_NAMESPACE, &standing.filled);
    scene.takes("a", &scene.approval(&[&standing], &signature));
    scene.service.wait_for("the admission", |it| it.log().contains("standing-admitted"));
    let public = scene.service.path(&format!("public/standing/{}.md", standing.id));
    scene.service.wait_for("its publication", |_| public.exists());
    assert_eq!(fs::read_to_string(&public).unwrap(), standing.filled);

    let digest = sha256(standing.filled.as_bytes(), bench.scratch().path());
    let revocation = |digest: &str, signature: &str| {
        let id = &standing.id;
        format!("toolexec-action v1\naction: revoke\ndocument: {digest} {id}\n{signature}")
    };
    let other = sha256(standing.draft.as_bytes(), bench.scratch().path());
    let signature = scene.sign(REJECT, &standing.filled);
    scene.refuses("draft", revocation(&other, &signature), "not admitted on this host");
    scene.takes("b", &revocation(&digest, &signature));
    scene.service.wait_for("the revocation", |it| it.log().contains("standing-revoked"));
    scene.service.wait_for("the file to be removed", |_| !public.exists());
    scene.refuses("again", revocation(&digest, &signature), "was revoked by");
}

#[test]
fn an_approval_that_is_not_enough_is_held_for_the_second_approver() {
    let test = "an_approval_that_is_not_enough_is_held_for_the_second_approver";
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let mut scene = SignedActionScene::prepare(&bench);
    let second = scene.demand_second_approver();
    scene.service.spawn();
    let draft = scene.draft(&good());
    assert_eq!(value(&draft.filled, "approved_by"), "tester");
    scene.takes("a", &scene.signed_approval(&draft));
    let held = scene.service.path(&format!("public/held/{}.md.json", draft.id));
    scene.service.wait_for("the request to be held", |_| held.exists());
    let signature = scene.sign_with(&second, super::APPROVE, &draft.filled);
    let file = scene.service.path(&format!("approved/{}.md.bob.sig", draft.id));
    fs::write(file, signature).unwrap();
    scene.service.record_of(&draft.id).assert_outcome("ok");
}

/// Then an agent cannot stop the renames in the rest of the spool.
#[test]
fn drafts_on_a_file_system_of_their_own_are_taken() {
    let test = "drafts_on_a_file_system_of_their_own_are_taken";
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let mut scene = SignedActionScene::prepare(&bench);
    let Some(_disk) = SmallDisk::mount(&scene.service.path("drafts"), 8 * 1024) else {
        return skip(test, "no file system can be mounted here");
    };
    scene.service.spawn();
    scene.still_takes_a_good_action();
    let drafts = scene.service.path("drafts");
    scene.service.wait_for("the draft to be removed", |_| list(&drafts) == NOTHING);
    scene.service.signal("TERM");
    assert_eq!(scene.service.wait(), Some(0));
}

#[test]
fn without_its_directory_nothing_is_delivered() {
    if !ssh_keygen_works("without_its_directory_nothing_is_delivered") {
        return;
    }
    let bench = Bench::new();
    let mut scene = SignedActionScene::prepare(&bench);
    fs::remove_dir(scene.service.path("signed")).unwrap();
    scene.service.spawn();
    let draft = scene.draft(&good());
    let log = scene.service.log();
    assert!(!log.contains("signed actions"), "{log}");
    // The directory is noticed while the daemon runs.
    fs::create_dir(scene.service.path("signed")).unwrap();
    scene.deliver("a", scene.signed_approval(&draft));
    scene.service.signal("HUP");
    assert_eq!(scene.answer("a")["taken"], true);
    scene.service.record_of(&draft.id).assert_outcome("ok");
}

//! Standing approvals that a passkey signs in a browser: the approval of a draft and its use, and
//! the revocation. Stock OpenSSH verifies both signatures.

use std::fs;

use toolexec_tests::{Bench, STANDING_NAMESPACE, SavedStanding, StandingText, list};

use super::approver::{ApproverPage, DONE};
use super::scene::ConsoleScene;

const REJECT: &str = "reject.tool-exec@threegate";
const SCRIPT: &str = "import sys; print(sys.argv[1])";

/// Places the draft of a standing approval, as an agent does. The returned file is the text with an
/// approval that was never signed.
fn place_draft(scene: &ConsoleScene<'_>) -> SavedStanding {
    let standing = StandingText::of_script(SCRIPT).save(&scene.bench.scratch().dir("aside"));
    let text = fs::read_to_string(&standing.path).unwrap();
    let without_approval = |line: &str| match line.split_once(": ") {
        Some((key @ ("approved_by" | "approved_utc"), _)) => format!("{key}: \"\"\n"),
        _ => format!("{line}\n"),
    };
    let draft: String = text.lines().map(without_approval).collect();
    fs::write(scene.service.path(&format!("drafts/{}.md", standing.id)), draft).unwrap();
    standing
}

#[test]
fn a_drafted_standing_approval_is_signed_and_used() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "a_drafted_standing_approval_is_signed_and_used";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let standing = place_draft(&scene);
    let path = format!("/standing/{}", standing.id);
    page.open(&path);
    page.begin("approve");
    let shown = page.text_of("#confirm-text");
    let id_line = format!("standing_id: \"{}\"", standing.id);
    for words in [id_line.as_str(), "approved_by: \"alice\"", "uses_max: 100", "- {last}"] {
        assert!(shown.contains(words), "{words} is not in {shown}");
    }
    page.click("#confirm-yes");
    page.browser.wait_for(DONE);
    let public = scene.service.path(&format!("public/standing/{}.md", standing.id));
    scene.service.wait_for("the standing approval to be published", |_| public.exists());
    assert_eq!(fs::read_to_string(&public).unwrap(), shown);
    assert_eq!(list(&scene.service.path("drafts")), Vec::<String>::new());

    // A use names the digest and the time of what was signed.
    fs::write(&standing.path, &shown).unwrap();
    let (_, rest) = shown.split_once("\napproved_utc: \"").unwrap();
    let (approved_utc, _) = rest.split_once('"').unwrap();
    let request = standing.use_of(SCRIPT, "7");
    let record = scene.run_use(&request.line("approved_utc", &format!("\"{approved_utc}\"")));
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "7\n");
    scene.assert_stock_verifies(&record.path, STANDING_NAMESPACE);
    scene.service.verify().assert_code(0);
    // The page of the draft is now that of the standing approval.
    page.open(&path);
    let shown = page.text_of("main");
    assert!(shown.contains("Uses so far: 1."), "{shown}");
    assert_eq!(page.touches(), 1);
}

#[test]
fn a_rejected_standing_approval_is_never_published() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "a_rejected_standing_approval_is_never_published";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let standing = place_draft(&scene);
    page.open(&format!("/standing/{}", standing.id));
    page.perform("reject");
    let [approved, drafts] = ["approved", "drafts"].map(|place| scene.service.path(place));
    scene.service.wait_for("the draft to be taken", |it| {
        list(&approved).is_empty() && list(&drafts).is_empty() && list(&it.path("work")).is_empty()
    });
    assert_eq!(list(&scene.service.path("public/standing")), Vec::<String>::new());
    assert!(!scene.service.log().contains("standing-admitted"), "{}", scene.service.log());
}

#[test]
fn stock_openssh_verifies_the_revocation_of_a_standing_approval() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "stock_openssh_verifies_the_revocation_of_a_standing_approval";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let standing = scene.admit_standing(SCRIPT);
    page.open(&format!("/standing/{}", standing.id));
    page.begin("revoke");
    let shown = page.text_of("#confirm-text");
    assert_eq!(shown, fs::read_to_string(&standing.path).unwrap());
    page.click("#confirm-yes");
    page.browser.wait_for(DONE);
    scene.service.wait_for("the revocation", |it| it.log().contains("standing-revoked"));

    let reference = standing.reference();
    let (_, digest) = reference.rsplit_once(':').unwrap();
    let stored = scene.service.state().join("standing").join(digest);
    // The store also has the signature of the approval.
    let kept = bench.scratch().dir("revocation");
    let beside = bench.scratch().dir("revocation/request");
    for name in list(&stored) {
        if name.ends_with(".md") || name.ends_with(".reject.sig") {
            fs::copy(stored.join(&name), beside.join(&name)).unwrap();
        }
    }
    scene.assert_stock_verifies(&kept, REJECT);
}

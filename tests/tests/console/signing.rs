//! Actions signed with a passkey in a browser, from the page to the record that stock OpenSSH
//! verifies.

use std::fs;

use toolexec_tests::{Bench, CliOutput, SavedStanding, list};

use super::approver::{ApproverPage, DONE};
use super::scene::ConsoleScene;

const APPROVE: &str = "approve.tool-exec@threegate";
const BATCH: &str = "batch.tool-exec@threegate";
const REJECT: &str = "reject.tool-exec@threegate";

#[test]
fn an_enrolled_passkey_approves_a_request() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "an_enrolled_passkey_approves_a_request";
    let Some(page) = ApproverPage::start(&scene, test) else { return };
    let line = page.enrol("alice");
    let key = line.split_once("\" ").unwrap().1;
    let key = bench.scratch().file("alice.pub", format!("{key}\n"));
    let read = CliOutput::of(bench.command("ssh-keygen").args(["-l", "-f"]).arg(key));
    read.assert_code(0);
    assert!(read.stdout.contains("(ECDSA-SK)"), "{read:?}");

    // The console cannot trust a passkey by itself.
    let id = page.open_draft("approved");
    let offered = "[...document.querySelectorAll('option')].some((it) => it.value === 'alice')";
    assert_eq!(page.script(offered), false);
    scene.trust(&line);
    page.open(&format!("/requests/{id}"));
    assert_eq!(page.script(offered), true);
    page.begin("approve");
    let shown = page.text_of("#confirm-text");
    for words in
        [format!("request_id: \"{id}\"").as_str(), "approved_by: \"alice\"", "python script.py"]
    {
        assert!(shown.contains(words), "{words} is not in {shown}");
    }
    assert_eq!(page.text_of("#confirm-words").split(' ').count(), 6);
    page.click("#confirm-yes");
    page.browser.wait_for(DONE);
    let record = scene.service.record_of(&id);
    record.assert_outcome("ok");
    assert_eq!(record.stdout(), "approved\n");
    let document = fs::read(record.path.join(format!("request/{id}.md"))).unwrap();
    assert_eq!(String::from_utf8(document).unwrap(), shown);
    scene.assert_stock_verifies(&record.path, APPROVE);
    scene.service.verify().assert_code(0);
    assert_eq!(page.touches(), 1);
}

#[test]
fn one_touch_approves_ten_requests() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "one_touch_approves_ten_requests";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let ids: Vec<String> =
        (0..10).map(|number| scene.draft_that_prints(&number.to_string()).id).collect();
    let other = scene.draft_that_prints("not selected").id;
    page.open_batch(&ids);
    page.begin("approve");
    let shown = page.text_of("#confirm-text");
    assert_eq!(shown.lines().count(), 10, "{shown}");
    assert_eq!(page.text_of("#confirm-words").lines().count(), 10);
    page.click("#confirm-yes");
    page.browser.wait_for(DONE);
    for id in &ids {
        let record = scene.service.record_of(id);
        record.assert_outcome("ok");
        scene.assert_stock_verifies(&record.path, BATCH);
    }
    assert_eq!(page.touches(), 1);
    assert_eq!(list(&scene.service.path("drafts")).len(), 2, "another draft was moved");
    assert!(scene.service.records_of(&other).is_empty());
    scene.service.verify().assert_code(0);
    // The page has gone back to the queue, which shows the other draft only.
    page.browser.wait_for(&format!(
        "document.querySelectorAll('input[name=ids]').length === 1 &&
         document.querySelector('input[name=ids]').value === '{other}'"
    ));
}

#[test]
fn a_rejected_request_never_runs() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "a_rejected_request_never_runs";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let id = page.open_draft("rejected");
    page.perform("reject");
    let record = scene.service.record_of(&id);
    record.assert_outcome("refused");
    scene.assert_stock_verifies(&record.path, REJECT);
    assert_eq!(list(&scene.service.path("drafts")), Vec::<String>::new());
}

#[test]
fn a_revoked_standing_approval_admits_nothing() {
    const SCRIPT: &str = "import sys; print(sys.argv[1])";
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "a_revoked_standing_approval_admits_nothing";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let standing = scene.admit_standing(SCRIPT);
    page.open("/standing");
    let listed = page.script("document.querySelector('main').innerText");
    assert!(listed.as_str().unwrap().contains(&standing.id), "{listed}");
    page.open(&format!("/standing/{}", standing.id));
    page.perform("revoke");
    scene.service.wait_for("the revocation", |it| it.log().contains("standing-revoked"));
    let aside = bench.scratch().dir("uses");
    let request = standing.use_of(SCRIPT, "7");
    let approved = scene.service.path("approved");
    let placed = SavedStanding::place_use(&request, &aside, &approved);
    let record = scene.service.record_of(&placed.id);
    record.assert_outcome("refused");
    record.assert_violation("approval.standing");
}

#[test]
fn nothing_is_signed_without_a_confirmation_a_touch_and_a_finger() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "nothing_is_signed_without_a_confirmation_a_touch_and_a_finger";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    page.open_draft("never");
    page.begin("approve");
    page.click("#confirm-no");
    assert_eq!(page.message(), "Not signed.");
    page.refuse_fingers();
    page.confirm("approve");
    assert_eq!(page.message(), "The passkey was not used.");
    page.stop_touching();
    page.confirm("approve");
    page.browser.wait_for("document.getElementById('status').textContent.startsWith('Waiting')");
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(page.status(), "Waiting for the passkey.");
    assert_eq!(page.touches(), 0);
    scene.assert_nothing_signed();
}

/// A server that shows one text and has another one signed is noticed, if its script is ours.
#[test]
fn a_text_that_is_not_what_would_be_signed_is_not_signed() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "a_text_that_is_not_what_would_be_signed_is_not_signed";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    for (change, message) in [
        ("value.text = value.text.replace('A test', 'A nice test')", "the text is not what"),
        ("value.documents[0].sha256 = '0'.repeat(64)", "the digest is of another text"),
        ("value.documents[0].stored_sha256 = '0'.repeat(64)", "the document has changed"),
        ("value.documents = []", "the list is not of these documents"),
        ("value.credentials = []", "no passkey of yours"),
    ] {
        page.open_draft("never");
        page.replace_fetch(&format!(
            "const answer = await send(path, options);
             const value = await answer.json();
             if (path === '/prepare') {change};
             return new Response(JSON.stringify(value), {{ status: answer.status }});"
        ));
        page.click("form.action[data-action=approve] button");
        page.browser.wait_for("document.getElementById('status').textContent !== ''");
        assert!(page.message().contains(message), "{change}: {}", page.status());
    }
    assert_eq!(page.touches(), 0);
    scene.assert_nothing_signed();
}

#[test]
fn the_keyboard_alone_approves() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let Some(page) = ApproverPage::enrolled(&scene, "the_keyboard_alone_approves") else { return };
    let id = scene.draft_that_prints("typed").id;
    page.open("/");
    page.tab_to(&format!("input[name=ids][value=\"{id}\"]"));
    page.browser.press_key("Space");
    page.tab_to("form.selection button");
    page.browser.press_key("Enter");
    page.browser
        .wait_for("location.pathname === '/batch' && document.body?.dataset.ready === 'true'");
    page.tab_to("form.action[data-action=approve] button");
    page.browser.press_key("Enter");
    page.browser.wait_for("document.getElementById('confirm').open");
    page.browser.press_key("Escape");
    assert_eq!(page.message(), "Not signed.");
    // The focus is back on the button.
    page.browser.press_key("Enter");
    page.browser.wait_for("document.getElementById('confirm').open");
    page.tab_to("#confirm-yes");
    page.browser.press_key("Enter");
    page.browser.wait_for(DONE);
    scene.service.record_of(&id).assert_outcome("ok");
}

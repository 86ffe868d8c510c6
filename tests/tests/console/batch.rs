//! The page of a batch: it shows each draft as the draft's own page does, and only a draft that it
//! shows whole can be signed there.

use std::fs;

use toolexec_tests::{Bench, RequestText, list};

use super::approver::{ApproverPage, DONE};
use super::exchange::get;
use super::scene::ConsoleScene;

const APPROVE: &str = "approve.tool-exec@threegate";
const BATCH: &str = "batch.tool-exec@threegate";
const SECTIONS: &str = "document.querySelectorAll('details.draft').length";
/// The text of an input of which a page shows a part only.
const LONG: usize = 70_000;
/// The text of an input that a page of one draft shows whole.
const SHOWN: usize = 60 * 1024;

fn address(ids: &[String]) -> String {
    let fields: Vec<String> = ids.iter().map(|id| format!("ids={id}")).collect();
    format!("/batch?{}", fields.join("&"))
}

/// Returns the ids that the form of a page would have signed.
fn signable(page: &str) -> Vec<&str> {
    let mark = "<input type=\"hidden\" name=\"ids\" value=\"";
    page.split(mark).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

#[test]
fn a_batch_shows_each_draft_and_one_touch_signs_them() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "a_batch_shows_each_draft_and_one_touch_signs_them";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let texts = ["one of three", "two of three", "three of three"];
    let ids: Vec<String> = texts.iter().map(|text| scene.draft_that_prints(text).id).collect();
    page.select(&ids);
    // The text that is visible without a click: a few sections are open.
    let shown = page.script("document.querySelector('main').innerText");
    let shown = shown.as_str().unwrap();
    for (id, text) in ids.iter().zip(texts) {
        for words in [id.as_str(), &format!("print('{text}')"), &scene.digest_of(id)] {
            assert!(shown.contains(words), "{words} is not in {shown}");
        }
    }
    let words = "[...document.querySelectorAll('details.draft .words')]
        .map((it) => it.textContent.split(' ').length).join()";
    assert_eq!(page.script(words), "6,6,6");
    page.begin("approve");
    assert_eq!(page.text_of("#confirm-text").lines().count(), 3);
    page.click("#confirm-yes");
    page.browser.wait_for(DONE);
    for (id, text) in ids.iter().zip(texts) {
        let record = scene.service.record_of(id);
        record.assert_outcome("ok");
        assert_eq!(record.stdout(), format!("{text}\n"));
        scene.assert_stock_verifies(&record.path, BATCH);
    }
    assert_eq!(page.touches(), 1);
    scene.service.verify().assert_code(0);
    assert_eq!(page.browser.errors(), Vec::<String>::new());
}

#[test]
fn a_batch_has_the_content_of_each_page() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let port = scene.console.port;
    let hostile = RequestText::python("print('<script>alert(1)</script>')")
        .input("table.csv", "</details></main><b>")
        .edit("purpose: \"A test.\"", "purpose: \"Show <b>.\"");
    let ids = [scene.draft(hostile).id, scene.draft_that_prints("plain").id];
    let batch = get(port, &address(&ids));
    assert_eq!(batch.status, 200, "{batch:?}");
    assert_eq!(signable(&batch.body), ids.each_ref().map(String::as_str));
    for id in &ids {
        let page = get(port, &format!("/requests/{id}")).body;
        let (_, content) = page.split_once("<h2>Check</h2>").unwrap();
        let (content, _) = content.split_once("</main>").unwrap();
        assert!(content.contains("The whole document, as text"), "{content}");
        assert!(batch.body.contains(content), "{content} is not in {}", batch.body);
    }
    assert!(!batch.body.contains("<script>alert") && !batch.body.contains("<b>"), "{batch:?}");
}

#[test]
fn a_draft_that_is_not_shown_fully_is_not_signed() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "a_draft_that_is_not_shown_fully_is_not_signed";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let whole = scene.draft_that_prints("shown").id;
    let with = |input: &[u8]| scene.draft(RequestText::python("print(1)").input("data", input)).id;
    let long = with("x\n".repeat(LONG / 2).as_bytes());
    let binary = with(b"text\0and more text");
    let missing = with(b"removed");
    fs::remove_file(scene.service.path(&format!("drafts/{missing}.inputs/data"))).unwrap();
    let replaced = with(b"signed");
    fs::write(scene.service.path(&format!("drafts/{replaced}.inputs/data")), "other").unwrap();
    let wrong = RequestText::python("print(1)").line("network", "\"maybe\"");
    let wrong = scene.draft(wrong).id;
    let ids = [&whole, &long, &binary, &missing, &replaced, &wrong].map(Clone::clone);
    page.select(&ids);
    let shown = page.text_of("main");
    assert!(shown.contains("5 of 6 selected drafts are not shown fully"), "{shown}");
    for id in [&long, &binary, &missing, &replaced] {
        assert!(shown.contains(&format!("{id}: it is not shown fully")), "{shown}");
    }
    assert!(shown.contains(&format!("{wrong}: its check has found errors")), "{shown}");
    assert_eq!(page.script(SECTIONS), 1);
    page.perform("approve");
    let record = scene.service.record_of(&whole);
    record.assert_outcome("ok");
    scene.assert_stock_verifies(&record.path, APPROVE);
    let left = list(&scene.service.path("drafts"));
    for id in &ids[1..] {
        assert!(left.contains(&format!("{id}.md")), "{id} is not in {left:?}");
        assert!(scene.service.records_of(id).is_empty());
    }
    assert_eq!(page.touches(), 1);
}

#[test]
fn a_draft_that_has_changed_since_its_page_is_not_signed() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "a_draft_that_has_changed_since_its_page_is_not_signed";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let ids = [scene.draft_that_prints("same").id, scene.draft_that_prints("changed").id];
    page.open_batch(&ids);
    let path = scene.service.path(&format!("drafts/{}.md", ids[1]));
    let draft = fs::read_to_string(&path).unwrap();
    fs::write(&path, draft.replacen("time_limit_sec: 20", "time_limit_sec: 60", 1)).unwrap();
    page.click("form.action[data-action=approve] button");
    page.browser.wait_for("document.getElementById('status').textContent !== ''");
    let message = page.message();
    assert!(message.starts_with("the document has changed since this page"), "{message}");
    assert!(message.ends_with(&ids[1]), "{message}");
    assert_eq!(page.touches(), 0);
    scene.assert_nothing_signed();
}

/// The sections of a large batch are closed. Each must have been open before the touch.
#[test]
fn each_draft_of_a_large_batch_is_opened_with_the_keyboard() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "each_draft_of_a_large_batch_is_opened_with_the_keyboard";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let ids: Vec<String> =
        (0..6).map(|number| scene.draft_that_prints(&number.to_string()).id).collect();
    page.select(&ids);
    let opened = "document.querySelectorAll('details.draft[open]').length";
    assert_eq!(page.script(opened), 0);
    page.click("form.action[data-action=approve] button");
    page.browser.wait_for("document.getElementById('status').textContent !== ''");
    assert_eq!(page.message(), "open and read each draft first; not opened yet: 6");
    for number in 1..=ids.len() {
        page.tab_to("details.draft:not([open]) > summary");
        page.browser.press_key("Enter");
        page.browser.wait_for(&format!(
            "document.querySelectorAll('details.draft[data-opened]').length === {number}"
        ));
    }
    page.tab_to("form.action[data-action=approve] button");
    page.browser.press_key("Enter");
    page.browser.wait_for("document.getElementById('confirm').open");
    page.tab_to("#confirm-yes");
    page.browser.press_key("Enter");
    page.browser.wait_for(DONE);
    for id in &ids {
        scene.service.record_of(id).assert_outcome("ok");
    }
    assert_eq!(page.touches(), 1);
}

#[test]
fn the_page_of_a_batch_is_bounded() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let port = scene.console.port;
    let text = "# a comment\n".repeat(SHOWN / 12);
    let ids: Vec<String> = (0..18)
        .map(|_| scene.draft(RequestText::python("print(1)").input("long.py", &text)).id)
        .collect();
    let page = get(port, &address(&ids));
    assert_eq!(page.status, 200, "{}", page.head);
    let signed = signable(&page.body);
    let left_out = ids.len() - signed.len();
    assert!(signed.len() >= 10 && left_out > 0, "{signed:?}");
    assert!(page.body.contains(&format!("{left_out} of 18 selected drafts")), "{}", page.head);
    assert_eq!(page.body.matches(": it is not shown fully").count(), left_out);
    assert_eq!(page.body.matches("<details class=\"draft\">").count(), signed.len());
    assert!(page.body.len() < 3 << 20, "{} bytes", page.body.len());

    let many: Vec<String> = (0..101).map(|it| format!("TR-20260101-000000Z-{it}")).collect();
    let refused = get(port, &address(&many));
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.body.contains("at most 100 drafts"), "{refused:?}");
    for path in ["/batch?ids=x", "/batch?ids=../../etc/passwd", "/batch?ids=%00", "/batch?ids="] {
        let answer = get(port, path);
        assert!(answer.status == 404 && !answer.body.contains("passwd"), "{path}: {answer:?}");
    }
    let gone = get(port, "/batch?ids=TR-20260101-000000Z-none&by=%3Cb%3E");
    assert!(gone.body.contains("it is not a draft any more"), "{gone:?}");
    assert!(get(port, "/batch").body.contains("No draft is selected."));
}

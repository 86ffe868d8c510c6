//! Pages that change while a person looks at them: the output of a running tool, and the queue.

use std::time::Duration;

use toolexec_tests::{Bench, RequestText};

use super::approver::ApproverPage;
use super::scene::ConsoleScene;

const ENDED: &str =
    "document.getElementById('output-status').textContent.startsWith('The tool has ended.')";

#[test]
fn the_output_of_a_running_tool_is_followed() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "the_output_of_a_running_tool_is_followed";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    // It sleeps for longer than the browser waits for the first line.
    let script = "import time\nprint('<b>begun</b>', flush=True)\ntime.sleep(35)\nprint('ended')";
    let id = scene.draft(RequestText::python(script).time_sec(120)).id;
    page.open(&format!("/requests/{id}"));
    page.perform("approve");
    let running = scene.service.path(&format!("public/running/{id}.json"));
    scene.service.wait_for("the run", |_| running.exists());
    page.open(&format!("/requests/{id}"));
    let shown = "document.getElementById('output')?.textContent.includes";
    page.browser.wait_for(&format!("{shown}('<b>begun</b>') === true"));
    assert!(scene.service.records_of(&id).is_empty(), "the output was not shown during the run");
    scene.service.record_of(&id).assert_outcome("ok");
    page.browser.wait_for(&format!("{shown}('ended') === true"));
    page.browser.wait_for(ENDED);
    assert_eq!(page.browser.errors(), Vec::<String>::new());
}

#[test]
fn the_end_of_a_tool_leaves_the_message_of_an_action() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let test = "the_end_of_a_tool_leaves_the_message_of_an_action";
    let Some(page) = ApproverPage::enrolled(&scene, test) else { return };
    let script = "import time; time.sleep(100)";
    let id = scene.draft(RequestText::python(script).time_sec(120)).id;
    page.open(&format!("/requests/{id}"));
    page.perform("approve");
    let running = scene.service.path(&format!("public/running/{id}.json"));
    scene.service.wait_for("the run", |_| {
        std::fs::read_to_string(&running).is_ok_and(|text| text.contains("\"running\""))
    });
    // An order of the same second as the start has no effect.
    std::thread::sleep(Duration::from_millis(1100));
    page.open(&format!("/requests/{id}"));
    page.perform("cancel");
    page.browser.wait_for(ENDED);
    assert_eq!(page.status(), "Done: cancelled.");
    scene.service.record_of(&id).assert_outcome("cancelled");
}

/// A page that shows the queue shows a new draft by itself.
#[test]
fn the_queue_follows_the_spool() {
    let bench = Bench::new();
    let scene = ConsoleScene::start(&bench);
    let Some(page) = ApproverPage::enrolled(&scene, "the_queue_follows_the_spool") else { return };
    // A change before the stream has begun would be seen at the next one only.
    let settle = || std::thread::sleep(Duration::from_secs(2));
    page.open("/");
    settle();
    let id = scene.draft_that_prints("new").id;
    page.browser.wait_for(&format!("document.body.textContent.includes('{id}')"));
    settle();
    // A person who has selected something is not interrupted.
    page.click(&format!("input[name=ids][value=\"{id}\"]"));
    let other = scene.draft_that_prints("newer").id;
    page.browser.wait_for(
        "document.getElementById('status').textContent.startsWith('The queue has changed.')",
    );
    let shows_other = format!("document.body.textContent.includes('{other}')");
    assert_eq!(page.script(&shows_other), false);
    page.click(&format!("input[name=ids][value=\"{id}\"]"));
    page.script("location.reload()");
    page.browser.wait_for(&shows_other);
}

//! `toolexec notify`: each event is posted once, in each form, to receivers that fail in every way.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod confined;
mod failing;
mod limits;
mod receiver;
mod scene;

use std::fs::{self, File};
use std::time::Duration;

use model::Sha256;
use rustix::fs::{FlockOperation, flock};
use serde_json::json;
use toolexec_tests::{Bench, RequestText, Service, ServiceConfig, unused_port};

use receiver::{ReceivedPost, TestReceiver, url_of};
use scene::{EventSpool, NotifyProcess, notify_once};

const OLD: &str = "TR-20260209-160501Z-old";

/// Lets a draft become older than a draft that may still be written.
fn settle() {
    std::thread::sleep(Duration::from_millis(2500));
}

fn assert_json(post: &ReceivedPost, id: &str, sha256: &Sha256) {
    let mut line = post.json();
    let seen = line.as_object_mut().unwrap();
    let (at, host) = (seen.remove("at_utc").unwrap(), seen.remove("host").unwrap());
    assert!(at.as_str().unwrap().ends_with('Z') && !host.as_str().unwrap().is_empty());
    let expected = json!({
        "event": "draft", "request_id": id, "risk_class": "low", "sha256": sha256.to_string(),
        "words": model::digest_words(sha256),
    });
    assert_eq!(line, expected);
    assert!(post.body.ends_with('\n') && post.body.lines().count() == 1, "{post:?}");
    assert!(post.head.contains("content-type: application/json\r\n"), "{post:?}");
}

fn assert_ntfy(post: &ReceivedPost, id: &str, sha256: &Sha256) {
    for header in ["a draft waits for approval\r\n", "tags: draft\r\n", "priority: 4\r\n"] {
        assert!(post.head.contains(header), "{post:?}");
    }
    let words = model::digest_words(sha256).join(" ");
    assert!(post.body.starts_with(&format!("request: {id}\n")), "{post:?}");
    assert!(post.body.contains(&format!("words: {words}\n")), "{post:?}");
}

fn assert_slack(post: &ReceivedPost, id: &str, _: &Sha256) {
    let slack = post.json();
    let text = slack["text"].as_str().unwrap();
    assert!(text.contains(&format!(": a draft waits for approval\nrequest: {id}\n")), "{text}");
    assert_eq!(slack["mrkdwn"], false);
}

/// Checks a post about a draft with this id and digest.
type PostAssertion = fn(&ReceivedPost, &str, &Sha256);

#[test]
fn a_waiting_draft_is_posted_in_each_form_and_old_results_are_not() {
    let bench = Bench::new();
    let spool = EventSpool::new(&bench);
    spool.publish("20260209-161030Z", OLD, "ok");
    let draft = spool.draft(&RequestText::python("print(1)"));
    let sha256 = Sha256::of(&fs::read(&draft.path).unwrap());
    settle();
    let forms: [(&str, PostAssertion); 3] =
        [("json", assert_json), ("ntfy", assert_ntfy), ("slack", assert_slack)];
    for (form, assert_form) in forms {
        let receiver = TestReceiver::start();
        notify_once(&spool, &receiver.url(), &["--form", form]).assert_code(0);
        let posts = receiver.posts();
        let [post] = &posts[..] else { panic!("{form}: {posts:#?}") };
        assert_form(post, &draft.id, &sha256);
        let all = format!("{}{}", post.head, post.body).to_lowercase();
        assert!(
            !all.contains("a test") && !all.contains("script.py"),
            "text of the request: {all}"
        );
    }
}

#[test]
fn held_requests_results_and_a_dead_daemon_are_posted_once() {
    let bench = Bench::new();
    let spool = EventSpool::new(&bench);
    spool.publish("20260209-161030Z", OLD, "ok");
    let receiver = TestReceiver::start();
    let notify = NotifyProcess::start(&bench, &spool.path, &receiver.url(), &[]);
    notify.wait_for_state(&bench);
    spool.hold("TR-20260209-160502Z-held");
    receiver.wait_for(1);
    spool.publish("20260209-161031Z", "TR-20260209-160503Z-new", "wall_limit");
    receiver.wait_for(2);
    // An older name that is published later is a new result, too.
    spool.publish("20260209-161029Z", "TR-20260209-160504Z-late", "not an outcome");
    receiver.wait_for(3);
    // Without a lock, the daemon of this status is dead.
    spool.write_status(None);
    receiver.wait_for(4);
    std::thread::sleep(Duration::from_secs(1));
    let posts = receiver.posts();
    let facts: Vec<_> = posts
        .iter()
        .map(|post| post.json())
        .map(|line| [line["event"].clone(), line["request_id"].clone(), line["outcome"].clone()])
        .collect();
    let expected = [
        [json!("held"), json!("TR-20260209-160502Z-held"), json!(null)],
        [json!("ended"), json!("TR-20260209-160503Z-new"), json!("wall_limit")],
        [json!("ended"), json!("TR-20260209-160504Z-late"), json!("unreadable")],
        [json!("admission_stopped"), json!(null), json!(null)],
    ];
    assert_eq!(facts, expected, "{}", notify.log());
    assert!(posts.iter().all(|post| !post.body.contains("a secret message")));
}

#[test]
fn each_stop_of_admission_is_posted() {
    let bench = Bench::new();
    let spool = EventSpool::new(&bench);
    // The test holds the lock of a daemon.
    let lock = File::create(spool.path.join(".lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    spool.write_status(None);
    let receiver = TestReceiver::start();
    let options = ["--on", "stopped"];
    let _notify = NotifyProcess::start(&bench, &spool.path, &receiver.url(), &options);
    spool.hold("TR-20260209-160502Z-held");
    std::thread::sleep(Duration::from_secs(2));
    assert!(receiver.posts().is_empty(), "{:?}", receiver.posts());
    for count in 1..=2 {
        spool.write_status(Some("disk: the disk is full"));
        assert_eq!(receiver.wait_for(count)[count - 1].json()["event"], "admission_stopped");
        spool.write_status(None);
        std::thread::sleep(Duration::from_secs(2));
    }
    assert_eq!(receiver.posts().len(), 2);
}

#[test]
fn the_end_of_a_run_is_posted_with_the_digest_of_its_request() {
    let bench = Bench::new();
    let service = Service::start(&bench, &ServiceConfig::for_owner(&bench));
    let receiver = TestReceiver::start();
    let options = ["--on", "ends"];
    let notify = NotifyProcess::start(&bench, &service.spool(), &receiver.url(), &options);
    notify.wait_for_state(&bench);
    let request = service.submit(&RequestText::python("print(1)"));
    let bytes = fs::read(&request.path).unwrap();
    service.record_of(&request.id).assert_outcome("ok");
    let line = receiver.wait_for(1)[0].json();
    assert_eq!((&line["event"], &line["outcome"]), (&json!("ended"), &json!("ok")));
    assert_eq!(line["request_id"], json!(request.id));
    assert_eq!(line["sha256"], json!(Sha256::of(&bytes).to_string()));
    assert!(line.get("words").is_none(), "{line}");
}

#[test]
fn text_is_sent_only_with_the_option_and_markup_is_escaped() {
    let bench = Bench::new();
    let spool = EventSpool::new(&bench);
    let text = RequestText::python("print(1)").line("purpose", "\"Mean & *median* of x.\"");
    spool.draft(&text);
    // A control character, written as YAML escapes it.
    spool.draft(&RequestText::python("print(2)").line("purpose", "\"Of \\e[2J x.\""));
    settle();
    let receiver = TestReceiver::start();
    let options = ["--with-text", "--form"];
    notify_once(&spool, &receiver.url(), &[&options[..], &["json"]].concat()).assert_code(0);
    notify_once(&spool, &receiver.url(), &[&options[..], &["slack"]].concat()).assert_code(0);
    let posts = receiver.posts();
    assert_eq!(posts.len(), 4, "{posts:#?}");
    let has_control = |body: &str| body.contains('\u{1b}') || body.contains("\\u001b");
    assert!(!posts.iter().any(|post| has_control(&post.body)), "{posts:#?}");
    let line = posts.iter().map(|post| &post.body).find(|body| body.contains("\"purpose\":\"Mean"));
    let line: serde_json::Value = serde_json::from_str(line.unwrap()).unwrap();
    assert_eq!(line["purpose"], "Mean & *median* of x.");
    assert_eq!(line["command"], "python script.py");
    let escaped = |body: &str| body.contains("purpose: Mean &amp; *median*");
    assert_eq!(posts.iter().filter(|post| escaped(&post.body)).count(), 1, "{posts:#?}");
}

#[test]
fn an_event_is_delivered_once_when_the_receiver_returns_and_not_again_after_a_restart() {
    let bench = Bench::new();
    let spool = EventSpool::new(&bench);
    let port = unused_port();
    let first = spool.draft(&RequestText::python("print(1)"));
    let notify = NotifyProcess::start(&bench, &spool.path, &url_of(port), &[]);
    notify.wait_for_message("cannot be reached");
    let receiver = TestReceiver::at(port);
    let posts = receiver.wait_for(1);
    assert_eq!(posts[0].json()["request_id"], json!(first.id));
    // The state is written right after the answer.
    std::thread::sleep(Duration::from_secs(1));
    drop(notify);
    let second = spool.draft(&RequestText::python("print(2)"));
    let notify = NotifyProcess::start(&bench, &spool.path, &url_of(port), &[]);
    let posts = receiver.wait_for(2);
    assert_eq!(posts[1].json()["request_id"], json!(second.id));
    // A changed draft is announced again, with its new digest.
    let changed = fs::read_to_string(&second.path).unwrap().replace("A test.", "Another test.");
    fs::write(&second.path, &changed).unwrap();
    let posts = receiver.wait_for(3);
    assert_eq!(posts[2].json()["sha256"], json!(Sha256::of(changed.as_bytes()).to_string()));
    std::thread::sleep(Duration::from_secs(6));
    assert_eq!(receiver.posts().len(), 3, "{}", notify.log());
}

#[test]
fn a_file_that_is_not_a_state_is_refused_and_stays() {
    let bench = Bench::new();
    let spool = EventSpool::new(&bench);
    let other = bench.home().join("notes");
    fs::write(&other, "my notes\n").unwrap();
    let modified = || fs::metadata(&other).unwrap().modified().unwrap();
    let before = modified();
    let output = notify_once(&spool, &url_of(1), &["--state", "notes"]);
    output.assert_code(3);
    output.assert_stderr(&["notes: not a state file", "help: "]);
    assert_eq!(fs::read_to_string(&other).unwrap(), "my notes\n");
    assert_eq!(modified(), before);
}

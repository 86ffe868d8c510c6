//! Receivers that fail, and addresses that must stay secret.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use toolexec_tests::{Bench, RequestText, timing, unused_port};

use super::receiver::{ReceiverAnswer, SECRET, TestReceiver, url_of};
use super::scene::{EventSpool, NotifyProcess, notify_once};
use super::settle;

#[test]
fn errors_are_retried_and_refusals_are_not() {
    let bench = Bench::new();
    let spool = EventSpool::new(&bench);
    let receiver = TestReceiver::start();
    let later = ReceiverAnswer::With(429, "Retry-After: 4".to_owned());
    receiver.answer([ReceiverAnswer::Status(500), later]);
    let notify = NotifyProcess::start(&bench, &spool.path, &receiver.url(), &[]);
    let first = spool.draft(&RequestText::python("print(1)"));
    let posts = receiver.wait_for(3);
    assert!(posts.iter().all(|post| post.json()["request_id"] == json!(first.id)), "{posts:#?}");
    assert!(posts[2].at - posts[1].at >= Duration::from_secs(4), "{posts:#?}");
    for message in ["answers with status 500", "answers with status 429", "next attempt in 4 s"] {
        assert!(notify.log().contains(message), "{}", notify.log());
    }

    receiver.answer([ReceiverAnswer::Status(404)]);
    let refused = spool.draft(&RequestText::python("print(2)"));
    notify.wait_for_message("refuses the event with status 404");
    let next = spool.draft(&RequestText::python("print(3)"));
    let posts = receiver.wait_for(5);
    assert_eq!(posts[3].json()["request_id"], json!(refused.id));
    assert_eq!(posts[4].json()["request_id"], json!(next.id));
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(receiver.posts().len(), 5);
}

#[test]
fn an_event_of_a_request_that_no_longer_waits_is_left_out() {
    let bench = Bench::new();
    let spool = EventSpool::new(&bench);
    let port = unused_port();
    let gone = spool.draft(&RequestText::python("print(1)"));
    let notify = NotifyProcess::start(&bench, &spool.path, &url_of(port), &[]);
    notify.wait_for_message("cannot be reached");
    fs::remove_file(&gone.path).unwrap();
    let stays = spool.draft(&RequestText::python("print(2)"));
    settle();
    let receiver = TestReceiver::at(port);
    receiver.wait_for(1);
    std::thread::sleep(Duration::from_secs(2));
    let posts = receiver.posts();
    assert_eq!(posts.len(), 1, "{posts:#?}");
    assert_eq!(posts[0].json()["request_id"], json!(stays.id));
}

#[test]
fn a_silent_receiver_is_given_up_and_tried_again() {
    let bench = Bench::new();
    let spool = EventSpool::new(&bench);
    let receiver = TestReceiver::start();
    receiver.answer([ReceiverAnswer::Silence]);
    spool.draft(&RequestText::python("print(1)"));
    let notify = NotifyProcess::start(&bench, &spool.path, &receiver.url(), &[]);
    notify.wait_for_message("has not answered within 10 s");
    let posts = receiver.wait_for(2);
    assert_eq!(posts[0].body, posts[1].body);
}

#[test]
fn an_endless_answer_is_not_read() {
    let bench = Bench::new();
    let spool = EventSpool::new(&bench);
    let receiver = TestReceiver::start();
    receiver.answer([ReceiverAnswer::EndlessBody, ReceiverAnswer::EndlessBody]);
    let notify = NotifyProcess::start(&bench, &spool.path, &receiver.url(), &[]);
    spool.draft(&RequestText::python("print(1)"));
    receiver.wait_for(1);
    spool.draft(&RequestText::python("print(2)"));
    receiver.wait_for(2);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(receiver.posts().len(), 2, "{}", notify.log());
    let kib = timing::rss_kib(notify.pid());
    // A process that has ended has 0 KiB.
    assert!((1..100 * 1024).contains(&kib), "{kib} KiB: {}", notify.log());
}

#[test]
fn a_redirect_is_not_followed() {
    let bench = Bench::new();
    let spool = EventSpool::new(&bench);
    let (receiver, other) = (TestReceiver::start(), TestReceiver::start());
    spool.draft(&RequestText::python("print(1)"));
    settle();
    for status in [301, 302, 303, 307, 308] {
        receiver.answer([ReceiverAnswer::With(status, format!("Location: {}", other.url()))]);
        let output = notify_once(&spool, &receiver.url(), &[]);
        output.assert_code(1);
        output.assert_stderr(&[&format!("status {status}, a redirect, which is not followed")]);
        assert!(!output.stderr.contains(SECRET), "{output:#?}");
    }
    assert_eq!((receiver.posts().len(), other.posts().len()), (5, 0));
}

#[test]
fn no_message_has_the_address() {
    let bench = Bench::new();
    let spool = EventSpool::new(&bench);
    spool.draft(&RequestText::python("print(1)"));
    settle();
    let receiver = TestReceiver::start();
    let no_tls = format!("https://localhost:{}/{SECRET}", receiver.port());
    // A host without certificate authorities refuses an https:// address.
    let authorities = Path::new("/etc/ssl/certs/ca-certificates.crt").exists();
    let tls = if authorities { (1, "the receiver ") } else { (3, "no certificate authorities") };
    let cases = [
        (url_of(unused_port()), 1, "cannot be reached"),
        (no_tls, tls.0, tls.1),
        (format!("https://{SECRET}.invalid/{SECRET}"), tls.0, tls.1),
        (format!("http://{SECRET}.example/"), 3, "--allow-http"),
        (format!("{SECRET}\nhttps://b.example"), 3, "not one https:// address"),
        (format!("https://{SECRET}.example/{}", "x".repeat(4000)), 3, "help: "),
    ];
    for (url, code, message) in cases {
        let output = notify_once(&spool, &url, &[]);
        output.assert_code(code);
        output.assert_stderr(&[message]);
        let shown = format!("{}{}", output.stdout, output.stderr);
        assert!(!shown.contains(SECRET), "{output:#?}");
    }
    let spool = spool.path.to_str().unwrap();
    let typed = format!("http://{SECRET}.example/");
    let output = bench.toolexec(["notify", "--once", "--spool", spool, "--to", &typed]);
    output.assert_code(3);
    output.assert_stderr(&["--to: ", "--allow-http"]);
    assert!(!output.stderr.contains(SECRET), "{output:#?}");
}

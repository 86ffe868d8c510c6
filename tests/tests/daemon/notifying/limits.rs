//! The limits of posts: a flood of drafts, and a draft that changes again and again.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use model::Sha256;
use serde_json::json;
use toolexec_tests::{Bench, RequestText};

use super::receiver::TestReceiver;
use super::scene::{EventSpool, NotifyProcess};
use super::settle;

#[test]
fn a_flood_of_drafts_is_summed_up_after_sixty_posts_and_loses_none() {
    let bench = Bench::new();
    let spool = EventSpool::new(&bench);
    for number in 0..63 {
        spool.draft(&RequestText::python(&format!("print({number})")));
    }
    settle();
    let receiver = TestReceiver::start();
    let notify = NotifyProcess::start(&bench, &spool.path, &receiver.url(), &[]);
    let posts = receiver.wait_for(61);
    let sum = posts[60].json();
    assert_eq!((&sum["event"], &sum["count"]), (&json!("more_wait"), &json!(3)), "{sum}");
    notify.wait_for_message("the limit of posts within a minute is reached");
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(receiver.posts().len(), 61, "{}", notify.log());
    // The others follow; here after a restart, which begins another minute.
    drop(notify);
    let _notify = NotifyProcess::start(&bench, &spool.path, &receiver.url(), &[]);
    let posts = receiver.wait_for(64);
    let lines = posts.iter().map(|post| post.json()).filter(|line| line["event"] == "draft");
    let ids: BTreeSet<String> = lines.map(|line| line["request_id"].to_string()).collect();
    assert_eq!(ids.len(), 63, "{ids:?}");
}

#[test]
fn a_draft_that_changes_again_and_again_is_posted_with_its_last_version() {
    let bench = Bench::new();
    let spool = EventSpool::new(&bench);
    let draft = spool.draft(&RequestText::python("print(1)"));
    let receiver = TestReceiver::start();
    let notify = NotifyProcess::start(&bench, &spool.path, &receiver.url(), &[]);
    receiver.wait_for(1);
    let first = fs::read_to_string(&draft.path).unwrap();
    let mut last = String::new();
    for purpose in ["A second test.", "A third test."] {
        last = first.replace("A test.", purpose);
        fs::write(&draft.path, &last).unwrap();
        settle();
    }
    let posts = receiver.wait_for(2);
    assert_eq!(posts[1].json()["sha256"], json!(Sha256::of(last.as_bytes()).to_string()));
    let between = posts[1].at - posts[0].at;
    assert!(between >= Duration::from_secs(10), "{between:?}: {}", notify.log());
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(receiver.posts().len(), 2, "{}", notify.log());
}

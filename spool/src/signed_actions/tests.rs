//! Tests of the limits of a look, which a daemon does not show.

#![allow(clippy::disallowed_methods, reason = "files of a test")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use model::UtcTime;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::*;
use crate::error::SpoolError;

const NOTHING: [String; 0] = [];

struct ActionInboxScene {
    top: PathBuf,
    inbox: SignedActionInbox,
}

impl Drop for ActionInboxScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.top).unwrap();
    }
}

impl ActionInboxScene {
    fn new(name: &str) -> Self {
        let top = std::env::temp_dir().join(format!("signed-{name}-{}", std::process::id()));
        fs::create_dir_all(top.join("signed")).unwrap();
        let inbox = SignedActionInbox::open(&top).unwrap().unwrap();
        Self { top, inbox }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.join("signed").join(name)
    }

    fn add(&self, name: &str, content: &str) {
        fs::write(self.path(name), content).unwrap();
    }

    fn look(&mut self) -> SignedActionLook {
        self.inbox.look(now()).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.top.join("signed")).unwrap();
        let mut names: Vec<String> =
            entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn now() -> UtcTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    UtcTime::from_unix(i64::try_from(since).unwrap())
}

fn stems(look: &SignedActionLook) -> Vec<&str> {
    look.actions.iter().map(|it| it.stem.as_str()).collect()
}

#[test]
fn without_the_directory_nothing_is_delivered() {
    let top = std::env::temp_dir().join(format!("signed-none-{}", std::process::id()));
    fs::create_dir_all(&top).unwrap();
    assert!(SignedActionInbox::open(&top).unwrap().is_none());
    fs::remove_dir(&top).unwrap();
}

#[test]
fn an_answer_takes_the_place_of_its_action() {
    let mut scene = ActionInboxScene::new("answer");
    scene.add("a.action", "one");
    let look = scene.look();
    assert_eq!((stems(&look), look.is_complete), (vec!["a"], true));
    assert_eq!(look.actions[0].content.as_ref().unwrap(), b"one");
    let age_sec = now().unix() - look.actions[0].delivered.unix();
    assert!((0..60).contains(&age_sec), "{age_sec}");
    scene.inbox.answer("a", &SignedActionAnswer::taken()).unwrap();
    assert_eq!(scene.names(), ["a.answer"]);
    let path = scene.path("a.answer");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"taken\":true,\"reason\":null}\n");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    // A later answer replaces it, and its reason is bounded.
    scene.add("a.action", "one");
    scene.inbox.answer("a", &SignedActionAnswer::refused(&"x".repeat(9000))).unwrap();
    let answer: SignedActionAnswer = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!((answer.taken, answer.reason.unwrap().len()), (false, 2000));
    assert_eq!(stems(&scene.look()), Vec::<&str>::new());
}

#[test]
fn objects_that_are_no_plain_files_are_never_read() {
    let mut scene = ActionInboxScene::new("odd");
    scene.add("outside", "secret");
    symlink(scene.path("outside"), scene.path("link.action")).unwrap();
    fs::hard_link(scene.path("outside"), scene.path("hard.action")).unwrap();
    let fifo = scene.path("fifo.action");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    scene.add("huge.action", &"x".repeat(policies::SIGNED_ACTION_BYTES_MAX + 1));
    fs::create_dir(scene.path("empty.action")).unwrap();
    fs::create_dir_all(scene.path("full.action/inside")).unwrap();
    for name in [".action", "a b.action", "\u{e4}.action", "a.action.md", "..action"] {
        scene.add(name, "x");
    }
    let look = scene.look();
    let mut refused: Vec<(&str, bool)> = look
        .actions
        .iter()
        .map(|it| {
            let error = it.content.as_ref().unwrap_err();
            let is_large = matches!(error, SpoolError::TooLarge { .. });
            assert!(is_large || matches!(error, SpoolError::FileKind { .. }), "{error}");
            (it.stem.as_str(), is_large)
        })
        .collect();
    refused.sort_unstable();
    assert_eq!(refused, [("fifo", false), ("hard", false), ("huge", true), ("link", false)]);
    for action in &look.actions {
        scene.inbox.answer(&action.stem, &SignedActionAnswer::refused("odd")).unwrap();
    }
    assert_eq!(fs::read_to_string(scene.path("outside")).unwrap(), "secret");
    let left: Vec<String> =
        scene.names().into_iter().filter(|it| it.ends_with(".action")).collect();
    assert_eq!(left, ["..action", ".action", "a b.action", "full.action", "\u{e4}.action"]);
    assert_eq!(stems(&scene.look()), Vec::<&str>::new());
}

#[test]
fn a_flood_delays_no_new_action() {
    let mut scene = ActionInboxScene::new("flood");
    for number in 0..1000 {
        scene.add(&format!("n{number}.action"), "");
        scene.add(&format!("other{number}"), "");
    }
    // Later than the resolution of the times of files.
    std::thread::sleep(std::time::Duration::from_millis(50));
    scene.add("good.action", "x");
    let look = scene.look();
    assert_eq!(look.actions.len(), 64);
    assert_eq!(look.actions.last().unwrap().stem, "good");
    assert!(!look.is_complete);
    let mut looks = 0;
    loop {
        let look = scene.look();
        if look.actions.is_empty() && look.is_complete {
            break;
        }
        for action in look.actions {
            scene.inbox.answer(&action.stem, &SignedActionAnswer::refused("empty")).unwrap();
        }
        looks += 1;
    }
    assert_eq!(looks, 16);
}

#[test]
fn few_and_recent_answers_are_kept() {
    let mut scene = ActionInboxScene::new("prune");
    for number in 0..1100 {
        scene.add(&format!("n{number}.answer"), "{}");
    }
    scene.add(".n.answer.new-1", "");
    assert!(scene.look().is_complete);
    assert_eq!(scene.names().len(), 1001);
    let in_an_hour = UtcTime::from_unix(now().unix() + 3700);
    // A look removes a limited number.
    for _ in 0..5 {
        assert!(scene.inbox.look(in_an_hour).unwrap().is_complete);
    }
    assert_eq!(scene.names(), NOTHING);
}

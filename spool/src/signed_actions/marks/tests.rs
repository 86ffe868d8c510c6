//! Tests of the marks of taken actions: of their order in time, and of files that are not whole.

#![allow(clippy::disallowed_methods, reason = "files of a test")]

use std::fs;

use model::Sha256;
use policies::{ActionDocument, SignedActionKind};

use super::*;

const START: i64 = 1_800_000_000;

struct MarkScene(PathBuf);

impl Drop for MarkScene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

impl MarkScene {
    fn new(name: &str) -> Self {
        let top = std::env::temp_dir().join(format!("marks-{name}-{}", std::process::id()));
        fs::create_dir_all(&top).unwrap();
        Self(top)
    }

    fn open(&self) -> Result<SignedActionMarks, SpoolError> {
        SignedActionMarks::in_state(&self.0)
    }

    fn file(&self) -> PathBuf {
        self.0.join(MARKS_FILE)
    }
}

fn at(second: i64) -> UtcTime {
    UtcTime::from_unix(START + second)
}

/// The approval of the documents with these numbers.
fn approval(second: i64, numbers: std::ops::Range<usize>) -> SignedActionTerms {
    let document = |number: usize| ActionDocument {
        sha256: Some(Sha256::of(b"x")),
        target: format!("TR-20260209-160501Z-n{number}").parse().unwrap(),
    };
    let by = Some("alice".parse().unwrap());
    let documents = numbers.map(document).collect();
    SignedActionTerms::new(SignedActionKind::Approve, by, Some(at(second)), documents).unwrap()
}

#[test]
fn a_mark_holds_after_a_restart_and_is_never_lowered() {
    let scene = MarkScene::new("restart");
    let mut marks = scene.open().unwrap();
    assert_eq!(marks.until(&approval(0, 0..3)), None);
    marks.mark(&approval(0, 0..1), at(5)).unwrap();
    // The clock of the second signer is ahead.
    marks.mark(&approval(60, 1..2), at(6)).unwrap();
    for marks in [marks, scene.open().unwrap()] {
        assert_eq!(marks.until(&approval(0, 0..1)), Some(at(5)));
        assert_eq!(marks.until(&approval(0, 0..3)), Some(at(60)));
        assert_eq!(marks.until(&approval(0, 2..3)), None);
    }
    let mut marks = scene.open().unwrap();
    marks.mark(&approval(0, 1..2), at(7)).unwrap();
    assert_eq!(scene.open().unwrap().until(&approval(0, 1..2)), Some(at(60)));
}

#[test]
fn a_document_that_was_not_placed_keeps_its_earlier_mark() {
    let scene = MarkScene::new("back");
    let mut marks = scene.open().unwrap();
    marks.mark(&approval(0, 0..1), at(0)).unwrap();
    let both = approval(9, 0..2);
    marks.mark(&both, at(9)).unwrap();
    both.documents().iter().for_each(|named| marks.take_back(&named.target));
    assert_eq!(marks.until(&approval(0, 0..1)), Some(at(0)));
    assert_eq!(marks.until(&approval(0, 1..2)), None);
    // A daemon that was killed before the next mark has both.
    assert_eq!(scene.open().unwrap().until(&approval(0, 1..2)), Some(at(9)));
}

#[test]
fn marks_are_forgotten_when_no_approval_is_that_old() {
    let scene = MarkScene::new("age");
    let mut marks = scene.open().unwrap();
    marks.mark(&approval(0, 0..1), at(0)).unwrap();
    marks.mark(&approval(900, 1..2), at(900)).unwrap();
    assert_eq!(marks.until(&approval(0, 0..1)), Some(at(0)));
    marks.mark(&approval(901, 2..3), at(901)).unwrap();
    assert_eq!(scene.open().unwrap().until(&approval(0, 0..1)), None);
    assert_eq!(fs::read_to_string(scene.file()).unwrap().lines().count(), 2);
}

#[test]
fn a_full_file_takes_no_more() {
    let scene = MarkScene::new("full");
    let line = |number| format!("TR-20260209-160501Z-n{number} {}\n", at(0));
    let lines: String = (0..MARKS_MAX).map(line).collect();
    fs::write(scene.file(), &lines).unwrap();
    let mut marks = scene.open().unwrap();
    let error = marks.mark(&approval(1, MARKS_MAX..MARKS_MAX + 1), at(1)).unwrap_err();
    assert!(error.to_string().contains("too many signed actions"), "{error}");
    assert!(!error.is_momentary());
    assert_eq!(fs::read_to_string(scene.file()).unwrap(), lines);
    marks.mark(&approval(901, MARKS_MAX..MARKS_MAX + 1), at(901)).unwrap();
    assert_eq!(scene.open().unwrap().marks.len(), 1);
}

#[test]
fn a_file_that_is_not_whole_is_refused() {
    let scene = MarkScene::new("torn");
    let whole = format!("TR-20260209-160501Z-n1 {}\n", at(0));
    for text in ["", "\n", "torn\n", whole.trim_end(), &format!("{whole}\n"), "x y\n"] {
        fs::write(scene.file(), text).unwrap();
        let error = scene.open().unwrap_err();
        assert!(error.to_string().contains("help: remove it"), "{text:?}: {error}");
    }
    fs::write(scene.file(), &whole).unwrap();
    scene.open().unwrap();
    fs::remove_file(scene.file()).unwrap();
    fs::create_dir(scene.file()).unwrap();
    assert!(scene.open().is_err());
    // A mark that cannot be written is not kept.
    let marks = BTreeMap::new();
    let mut marks = SignedActionMarks { path: scene.file(), marks };
    assert!(marks.mark(&approval(0, 0..1), at(0)).is_err());
    assert_eq!(marks.until(&approval(0, 0..1)), None);
}

//! Compares the text of every error of this crate with `tests/snapshots/messages/cli.txt`. Every
//! error that a test can construct must be listed.

#[path = "../../tests/snapshots/messages.rs"]
mod shared;

use shared::{assert_texts, denied, every, path};

use crate::failure::Failure;

#[test]
fn error_texts_match_the_snapshot() {
    let said = "no trusted key".to_owned();
    let texts = every!(Failure: Io(path(), denied()), TooLarge(path(), 1024), Message(said));
    assert_texts("cli", vec![texts]);
}

//! Compares every error text that a test can construct with `tests/snapshots/messages/cli.txt`.

#[path = "../../tests/snapshots/messages.rs"]
mod shared;

use shared::{assert_texts, denied, every, path};

use crate::failure::Failure;

#[test]
fn error_texts_match_the_snapshot() {
    let output = "no trusted key".to_owned();
    let texts = every!(Failure: Io(path(), denied()), TooLarge(path(), 1024), Message(output));
    assert_texts("cli", vec![texts]);
}

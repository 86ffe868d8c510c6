//! Compares every error text of this crate with `tests/snapshots/messages/validator.txt`.

#[path = "../../tests/snapshots/messages.rs"]
mod shared;

use model::{RequestId, ResultId, Sha256, UtcTime};
use shared::{assert_texts, every, refused};

use crate::{Draft, FillError, JsonError, NotReprintable, OneLine, OwnerUid};

#[test]
fn error_messages_match_the_snapshot() {
    let large = vec![b' '; 4 << 20];
    assert_texts(
        "validator",
        vec![
            vec![
                refused("NotASha256", "x".parse::<Sha256>()),
                refused("NotAnId, of a request", "x".parse::<RequestId>()),
                refused("NotAnId, of a result", "x".parse::<ResultId>()),
                refused("TooLarge", Draft::new(large, "x.md", OwnerUid::new(0))),
                ("NotReprintable", NotReprintable.to_string()),
                refused("NotOneLine, by its end", "a\nb".parse::<OneLine>()),
                refused("NotOneLine, by a character", "a\u{7}b".parse::<OneLine>()),
                refused("NotATime", "x".parse::<UtcTime>()),
            ],
            every!(FillError: FrontMatter, Missing("approved_by"), UnsupportedForm("approved_by")),
            every!(JsonError:
                TooLarge { bytes_max: 1024 },
                Malformed { line: 7, message: "key must be a string".to_owned() },
                NumberTooLarge("9007199254740993".to_owned()),
            ),
        ],
    );
}

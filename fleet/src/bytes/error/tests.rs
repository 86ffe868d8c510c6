//! Messages and classes of errors.

use model::Sha256;

use super::ByteStoreError;
use crate::bytes::fault::{FolderTarFault, ManifestFault, ManifestProblem, StoreAddressFault};
use crate::foreign_text::foreign_line;

#[test]
fn a_message_has_help_and_stays_on_one_line() {
    let sha256 = Sha256::of(b"");
    let problem = ManifestProblem::of("a\nb", ManifestFault::Nested);
    let errors = [
        ByteStoreError::Unread("x: a symbolic link".to_owned()),
        ByteStoreError::Address {
            address: "memory:///\u{202e}".to_owned(),
            fault: StoreAddressFault::Scheme,
        },
        ByteStoreError::Store {
            store: "s3://b".to_owned(),
            act: "fetch",
            problem: foreign_line("<xml>\n\t\u{7}"),
        },
        ByteStoreError::Missing { sha256, store: "the database".to_owned() },
        ByteStoreError::Unpackable(problem.clone()),
        ByteStoreError::Manifest { sha256, problem },
        ByteStoreError::Folder {
            folder: "a/".to_owned(),
            entry: "b\nc".to_owned(),
            fault: FolderTarFault::HardLink,
        },
    ];
    for error in errors {
        let text = error.to_string();
        assert_eq!(text.matches("; help: ").count(), 1, "{text}");
        assert!(!text.chars().any(char::is_control), "{text:?}");
    }
}

#[test]
fn wrong_bytes_are_a_defect_and_an_unreachable_store_is_not() {
    let sha256 = Sha256::of(b"");
    let wrong = ByteStoreError::Wrong { sha256, found: sha256, store: "s".to_owned() };
    assert!(wrong.is_defect());
    let silent =
        ByteStoreError::Store { store: "s".to_owned(), act: "fetch", problem: String::new() };
    assert!(!silent.is_defect());
    let large = ByteStoreError::TooLarge { name: "n".to_owned(), bytes_max: 64 };
    assert!(!large.is_defect() && large.to_string().contains("--store"), "{large}");
}

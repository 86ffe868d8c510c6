//! Comparison with the texts in `tests/snapshots/`. A mismatch fails and shows the different lines;
//! `SNAPSHOTS=overwrite` rewrites the file. It must never compare less than the whole text.

use snapbox::Data;
use snapbox::data::DataFormat;

use crate::programs::workspace;

/// Compares a text with a file in `tests/snapshots/`.
#[track_caller]
pub fn assert_snapshot(name: &str, text: &str) {
    let file = workspace().join("tests/snapshots").join(name);
    let expected = Data::read_from(&file, Some(DataFormat::Text));
    snapbox::assert_data_eq!(text.to_owned(), expected.raw());
}

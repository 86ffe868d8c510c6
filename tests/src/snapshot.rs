//! Texts that are kept in `tests/snapshots/`. A difference fails and shows the lines that differ;
//! `SNAPSHOTS=overwrite` writes the file again. It must never compare less than the whole text.

use snapbox::Data;
use snapbox::data::DataFormat;

use crate::programs::workspace;

/// Compares a text with the file of this name below `tests/snapshots/`.
#[track_caller]
pub fn assert_snapshot(name: &str, text: &str) {
    let file = workspace().join("tests/snapshots").join(name);
    let expected = Data::read_from(&file, Some(DataFormat::Text));
    snapbox::assert_data_eq!(text.to_owned(), expected.raw());
}

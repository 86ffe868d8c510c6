//! A document with an empty approval filled in, so that the text is evaluated that will be signed.
//! Every other byte must stay the same.

use model::UtcTime;
use validator::{FillError, OneLine};

use crate::clock;

pub(super) struct FilledDocument {
    pub(super) bytes: Vec<u8>,
    /// The approval keys that are empty in the file, or the reason why they cannot be filled in.
    pub(super) filled: Result<Vec<&'static str>, FillError>,
    /// The filled-in keys for which no approver is known yet.
    pub(super) filled_on_approval: Vec<&'static str>,
}

impl FilledDocument {
    /// Fills in this approver and time, or placeholders.
    pub(super) fn of(original: &[u8], approver: Option<(&OneLine, UtcTime)>) -> Self {
        let filled = match approver {
            Some((by, at)) => validator::fill_approval(original, by, at),
            None => validator::fill_placeholder_approval(original, clock::now()),
        };
        let (bytes, filled) = match filled {
            Ok(filled) => (filled.bytes, Ok(filled.keys)),
            Err(why) => (original.to_vec(), Err(why)),
        };
        let filled_on_approval = match (approver, &filled) {
            (None, Ok(keys)) => keys.clone(),
            (None, Err(_)) | (Some(_), _) => Vec::new(),
        };
        Self { bytes, filled, filled_on_approval }
    }
}

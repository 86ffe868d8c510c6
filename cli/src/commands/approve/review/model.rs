//! The choices of a review: the amount of input text to show, and the verdict. Also the file that
//! was shown, which a signature covers.

use std::path::Path;
use std::process::ExitCode;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputTexts {
    None,
    Beginnings,
    Whole,
}

model::closed_set! {
    /// The verdict on a request or a standing approval.
    pub(crate) enum ReviewVerdict {
        Ready = "ready",
        Pending = "pending",
        Refused = "refused",
    }
}

impl ReviewVerdict {
    /// Returns the exit status of a review: 2 if the document would be refused.
    pub(super) fn exit_code(self) -> ExitCode {
        match self {
            Self::Ready | Self::Pending => ExitCode::SUCCESS,
            Self::Refused => ExitCode::from(2),
        }
    }
}

/// A document as it was shown to its approver.
#[derive(Clone, Copy)]
pub(crate) struct ShownFile<'a> {
    pub(crate) path: &'a Path,
    /// The file, unchanged.
    pub(crate) original: &'a [u8],
    /// The file with an empty approval filled in, which is signed.
    pub(crate) bytes: &'a [u8],
}

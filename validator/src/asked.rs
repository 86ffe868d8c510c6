//! The demands of the surroundings on a document, beside its own text.

use model::UtcTime;

use crate::violation::Severity;

/// The demands on the approval and the file name.
pub(crate) struct Asked<'a> {
    pub(crate) file_name: &'a str,
    pub(crate) file_name_severity: Severity,
    pub(crate) approval_severity: Severity,
    pub(crate) now: UtcTime,
    pub(crate) words: Words,
}

/// The treatment of the rules about what a document says to its reader: they grow stricter with every version.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Words {
    Judged,
    /// It was judged by the version that ran it.
    Passed,
}

//! Requirements on a document that do not come from its own text.

use model::UtcTime;

use crate::violation::Severity;

/// Requirements on the approval and the file name of a document.
pub(crate) struct CheckContext<'a> {
    pub(crate) file_name: &'a str,
    pub(crate) file_name_severity: Severity,
    pub(crate) approval_severity: Severity,
    pub(crate) now: UtcTime,
    pub(crate) prose_rules: ProseRules,
}

/// Enforcement of the rules about instructions to a reader. They grow stricter with every version.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProseRules {
    Enforced,
    /// The version that ran the document checked it.
    Skipped,
}

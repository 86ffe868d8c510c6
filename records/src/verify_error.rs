//! Verification failures, one per line: the object, then the problem. All text is escaped.

use std::fmt;

use model::{Sha256, UtcTime, escape_line};

use crate::attestation::RecordBundleError;
use crate::log::ProofError;
use crate::verify::{ApprovalProblem, Conflict, HistoryError};

/// The reason why a signature does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignatureProblem {
    /// Not an SSH signature.
    NotASignature,
    /// A signature in another namespace.
    Namespace { found: String },
    /// A signature by a key that is not trusted.
    NotTrusted { fingerprint: String },
    /// A signature over other bytes.
    OtherBytes,
    /// A trusted key that does not count for the time of the record.
    OutsideValidity { fingerprint: String, made: UtcTime },
}

impl fmt::Display for SignatureProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotASignature => f.write_str("not an SSH signature"),
            Self::Namespace { found } => write!(f, "made for `{found}`, not for results"),
            Self::NotTrusted { fingerprint } => {
                write!(f, "names key {fingerprint}, which is not trusted")
            }
            Self::OtherBytes => {
                f.write_str("does not verify: the record or its signature was changed")
            }
            Self::OutsideValidity { fingerprint, made } => {
                write!(f, "key {fingerprint} is not trusted at the time of the record, {made}")
            }
        }
    }
}

/// A problem of a result directory. Paths are relative to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerifyError {
    /// The directory itself cannot be read.
    Directory { path: String, problem: String },
    /// The name of the directory is not the id of its record.
    DirectoryName { found: String, result_id: String },
    /// The record is not a valid result.
    Record { file: String, problem: String },
    /// The record's signature does not verify.
    Signature { file: String, problem: SignatureProblem },
    /// The bundle does not verify.
    Bundle { file: String, problem: RecordBundleError },
    /// The `.tlog-proof` does not prove the entry of the bundle.
    Proof { file: String, problem: ProofError },
    /// Statement and record differ about a file, or only one of them names it.
    Subject { file: String, path: String },
    /// The record's front matter differs from the statement.
    FactsDiffer { file: String, keys: Vec<String> },
    /// The record contradicts itself.
    Inconsistency { file: String, what: String },
    /// An approval that the record states is missing or does not verify.
    Approval {
        file: String,
        /// The principal of the approval.
        approval: String,
        problem: ApprovalProblem,
    },
    /// The record's place in the log does not verify.
    History { file: String, problem: HistoryError },
    /// Two records that cannot both be true. `with` is the path of the other one.
    Conflict { clash: Conflict, with: String },
    /// A file has another digest than the record states.
    Digest { path: String, found: Sha256, stated: Sha256 },
    /// A file that the record names does not exist.
    Missing { path: String },
    /// The record does not name this file.
    NotNamed { path: String },
    /// Something that is neither a regular file nor a directory.
    FileType { path: String, kind: &'static str },
    /// A file cannot be read.
    Unreadable { path: String, problem: String },
    /// A file exceeds its size limit.
    TooLarge { path: String, bytes_max: u64 },
    /// More or deeper entries than any record has.
    TooMany { path: String },
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| escape_line(text);
        match self {
            Self::Directory { path, problem } => write!(f, "{}: {}", shown(path), shown(problem)),
            Self::DirectoryName { found, result_id } => {
                write!(f, "{}: not named like its record {}", shown(found), shown(result_id))
            }
            Self::Record { file, problem } => write!(f, "{}: {}", shown(file), shown(problem)),
            Self::Signature { file, problem } => write!(f, "{}: {problem}", shown(file)),
            Self::Bundle { file, problem } => {
                write!(f, "{}: {}", shown(file), shown(&problem.to_string()))
            }
            Self::Proof { file, problem } => write!(f, "{}: {problem}", shown(file)),
            Self::Subject { file, path } => {
                let (path, file) = (shown(path), shown(file));
                write!(f, "{path}: the statement in {file} and the record differ")
            }
            Self::FactsDiffer { file, keys } => {
                let keys = shown(&keys.join(", "));
                write!(f, "{}: differs from its signed statement: {keys}", shown(file))
            }
            Self::Inconsistency { file, what } => {
                write!(f, "{}: contradicts itself: {}", shown(file), shown(what))
            }
            Self::Approval { file, approval, problem } => {
                let problem = shown(&problem.to_string());
                write!(f, "{}: approval of {}: {problem}", shown(file), shown(approval))
            }
            Self::History { file, problem } => {
                write!(f, "{}: {}", shown(file), shown(&problem.to_string()))
            }
            Self::Conflict { clash, with } => write!(f, "{clash} {}", shown(with)),
            Self::Digest { path, found, stated } => {
                write!(f, "{}: sha256 is {found}, but the record states {stated}", shown(path))
            }
            Self::Missing { path } => write!(f, "{}: missing", shown(path)),
            Self::NotNamed { path } => write!(f, "{}: not named by the record", shown(path)),
            Self::FileType { path, kind } => write!(f, "{}: a {kind}, not a file", shown(path)),
            Self::Unreadable { path, problem } => {
                write!(f, "{}: cannot read: {}", shown(path), shown(problem))
            }
            Self::TooLarge { path, bytes_max } => {
                write!(f, "{}: larger than {bytes_max} bytes", shown(path))
            }
            Self::TooMany { path } => write!(f, "{}: too many or too deep entries", shown(path)),
        }
    }
}

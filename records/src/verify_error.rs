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
    Namespace {
        /// The namespace in the signature (OpenSSH's PROTOCOL.sshsig), escaped.
        found: String,
    },
    /// A signature by a key that is not trusted.
    NotTrusted {
        /// The fingerprint of the key in the signature, as `SHA256:…`.
        fingerprint: String,
    },
    /// A signature over other bytes.
    OtherBytes,
    /// A trusted key that does not count for the time of the record.
    OutsideValidity {
        /// The fingerprint of the key, as `SHA256:…`.
        fingerprint: String,
        /// The time of the record, from its `created_utc`.
        made: UtcTime,
    },
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
    Directory {
        /// The path of the directory, as the caller gave it.
        path: String,
        /// The failed operation and the kernel's error.
        problem: String,
    },
    /// The name of the directory is not the id of its record.
    DirectoryName {
        /// The name of the directory.
        found: String,
        /// The result id by which the record's files are named.
        result_id: String,
    },
    /// The record is not a valid result.
    Record {
        /// The file name of the record, or of the bundle if only that was verified.
        file: String,
        /// The fault, for the message.
        problem: String,
    },
    /// The record's signature does not verify.
    Signature {
        /// The file name of the signature, or of the bundle.
        file: String,
        /// The reason why the signature does not count.
        problem: SignatureProblem,
    },
    /// The bundle does not verify.
    Bundle {
        /// The file name of the bundle.
        file: String,
        /// The reason why the bundle does not verify.
        problem: RecordBundleError,
    },
    /// The `.tlog-proof` does not prove the entry of the bundle.
    Proof {
        /// The file name of the `.tlog-proof`.
        file: String,
        /// The reason why the proof does not verify.
        problem: ProofError,
    },
    /// Statement and record differ about a file, or only one of them names it.
    Subject {
        /// The file name of the bundle, which contains the statement.
        file: String,
        /// The path of the file about which they differ.
        path: String,
    },
    /// The record's front matter differs from the statement.
    FactsDiffer {
        /// The file name of the record.
        file: String,
        /// The top-level keys whose values differ, sorted.
        keys: Vec<String>,
    },
    /// The record contradicts itself.
    Inconsistency {
        /// The file name of the record, or of the bundle if only that was verified.
        file: String,
        /// The contradiction, for the message.
        what: String,
    },
    /// An approval that the record states is missing or does not verify.
    Approval {
        /// The file name of the record.
        file: String,
        /// The principal of the approval.
        approval: String,
        /// The reason why the approval does not count.
        problem: ApprovalProblem,
    },
    /// The record's place in the log does not verify.
    History {
        /// The file name of the bundle, which contains the checkpoint.
        file: String,
        /// The contradiction between its checkpoint and the log.
        problem: HistoryError,
    },
    /// Two records that cannot both be true.
    Conflict {
        /// The fact that cannot be true of both.
        clash: Conflict,
        /// The path of the other record.
        with: String,
    },
    /// A file has another digest than the record states.
    Digest {
        /// The path of the file.
        path: String,
        /// The SHA-256 digest of the file.
        found: Sha256,
        /// The SHA-256 digest in the record.
        stated: Sha256,
    },
    /// A file that the record names does not exist.
    Missing {
        /// The path that the record names, or that every record has.
        path: String,
    },
    /// The record does not name this file.
    NotNamed {
        /// The path of the file or directory; a name that is not UTF-8 is replaced.
        path: String,
    },
    /// Something that is neither a regular file nor a directory.
    FileType {
        /// The path of the object.
        path: String,
        /// The kind without an article, such as `symlink`.
        kind: &'static str,
    },
    /// A file cannot be read.
    Unreadable {
        /// The path of the file or directory; `.` for the result directory itself.
        path: String,
        /// The kernel's error.
        problem: String,
    },
    /// A file exceeds its size limit.
    TooLarge {
        /// The path of the file.
        path: String,
        /// The limit, in bytes.
        bytes_max: u64,
    },
    /// More or deeper entries than any record has.
    TooMany {
        /// The path of the directory at which the check stopped; empty for the result directory.
        path: String,
    },
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

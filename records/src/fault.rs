//! What did not verify, one fact a line: the object first, then what is wrong with it. A fault must
//! never show a name or a text of the directory unescaped.

use std::fmt;

use model::{Sha256, UtcTime, escape_line};

use crate::attestation::BundleFault;
use crate::log::ProofFault;
use crate::verify::{ApprovalProblem, Clash, HistoryError};

/// Why a signature does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignatureProblem {
    NotASignature,
    Namespace { found: String },
    NotTrusted { fingerprint: String },
    OtherBytes,
    OutOfTime { fingerprint: String, made: UtcTime },
}

impl fmt::Display for SignatureProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotASignature => f.write_str("not an SSH signature"),
            Self::Namespace { found } => write!(f, "made for `{found}`, not for results"),
            Self::NotTrusted { fingerprint } => {
                write!(f, "no trusted key made this signature (it names {fingerprint})")
            }
            Self::OtherBytes => {
                f.write_str("does not fit: the record or its signature was changed")
            }
            Self::OutOfTime { fingerprint, made } => {
                write!(f, "{fingerprint} is not trusted for the time of the record, {made}")
            }
        }
    }
}

/// One thing that is wrong with a result directory. Paths are relative to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The directory itself cannot be looked at.
    Directory {
        path: String,
        problem: String,
    },
    DirectoryName {
        found: String,
        result_id: String,
    },
    /// The record is no valid result.
    Record {
        file: String,
        problem: String,
    },
    Signature {
        file: String,
        problem: SignatureProblem,
    },
    Bundle {
        file: String,
        problem: BundleFault,
    },
    /// The `.tlog-proof` does not prove the entry of the bundle.
    Proof {
        file: String,
        problem: ProofFault,
    },
    /// The statement says something else of a file than the record does, or only one speaks of it.
    Subject {
        file: String,
        path: String,
    },
    /// The record's front matter is not what was stated.
    Drift {
        file: String,
        keys: Vec<String>,
    },
    /// What the record says of itself cannot be.
    Contradiction {
        file: String,
        what: String,
    },
    /// An approval that the record states is not there.
    Approval {
        file: String,
        /// Whose.
        approval: String,
        problem: ApprovalProblem,
    },
    History {
        file: String,
        problem: HistoryError,
    },
    /// Two records that cannot both be; `with` is where the other one lies.
    Clash {
        clash: Clash,
        with: String,
    },
    Digest {
        path: String,
        found: Sha256,
        stated: Sha256,
    },
    Missing {
        path: String,
    },
    NotNamed {
        path: String,
    },
    /// Something that is neither a regular file nor a directory.
    Kind {
        path: String,
        kind: &'static str,
    },
    Unreadable {
        path: String,
        problem: String,
    },
    TooLarge {
        path: String,
        bytes_max: u64,
    },
    /// More entries, or deeper, than any record has.
    TooMany {
        path: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| escape_line(text);
        match self {
            Self::Directory { path, problem } => write!(f, "{}: {}", shown(path), shown(problem)),
            Self::DirectoryName { found, result_id } => {
                write!(f, "{}: the record in it is {}", shown(found), shown(result_id))
            }
            Self::Record { file, problem } => write!(f, "{}: {}", shown(file), shown(problem)),
            Self::Signature { file, problem } => write!(f, "{}: {problem}", shown(file)),
            Self::Bundle { file, problem } => {
                write!(f, "{}: {}", shown(file), shown(&problem.to_string()))
            }
            Self::Proof { file, problem } => write!(f, "{}: {problem}", shown(file)),
            Self::Subject { file, path } => {
                let (path, file) = (shown(path), shown(file));
                write!(f, "{path}: the statement in {file} and the record differ about it")
            }
            Self::Drift { file, keys } => {
                let keys = shown(&keys.join(", "));
                write!(f, "{}: not what was stated: {keys}", shown(file))
            }
            Self::Contradiction { file, what } => {
                write!(f, "{}: contradicts itself: {}", shown(file), shown(what))
            }
            Self::Approval { file, approval, problem } => {
                let problem = shown(&problem.to_string());
                write!(f, "{}: approval of {}: {problem}", shown(file), shown(approval))
            }
            Self::History { file, problem } => {
                write!(f, "{}: {}", shown(file), shown(&problem.to_string()))
            }
            Self::Clash { clash, with } => write!(f, "{clash} {}", shown(with)),
            Self::Digest { path, found, stated } => {
                write!(f, "{}: sha256 is {found}, the record says {stated}", shown(path))
            }
            Self::Missing { path } => write!(f, "{}: missing", shown(path)),
            Self::NotNamed { path } => write!(f, "{}: not named by the record", shown(path)),
            Self::Kind { path, kind } => write!(f, "{}: a {kind}, not a file", shown(path)),
            Self::Unreadable { path, problem } => {
                write!(f, "{}: reading: {}", shown(path), shown(problem))
            }
            Self::TooLarge { path, bytes_max } => {
                write!(f, "{}: larger than {bytes_max} bytes", shown(path))
            }
            Self::TooMany { path } => write!(f, "{}: too many or too deep entries", shown(path)),
        }
    }
}

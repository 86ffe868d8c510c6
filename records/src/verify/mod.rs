//! Verification of results: the directory has exactly the contents that its record states, a
//! trusted key signed the record and its statement, and a trusted log contains it. It needs only
//! the directory and the trust. It must never change anything, stop at the first fault, trust a
//! fact of a record whose signature does not verify, or omit a check without reporting it.

mod approvals;
mod bundle_check;
mod cross_record;
mod directory;
mod facts;
mod files;
mod history;
mod inconsistency;
mod model;
mod page;
mod request_check;
mod shape;
mod standing;
mod verdict;
mod verification;

pub use self::model::{ApprovalProblem, Conflict};
pub use cross_record::CrossRecordCheck;
pub(crate) use directory::verify_own;
pub use directory::{verify, verify_bundle_alone, verify_gathered};
pub use history::{History, HistoryError};
pub use verdict::{LogPosition, SkippedCheck, VerifiedRecord};

pub(crate) use self::model::RECORD_BYTES_MAX;

//! Verification of results: the directory has exactly the contents that its record states, a
//! trusted key signed the record and its statement, and a trusted log contains it. It needs only
//! the directory and the trust. It must never:
//!
//! - change anything;
//! - stop at the first fault;
//! - trust a fact of a record whose signature does not verify;
//! - omit a check without reporting it.

mod across;
mod approvals;
mod asked;
mod attested;
mod contradiction;
mod directory;
mod facts;
mod files;
mod history;
mod look;
mod model;
mod page;
mod shape;
mod verdict;

pub use self::model::{ApprovalProblem, Clash};
pub use across::Across;
pub use directory::{verify, verify_bundle_alone, verify_gathered};
pub use history::{History, HistoryError};
pub use verdict::{NotChecked, PlaceInLog, Verified};

pub(crate) use self::model::RECORD_BYTES_MAX;

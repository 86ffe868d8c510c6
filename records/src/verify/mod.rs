//! Whether a result directory is what its record says, whether a trusted key signed the record and
//! its statement, and whether a trusted log has it. It needs nothing but the directory and the trust;
//! it must never change anything, stop at the first fault, take a fact from a record for true whose
//! signature does not verify, or be silent about what it could not check.

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

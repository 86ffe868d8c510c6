//! The state table: the possible combinations of the files of one claim, their meaning, and
//! recovery's next step. The code is pure, so that a test can try every combination.
//!
//! The files of one claim `c` whose result is `id`:
//!
//! | part | meaning |
//! |---|---|
//! | [`ClaimState`] | `work/<c>`: the private copy, with its lock and its note |
//! | [`PromiseState`] | the known result id: from the ledger line (a run) or from `work/<c>/result.json` (a refusal) |
//! | [`HiddenState`] | `results/.new-<id>` |
//! | `published` | `results/<id>` |
//! | `archived`, `quarantined` | `archive/<id>`, `quarantine/<id>` |
//! | `removed` | retention's mark for a result that it removed |
//! | [`OriginalState`] | the file in `approved/`, or its current place |
//! | `slot` | `staging/<c>` |
//!
//! The legal states, in the order in which a request reaches them (`-`: absent; empty: any value).
//!
//! | claim | promise | hidden | published | original | meaning | step |
//! |---|---|---|---|---|---|---|
//! | locked | | | | | a live process is working on it | leave alone |
//! | | | locked | | | the same | leave alone |
//! | torn, nothing durable | none, noted | - | - | any but aside | power failed before the copy was durable: never begun | forget |
//! | torn | noted | present | - | any but aside | the same, for a refusal | remove the hidden result, then forget |
//! | request, object | none | - | - | any but aside | never begun or recorded; the original is claimed again | forget |
//! | request, object | noted | - | - | any but aside | the refusal was not recorded | forget |
//! | request, object | noted | partial | - | any but aside | the same | remove the hidden result, then forget |
//! | request, object | noted | whole | - | any but aside | recorded, durable, without its name | publish, then tidy |
//! | request, object | noted | - | present | | recorded | tidy to `quarantine/` |
//! | request | begun | - | - | any but aside | begun, its outcome is unknown | record `indeterminate` |
//! | request | begun | partial | - | any but aside | the same | remove the hidden result, then record |
//! | request | begun | whole | - | any but aside | recorded, durable, without its name | publish, then tidy |
//! | request | begun | - | present | | recorded | tidy to `archive/` |
//! | - | none | - | | | nothing to do; a slot without a claim | rest; remove the slot |
//! | - | none | present | - | | its collection began, never promised | remove the hidden result |
//! | - | begun | - | present, or archived, or removed | | finished | rest |
//!
//! Every other state is [`IllegalState`]: no order of the operations and no crash between them leads
//! there, so another program caused it, or this code is wrong. It is reported and left unchanged. A
//! crash may also be a power failure: unsynced data may be lost, but names on one file system are
//! lost in the reverse order of their creation (ext4 and XFS guarantee this).

mod action;
mod removal_marks;

pub use action::{Destination, IllegalState, RecoveryAction, next_action};
pub use removal_marks::{
    REMOVAL_MARK_BYTES_MAX, RemovalMark, RemovalMarksError, each_removal_mark, removed_results,
};

/// `work/<c>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimState {
    /// The directory does not exist.
    Absent,
    /// A live process holds its lock.
    Locked,
    /// Its note or its copy cannot be read.
    Torn,
    /// A whole copy of a request.
    Request,
    /// The whole note of an object that can never be a request and was not read.
    Object,
}

/// The result that was promised to the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromiseState {
    /// None: neither a ledger line nor a note.
    None,
    /// By the note of a refusal in the claim. A torn note does not count.
    Noted,
    /// By the ledger line of a run.
    Begun,
    /// By both the line and the note, with two different ids.
    Contradicted,
}

/// `results/.new-<id>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenState {
    /// The directory does not exist.
    Absent,
    /// A live process is collecting it.
    Locked,
    /// It does not verify.
    Partial,
    /// It verifies: the record is signed, logged and of these files.
    Whole,
}

/// The presence of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathPresence {
    /// It does not exist, or its metadata cannot be read.
    Absent,
    /// It exists; of a path, a dangling symbolic link counts too.
    Present,
}

impl PathPresence {
    pub(crate) fn of(path: &std::path::Path) -> Self {
        Self::from(std::fs::symlink_metadata(path).is_ok())
    }
}

impl From<bool> for PathPresence {
    fn from(is_there: bool) -> Self {
        if is_there { Self::Present } else { Self::Absent }
    }
}

/// The file that was submitted to `approved/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginalState {
    /// Nothing was submitted, or no claim names the file.
    Unknown,
    /// The claimed file is still in its place.
    InPlace,
    /// Another file has its name.
    Another,
    /// No file has its name, and none was moved aside.
    Gone,
    /// It is in the claim's directory, about to be removed.
    Aside,
    /// Another file was moved there instead, and must be moved back.
    AnotherAside,
}

/// The files of one claim, or of one result without a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimFiles {
    /// The claim in `work/`.
    pub claim: ClaimState,
    /// The promised result.
    pub promise: PromiseState,
    /// The hidden result.
    pub hidden: HiddenState,
    /// The published result.
    pub published: PathPresence,
    /// The archived claim.
    pub archived: PathPresence,
    /// The quarantined claim.
    pub quarantined: PathPresence,
    /// The mark of retention.
    pub removed: PathPresence,
    /// The submitted file.
    pub original: OriginalState,
    /// The slot in `staging/`.
    pub slot: PathPresence,
}

impl ClaimFiles {
    /// The state without any file.
    pub const NOTHING: Self = Self {
        claim: ClaimState::Absent,
        promise: PromiseState::None,
        hidden: HiddenState::Absent,
        published: PathPresence::Absent,
        archived: PathPresence::Absent,
        quarantined: PathPresence::Absent,
        removed: PathPresence::Absent,
        original: OriginalState::Unknown,
        slot: PathPresence::Absent,
    };
}

#[cfg(test)]
mod tests;

//! The state table: what the files of one claim can be together, what it means, and what recovery does
//! next. Pure: it looks at nothing and does nothing, so that every combination there is can be tried.
//!
//! The files of one claim `c` whose result is `id`:
//!
//! | part | it is |
//! |---|---|
//! | [`Claim`] | `work/<c>`: the private copy, with its lock and its note |
//! | [`Promise`] | which result id is known: from the ledger line (a run) or from `work/<c>/result.json` (a refusal) |
//! | [`Hidden`] | `results/.new-<id>` |
//! | `published` | `results/<id>` |
//! | `archived`, `quarantined` | `archive/<id>`, `quarantine/<id>` |
//! | `removed` | the mark that retention leaves of a result it removed |
//! | [`Original`] | the file in `approved/`, or where it went |
//! | `slot` | `staging/<c>` |
//!
//! What is legal, in the order in which a request comes to it. `-` is "not there"; what is not named
//! in a row does not matter to it.
//!
//! | claim | promise | hidden | published | original | means | step |
//! |---|---|---|---|---|---|---|
//! | locked | | | | | a live process is at work | leave alone |
//! | | | locked | | | the same | leave alone |
//! | torn, nothing of it durable | none, noted | - | - | anywhere but aside | the power went before the copy was durable: never begun | forget |
//! | torn | noted | there | - | anywhere but aside | the same, of a refusal | remove the hidden result, then forget |
//! | request, object | none | - | - | anywhere but aside | never begun, nothing told; the original is claimed anew | forget |
//! | request, object | noted | - | - | anywhere but aside | the refusal was not told | forget |
//! | request, object | noted | partial | - | anywhere but aside | the same | remove the hidden result, then forget |
//! | request, object | noted | whole | - | anywhere but aside | told, durable, without its name | publish, then tidy |
//! | request, object | noted | - | there | | told | tidy to `quarantine/` |
//! | request | begun | - | - | anywhere but aside | begun, its end is not known | tell `indeterminate` |
//! | request | begun | partial | - | anywhere but aside | the same | remove the hidden result, then tell |
//! | request | begun | whole | - | anywhere but aside | told, durable, without its name | publish, then tidy |
//! | request | begun | - | there | | told | tidy to `archive/` |
//! | - | none | - | | | nothing to be done; a slot of no claim | rest; remove the slot |
//! | - | none | there | - | | begun to be gathered, never promised | remove the hidden result |
//! | - | begun | - | there, or archived, or removed | | done with | rest |
//!
//! Everything else is [`Illegal`]: no order of the acts and no crash between them leads there, so
//! somebody else did, or we are wrong. It is reported and left as it is. The crash may also be one of
//! the power: what is not yet synced may be lost, but names on one file system are lost in the reverse
//! order of their making (ext4 and XFS keep to that).

mod removed;
mod step;

pub use removed::{REMOVED_LINE_BYTES_MAX, Removed, RemovedError, each_removed, removed_in};
pub use step::{Illegal, Place, Step, step};

/// `work/<c>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    Absent,
    /// A live process holds its lock.
    Locked,
    /// Its note or its copy cannot be read.
    Torn,
    /// A whole copy of a request.
    Request,
    /// The whole note of what can never be a request and was not read.
    Object,
}

/// Which result was promised to the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// None: neither a ledger line nor a note.
    Nothing,
    /// That of a refusal, by the note in the claim. A torn note is none.
    Noted,
    /// That of a run, by the ledger line.
    Begun,
    /// Line and note, with two different ids.
    Contradicted,
}

/// `results/.new-<id>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    Absent,
    /// A live process gathers it.
    Locked,
    /// It does not verify.
    Partial,
    /// It verifies: the record is signed, logged and of these files.
    Whole,
}

/// Whether something is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum There {
    Absent,
    Present,
}

impl There {
    pub(crate) fn of(path: &std::path::Path) -> Self {
        Self::from(std::fs::symlink_metadata(path).is_ok())
    }
}

impl From<bool> for There {
    fn from(is_there: bool) -> Self {
        if is_there { Self::Present } else { Self::Absent }
    }
}

/// What was dropped into `approved/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Original {
    /// Nothing was dropped, or nobody knows what: no claim says so.
    Unknown,
    /// The file that was claimed is where it was.
    InPlace,
    /// Another file has its name.
    Another,
    Gone,
    /// It lies in the claim, on its way out.
    Aside,
    /// Another file was moved there in its place, and must be put back.
    AnotherAside,
}

/// The files of one claim, or of one result without a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    pub claim: Claim,
    pub promise: Promise,
    pub hidden: Hidden,
    pub published: There,
    pub archived: There,
    pub quarantined: There,
    pub removed: There,
    pub original: Original,
    pub slot: There,
}

impl State {
    /// Nothing at all.
    pub const NOTHING: Self = Self {
        claim: Claim::Absent,
        promise: Promise::Nothing,
        hidden: Hidden::Absent,
        published: There::Absent,
        archived: There::Absent,
        quarantined: There::Absent,
        removed: There::Absent,
        original: Original::Unknown,
        slot: There::Absent,
    };
}

#[cfg(test)]
mod tests;

//! One declared input on its way into a slot, and the messages for one that is refused.

use std::path::PathBuf;

use model::{ClaimId, Sha256};
use validator::{Code, Input, Violation};

use crate::disk_space::free_stored_inputs;
use crate::hash_progress::HashProgress;
use crate::input_store::InputStore;
use crate::input_trees::{InputTreeStore, StagedTree};

/// The files, directories and links of all folders of a request.
pub(super) const ENTRIES_MAX: u64 = 100_000;

/// A staged input, or the reason why it is refused.
pub(super) type StagedInput = Result<StagedCopy, Violation>;

/// The copy of an input in the slot.
pub(super) struct StagedCopy {
    pub(super) totals: StagedTotals,
    /// The copy of a folder, if it may be kept after the run.
    pub(super) tree: Option<StagedTree>,
}

/// The totals of one input, or of several.
#[derive(Clone, Copy, Default)]
pub(super) struct StagedTotals {
    pub(super) bytes: u64,
    /// The files, directories and links in folders.
    pub(super) entries: u64,
}

/// An input, the slot that it is staged into, and the bytes and entries that it may have.
pub(super) struct InputPlacement<'a> {
    pub(super) input: &'a Input,
    /// The place of the original, for messages.
    pub(super) shown: PathBuf,
    /// The place of the copy.
    pub(super) to: PathBuf,
    pub(super) store: &'a InputStore,
    pub(super) trees: &'a InputTreeStore,
    pub(super) claim: &'a ClaimId,
    pub(super) hashed: &'a HashProgress,
    pub(super) bytes_left: u64,
    pub(super) entries_left: u64,
}

impl InputPlacement<'_> {
    pub(super) fn free_disk_space(&self) {
        free_stored_inputs(self.store, self.trees);
    }

    pub(super) fn missing(&self, why: &str) -> Violation {
        let (name, shown) = (self.input.name(), self.shown.display());
        let message = format!("input {name}: {shown}: {why}");
        let hint = format!("put the {} at {shown}", self.kind());
        Violation::error(Code::InputsMissing, message).hint(hint)
    }

    pub(super) fn wrong_kind(&self, kind: &str) -> Violation {
        let (name, shown) = (self.input.name(), self.shown.display());
        Violation::error(Code::SpoolFileKind, format!("input {name}: {shown}: is {kind}"))
    }

    pub(super) fn too_large(&self) -> Violation {
        let name = self.input.name();
        let message = format!("input {name}: with it the inputs exceed limits.input_bytes_max");
        let hint = "use smaller inputs, or raise limits.input_bytes_max in the policy";
        Violation::error(Code::LimitsOverPolicy, message).hint(hint)
    }

    pub(super) fn too_many_entries(&self) -> Violation {
        let name = self.input.name();
        let message = format!(
            "input {name}: with it the folders of the request have more than {ENTRIES_MAX} files, \
             directories and links"
        );
        Violation::error(Code::LimitsOverPolicy, message).hint("leave out what is not needed")
    }

    pub(super) fn mismatch(&self, found: Sha256) -> Violation {
        let (name, declared) = (self.input.name(), self.input.sha256());
        let message = format!("input {name}: sha256 is {found}, the request says {declared}");
        let kind = self.kind();
        let hint = format!(
            "restore the approved {kind}, or have the request approved with the new digest"
        );
        Violation::error(Code::InputsMismatch, message).hint(hint)
    }

    fn kind(&self) -> &'static str {
        if self.input.is_tree() { "folder" } else { "file" }
    }
}

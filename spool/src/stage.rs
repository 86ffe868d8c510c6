//! Staging: copies the input files privately and hashes them meanwhile. The tool reads exactly the
//! hashed bytes: those in the slot, never the originals. Bytes staged before are still read and
//! hashed, and compared with the stored copy that the slot then shares (`input_store`). A folder
//! staged before is hashed too, and the slot gets the copy that was made then (`input_trees`).
//! Staged inputs need not survive a crash: a run that was not begun stages them again.

mod code;
mod directories;
mod file;
mod folder;
mod placement;

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

pub use code::write_input;
use directories::make_directories;
pub use folder::{folder_limits, folder_violation};
use placement::{ENTRIES_MAX, InputPlacement, StagedCopy, StagedInput, StagedTotals};
use policies::Approved;
use policies::standing::{InputSize, check_sizes};
use rustix::fs::{OFlags, fstat};
use rustix::io::Errno;
use validator::{Code, Input, Violation};

use crate::beneath::{open_beneath, remove_tree};
use crate::claim::{Claimed, InputsDirectory};
use crate::error::SpoolError;
use crate::failpoint::{Failpoint, reach};
use crate::input_trees::StagedTree;
use crate::paths::Spool;
use crate::slot::EmptySlot;
use crate::undeclared::undeclared;

/// An approved request whose inputs are in its own slot and match their digests.
#[must_use]
pub struct Staged {
    approved: Approved,
    claimed: Claimed,
    device: u64,
    inode: u64,
    /// The size of each input, in the order of the request.
    sizes: Vec<u64>,
}

impl Staged {
    /// Returns the approved request.
    pub fn approved(&self) -> &Approved {
        &self.approved
    }

    /// Returns the claim.
    pub fn claimed(&self) -> &Claimed {
        &self.claimed
    }

    /// Returns the parts, for the end of the request's processing.
    pub fn into_parts(self) -> (Approved, Claimed) {
        (self.approved, self.claimed)
    }

    /// Returns the slot's device and inode, by which the launcher identifies it.
    #[must_use]
    pub fn slot_identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// Returns the number of bytes that were copied and hashed.
    #[must_use]
    pub fn input_bytes(&self) -> u64 {
        self.sizes.iter().sum()
    }

    /// Returns the size of each input in bytes, in the order of the request.
    #[must_use]
    pub fn input_sizes(&self) -> &[u64] {
        &self.sizes
    }
}

/// The reason why a request was not staged. It returns the request and the claim.
pub enum StageError {
    /// The inputs are not the declared ones. All violations are reported at once.
    Refused {
        /// The request and its grant, for the record of the refusal.
        approved: Box<Approved>,
        /// The claim, which is still held.
        claimed: Claimed,
        /// The differences from the declared inputs; never empty.
        violations: Vec<Violation>,
    },
    /// An I/O error in the spool.
    Disk {
        /// The request and its grant, for the record of the failure.
        approved: Box<Approved>,
        /// The claim, which is still held.
        claimed: Claimed,
        /// The failed operation on an input or on the slot.
        error: SpoolError,
    },
}

impl Spool {
    /// Copies and hashes every declared input into a slot named after the claim.
    ///
    /// # Errors
    /// [`StageError`]; the slot is removed then.
    pub fn stage(&self, approved: Approved, claimed: Claimed) -> Result<Staged, Box<StageError>> {
        match self.make_slot(claimed.id().clone()) {
            Ok(slot) => self.stage_into(slot, approved, claimed),
            Err(error) => {
                Err(Box::new(StageError::Disk { approved: Box::new(approved), claimed, error }))
            }
        }
    }

    /// Stages into a slot that was made in advance. The slot belongs to the claim from now on.
    ///
    /// # Errors
    /// [`StageError`]; the slot is removed then.
    pub fn stage_into(
        &self,
        slot: EmptySlot,
        approved: Approved,
        mut claimed: Claimed,
    ) -> Result<Staged, Box<StageError>> {
        let (device, inode) = slot.identity();
        claimed.slot = slot.into_id();
        let slot = self.staging().join(claimed.slot.as_str());
        let StagedInputs { violations, sizes, trees } = match fill(self, &slot, &approved, &claimed)
        {
            Ok(staged) => staged,
            Err(error) => {
                remove_tree(&slot);
                let approved = Box::new(approved);
                return Err(Box::new(StageError::Disk { approved, claimed, error }));
            }
        };
        claimed.staged_trees = trees;
        if !violations.is_empty() {
            self.clear_slot(&mut claimed);
            let approved = Box::new(approved);
            return Err(Box::new(StageError::Refused { approved, claimed, violations }));
        }
        reach(Failpoint::Staged);
        Ok(Staged { approved, claimed, device, inode, sizes })
    }
}

/// The inputs of a request in its slot.
#[derive(Default)]
struct StagedInputs {
    violations: Vec<Violation>,
    /// The size of each input in bytes.
    sizes: Vec<u64>,
    /// The folders that may be kept after the run.
    trees: Vec<StagedTree>,
}

fn fill(
    spool: &Spool,
    slot: &Path,
    approved: &Approved,
    claimed: &Claimed,
) -> Result<StagedInputs, SpoolError> {
    let StagedInputs { mut violations, mut sizes, mut trees } = StagedInputs::default();
    let mut total = StagedTotals::default();
    let inputs = approved.request().inputs();
    let bytes_max = approved.grant().input_bytes_max();
    claimed.hashed.begin(current_bytes(claimed, inputs));
    for input in inputs {
        let left = StagedTotals {
            bytes: bytes_max.saturating_sub(total.bytes),
            entries: ENTRIES_MAX.saturating_sub(total.entries),
        };
        match stage_input((spool, slot), claimed, input, left)? {
            Ok(StagedCopy { totals: StagedTotals { bytes, entries }, tree }) => {
                total.bytes += bytes;
                total.entries += entries;
                sizes.push(bytes);
                trees.extend(tree);
            }
            Err(violation) => violations.push(violation),
        }
    }
    if let InputsDirectory::Open(directory) = &claimed.inputs {
        violations.extend(undeclared(directory, &claimed.inputs_path, inputs)?);
    }
    if violations.is_empty() {
        violations.extend(code::stage(slot, approved)?);
        violations.extend(beyond_standing(approved, &sizes));
    }
    Ok(StagedInputs { violations, sizes, trees })
}

/// Compares the sizes, which nothing has measured before, with the standing approval.
fn beyond_standing(approved: &Approved, sizes: &[u64]) -> Option<Violation> {
    let used = approved.grant().standing()?;
    let (terms, request) = (used.approval().terms(), approved.request());
    let sizes = request.inputs().iter().zip(sizes);
    let sizes: Vec<InputSize<'_>> =
        sizes.map(|(input, bytes)| InputSize { name: input.name(), bytes: *bytes }).collect();
    let differences = check_sizes(terms, request, &sizes).err()?;
    let texts: Vec<String> = differences.iter().map(ToString::to_string).collect();
    let message = format!("{}: {}: {}", request.id(), terms.id, texts.join("; "));
    let hint = "use smaller inputs, or have the request approved by itself";
    Some(Violation::error(Code::ApprovalStanding, message).hint(hint))
}

/// Returns the total length of the files by their current sizes, before any is read. The size of a
/// folder is not known then.
fn current_bytes(claimed: &Claimed, inputs: &[Input]) -> u64 {
    let InputsDirectory::Open(directory) = &claimed.inputs else { return 0 };
    let size = |input: &Input| {
        let file = open_beneath(directory, input.path(), OFlags::RDONLY).ok()?;
        u64::try_from(fstat(&file).ok()?.st_size).ok()
    };
    let files = inputs.iter().filter(|input| !input.is_tree());
    files.filter_map(size).fold(0, u64::saturating_add)
}

fn stage_input(
    (spool, slot): (&Spool, &Path),
    claimed: &Claimed,
    input: &Input,
    left: StagedTotals,
) -> Result<StagedInput, SpoolError> {
    let place = InputPlacement {
        input,
        shown: claimed.inputs_path.join(input.path()),
        to: slot.join(input.path()),
        store: spool.store(),
        trees: spool.trees(),
        claim: claimed.id(),
        hashed: &claimed.hashed,
        bytes_left: left.bytes,
        entries_left: left.entries,
    };
    let directory = match &claimed.inputs {
        InputsDirectory::Open(directory) => directory,
        InputsDirectory::Missing => return Ok(Err(place.missing("no such directory"))),
        InputsDirectory::Unusable(why) => return Ok(Err(place.missing(why))),
    };
    let opened = match open_original(directory, input) {
        Ok(opened) => opened,
        Err(why) => return Ok(Err(place.missing(&why))),
    };
    make_directories(slot, input.name())?;
    match input.is_tree() {
        true => folder::stage(&place, &opened),
        false => file::stage(&place, opened),
    }
}

/// Opens a file or a folder of the submitter. The error is the reason for the message.
fn open_original(directory: &OwnedFd, input: &Input) -> Result<OwnedFd, String> {
    let (kind, missing) = match input.is_tree() {
        true => (OFlags::DIRECTORY, "no such directory"),
        false => (OFlags::empty(), "no such file"),
    };
    open_beneath(directory, input.path(), OFlags::RDONLY | kind).map_err(|errno| match errno {
        Errno::NOENT | Errno::NOTDIR => missing.to_owned(),
        Errno::LOOP | Errno::XDEV => {
            "the path crosses a symbolic link or a mount, which is not followed".to_owned()
        }
        errno => io::Error::from(errno).to_string(),
    })
}

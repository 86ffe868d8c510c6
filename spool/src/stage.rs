//! Staging: copies the input files privately and hashes them meanwhile. The tool reads exactly the
//! hashed bytes: those in the slot, never the originals. Bytes staged before are still read and
//! hashed, and compared with the stored copy that the slot then shares (`input_store`). Staged
//! inputs need not survive a crash: a run that was not begun stages them again.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Seek};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use model::Sha256;
use policies::Approved;
use policies::standing::{InputSize, check_sizes};
use rustix::fs::{OFlags, fstat};
use validator::{Code, Input, Violation};

use crate::beneath::{AllowedLinks, check_regular_file, open_beneath, remove_tree};
use crate::claim::{Claimed, InputsDirectory};
use crate::copy::{ContentMatch, HashedCopy, compare, copy_hashed};
use crate::error::SpoolError;
use crate::failpoint::{Failpoint, reach};
use crate::hash_progress::HashProgress;
use crate::input_store::InputStore;
use crate::paths::Spool;
use crate::shortage::Shortage;
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
        let staged = fill(self.store(), &slot, &approved, &claimed);
        match staged {
            Ok((violations, _)) if !violations.is_empty() => {
                remove_tree(&slot);
                Err(Box::new(StageError::Refused {
                    approved: Box::new(approved),
                    claimed,
                    violations,
                }))
            }
            Ok((_, sizes)) => {
                reach(Failpoint::Staged);
                Ok(Staged { approved, claimed, device, inode, sizes })
            }
            Err(error) => {
                remove_tree(&slot);
                Err(Box::new(StageError::Disk { approved: Box::new(approved), claimed, error }))
            }
        }
    }
}

/// The violations of the inputs, and the size of each input in bytes.
type StagedInputs = (Vec<Violation>, Vec<u64>);

fn fill(
    store: &InputStore,
    slot: &Path,
    approved: &Approved,
    claimed: &Claimed,
) -> Result<StagedInputs, SpoolError> {
    let (mut violations, mut sizes, mut total) = (Vec::new(), Vec::new(), 0);
    let inputs = approved.request().inputs();
    let bytes_max = approved.grant().input_bytes_max();
    claimed.hashed.begin(current_bytes(claimed, inputs));
    for input in inputs {
        match stage_input((store, slot), claimed, input, bytes_max.saturating_sub(total))? {
            Ok(bytes) => {
                total += bytes;
                sizes.push(bytes);
            }
            Err(violation) => violations.push(violation),
        }
    }
    if let InputsDirectory::Open(directory) = &claimed.inputs {
        violations.extend(undeclared(directory, &claimed.inputs_path, inputs)?);
    }
    if violations.is_empty() {
        violations.extend(beyond_standing(approved, &sizes));
    }
    Ok((violations, sizes))
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

/// Returns the total length of the inputs by their current sizes, before any is read.
fn current_bytes(claimed: &Claimed, inputs: &[Input]) -> u64 {
    let InputsDirectory::Open(directory) = &claimed.inputs else { return 0 };
    let size = |input: &Input| {
        let file = open_beneath(directory, input.name(), OFlags::RDONLY).ok()?;
        u64::try_from(fstat(&file).ok()?.st_size).ok()
    };
    inputs.iter().filter_map(size).fold(0, u64::saturating_add)
}

type StagedInput = Result<u64, Violation>;

fn stage_input(
    (store, slot): (&InputStore, &Path),
    claimed: &Claimed,
    input: &Input,
    bytes_left: u64,
) -> Result<StagedInput, SpoolError> {
    let shown = claimed.inputs_path.join(input.name());
    let missing = |why: &str| {
        let message = format!("input {}: {}: {why}", input.name(), shown.display());
        let hint = format!("put the file at {}", shown.display());
        Ok(Err(Violation::error(Code::InputsMissing, message).hint(hint)))
    };
    let directory = match &claimed.inputs {
        InputsDirectory::Open(directory) => directory,
        InputsDirectory::Missing => return missing("no such directory"),
        InputsDirectory::Unusable(why) => return missing(why),
    };
    let file = match open_beneath(directory, input.name(), OFlags::RDONLY) {
        Ok(file) => file,
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {
            return missing("no such file");
        }
        Err(rustix::io::Errno::LOOP | rustix::io::Errno::XDEV) => {
            return missing("the path crosses a symbolic link or a mount, which is not followed");
        }
        Err(errno) => return missing(&io::Error::from(errno).to_string()),
    };
    let stat = fstat(&file).map_err(SpoolError::errno(&shown, "stat"))?;
    if let Err(SpoolError::FileKind { kind, .. }) =
        check_regular_file(&stat, &shown, AllowedLinks::Any)
    {
        let message = format!("input {}: {}: is {kind}", input.name(), shown.display());
        return Ok(Err(Violation::error(Code::SpoolFileKind, message)));
    }
    let too_large = || {
        let message =
            format!("input {}: with it the inputs exceed limits.input_bytes_max", input.name());
        let hint = "use smaller inputs, or raise limits.input_bytes_max in the policy";
        Ok(Err(Violation::error(Code::LimitsOverPolicy, message).hint(hint)))
    };
    if u64::try_from(stat.st_size).unwrap_or(u64::MAX) > bytes_left {
        return too_large();
    }
    make_parents(slot, input.name())?;
    let to = slot.join(input.name());
    let from = (&mut File::from(file), &*claimed.hashed);
    let taken = stage_file(store, from, &to, input.sha256(), bytes_left);
    let (sha256, bytes) = taken.map_err(SpoolError::io(&to, "copy the input"))?;
    // The file may have grown since the stat.
    if bytes > bytes_left {
        return too_large();
    }
    if sha256 != *input.sha256() {
        return Ok(Err(mismatch(input, sha256)));
    }
    Ok(Ok(bytes))
}

fn mismatch(input: &Input, found: Sha256) -> Violation {
    let message =
        format!("input {}: sha256 is {found}, the request says {}", input.name(), input.sha256());
    let hint = "restore the approved file, or have the request approved with the new digest";
    Violation::error(Code::InputsMismatch, message).hint(hint)
}

/// Makes an input's parent directories in the slot, accessible to the tool despite the umask.
fn make_parents(slot: &Path, name: &str) -> Result<(), SpoolError> {
    for (at, _) in name.match_indices('/') {
        let path = slot.join(&name[..at]);
        match DirBuilder::new().create(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(SpoolError::io(&path, "create")(error)),
        }
        let opened = fs::set_permissions(&path, Permissions::from_mode(0o755));
        opened.map_err(SpoolError::io(&path, "set the mode of"))?;
    }
    Ok(())
}

/// Puts one input into the slot: the stored copy of its bytes if it exists, else a new copy.
fn stage_file(
    store: &InputStore,
    (from, hashed): (&mut File, &HashProgress),
    to: &Path,
    wanted: &Sha256,
    bytes_max: u64,
) -> io::Result<HashedCopy> {
    if let Some(mut stored) = store.link_to(wanted, to) {
        let (poured, matching) = compare(from, &mut stored, bytes_max, hashed)?;
        // An unapproved input is refused, and says nothing about the stored copy.
        if matching == ContentMatch::Same || poured.0 != *wanted {
            return Ok(poured);
        }
        tracing::warn!("{wanted}: the stored copy is damaged; replacing it");
        store.delete(wanted);
        fs::remove_file(to)?;
        from.rewind()?;
    }
    let poured = match copy(from, to, bytes_max, hashed) {
        // Stored inputs are the first files to be deleted when the disk is full.
        Err(error) if Shortage::of(&error) == Some(Shortage::DiskSpace) => {
            store.clear();
            fs::remove_file(to)?;
            from.rewind()?;
            copy(from, to, bytes_max, hashed)?
        }
        copied => copied?,
    };
    if poured.0 == *wanted && poured.1 <= bytes_max {
        store.store(wanted, to, poured.1);
    }
    Ok(poured)
}

fn copy(
    from: &mut File,
    to: &Path,
    bytes_max: u64,
    hashed: &HashProgress,
) -> io::Result<HashedCopy> {
    let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o444).open(to)?;
    let poured = copy_hashed(from, &mut copy, bytes_max, hashed)?;
    copy.set_permissions(Permissions::from_mode(0o444))?;
    Ok(poured)
}

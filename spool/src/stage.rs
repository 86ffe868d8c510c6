//! Staging: private copies of the input files, hashed while they are copied.
//!
//! What the tool will read is what was hashed: the bytes in the slot, never the files they came from.
//! Staged inputs need not survive a crash; a run that was not begun is staged again.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use policies::Approved;
use rustix::fs::{Dir, FileType, OFlags, fstat};
use validator::{Code, Input, Sha256, Violation};

use crate::claim::{Claimed, Inputs, Links, insist_on_file, open_beneath, remove_tree};
use crate::error::SpoolError;
use crate::places::Spool;
use crate::pour::pour;

/// Deepest directory below `<stem>.inputs/` that is looked at for files nobody declared.
const LISTED_DEPTH_MAX: usize = 8;
/// Names that are looked at.
const LISTED_MAX: usize = 10_000;
/// Undeclared files that are told one by one.
const UNDECLARED_MAX: usize = 20;

/// An approved request whose inputs are in a slot of their own and are what it says they are.
#[must_use]
pub struct Staged {
    approved: Approved,
    claimed: Claimed,
    device: u64,
    inode: u64,
    bytes: u64,
}

impl Staged {
    pub fn approved(&self) -> &Approved {
        &self.approved
    }

    pub fn claimed(&self) -> &Claimed {
        &self.claimed
    }

    /// The parts, for the end of the story.
    pub fn into_parts(self) -> (Approved, Claimed) {
        (self.approved, self.claimed)
    }

    /// Device and inode of the slot, so that the launcher can tell it from any other directory.
    #[must_use]
    pub fn slot_identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// Bytes that were copied and hashed.
    #[must_use]
    pub fn input_bytes(&self) -> u64 {
        self.bytes
    }
}

/// Why a request could not be staged. What it was made of comes back.
pub enum StageError {
    /// The inputs are not what the request says: every fault at once.
    Refused { approved: Box<Approved>, claimed: Claimed, violations: Vec<Violation> },
    /// Our own disk.
    Disk { approved: Box<Approved>, claimed: Claimed, error: SpoolError },
}

impl Spool {
    /// Copies and hashes every declared input into a slot named after the claim.
    ///
    /// # Errors
    /// [`StageError`], and then the slot is gone.
    pub fn stage(&self, approved: Approved, claimed: Claimed) -> Result<Staged, Box<StageError>> {
        let slot = self.staging().join(claimed.id().as_str());
        let staged = fill(&slot, &approved, &claimed);
        match staged {
            Ok((violations, _)) if !violations.is_empty() => {
                remove_tree(&slot);
                Err(Box::new(StageError::Refused {
                    approved: Box::new(approved),
                    claimed,
                    violations,
                }))
            }
            Ok((_, (device, inode, bytes))) => {
                Ok(Staged { approved, claimed, device, inode, bytes })
            }
            Err(error) => {
                remove_tree(&slot);
                Err(Box::new(StageError::Disk { approved: Box::new(approved), claimed, error }))
            }
        }
    }
}

type Filled = (Vec<Violation>, (u64, u64, u64));

fn fill(slot: &Path, approved: &Approved, claimed: &Claimed) -> Result<Filled, SpoolError> {
    let made = DirBuilder::new().mode(0o755).create(slot);
    made.map_err(SpoolError::io(slot, "make the slot"))?;
    let mut violations = Vec::new();
    let mut total = 0;
    let inputs = approved.request().inputs();
    let bytes_max = approved.grant().input_bytes_max();
    for input in inputs {
        match stage_input(slot, claimed, input, bytes_max.saturating_sub(total))? {
            Ok(bytes) => total += bytes,
            Err(violation) => violations.push(violation),
        }
    }
    if let Inputs::Open(directory) = &claimed.inputs {
        violations.extend(undeclared(directory, &claimed.inputs_path, inputs)?);
    }
    // The daemon's umask must not hide the slot from the tool's uid.
    let opened = fs::set_permissions(slot, Permissions::from_mode(0o755));
    opened.map_err(SpoolError::io(slot, "open to the tool"))?;
    let found = fs::metadata(slot).map_err(SpoolError::io(slot, "look at"))?;
    Ok((violations, (found.dev(), found.ino(), total)))
}

type Verdict = Result<u64, Violation>;

fn stage_input(
    slot: &Path,
    claimed: &Claimed,
    input: &Input,
    bytes_left: u64,
) -> Result<Verdict, SpoolError> {
    let shown = claimed.inputs_path.join(input.name());
    let missing = |why: &str| {
        let message = format!("input {}: {}: {why}", input.name(), shown.display());
        let hint = format!("put the file at {}", shown.display());
        Ok(Err(Violation::error(Code::InputsMissing, message).hint(hint)))
    };
    let directory = match &claimed.inputs {
        Inputs::Open(directory) => directory,
        Inputs::Missing => return missing("there is no such directory"),
        Inputs::Unusable(why) => return missing(why),
    };
    let file = match open_beneath(directory, input.name(), OFlags::RDONLY) {
        Ok(file) => file,
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {
            return missing("there is no such file");
        }
        Err(rustix::io::Errno::LOOP | rustix::io::Errno::XDEV) => {
            return missing("is or lies behind a symbolic link, and none is followed");
        }
        Err(errno) => return missing(&io::Error::from(errno).to_string()),
    };
    let stat = fstat(&file).map_err(SpoolError::errno(&shown, "look at"))?;
    if let Err(SpoolError::FileKind { kind, .. }) = insist_on_file(&stat, &shown, Links::Any) {
        let message = format!("input {}: {}: is {kind}", input.name(), shown.display());
        return Ok(Err(Violation::error(Code::SpoolFileKind, message)));
    }
    make_parents(slot, input.name())?;
    let (sha256, bytes) = copy(file, &slot.join(input.name()), bytes_left)?;
    if bytes > bytes_left {
        let message = format!("input {}: with it the inputs are too large", input.name());
        let hint = "see policy limits.input_bytes_max";
        return Ok(Err(Violation::error(Code::LimitsOverPolicy, message).hint(hint)));
    }
    if sha256 != *input.sha256() {
        return Ok(Err(mismatch(input, sha256)));
    }
    Ok(Ok(bytes))
}

fn mismatch(input: &Input, found: Sha256) -> Violation {
    let message =
        format!("input {}: sha256 is {found}, the request says {}", input.name(), input.sha256());
    let hint = "the file is not the one that was approved: restore it, or have the request \
                approved with the new digest";
    Violation::error(Code::InputsMismatch, message).hint(hint)
}

/// Makes the directories of an input's name below the slot, open to the tool whatever our umask.
fn make_parents(slot: &Path, name: &str) -> Result<(), SpoolError> {
    for (at, _) in name.match_indices('/') {
        let path = slot.join(&name[..at]);
        match DirBuilder::new().create(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(SpoolError::io(&path, "make")(error)),
        }
        let opened = fs::set_permissions(&path, Permissions::from_mode(0o755));
        opened.map_err(SpoolError::io(&path, "open to the tool"))?;
    }
    Ok(())
}

fn copy(from: OwnedFd, to: &Path, bytes_max: u64) -> Result<(Sha256, u64), SpoolError> {
    let copied = || -> io::Result<(Sha256, u64)> {
        let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o444).open(to)?;
        let poured = pour(&mut File::from(from), &mut copy, bytes_max)?;
        copy.set_permissions(Permissions::from_mode(0o444))?;
        Ok(poured)
    };
    copied().map_err(SpoolError::io(to, "copy the input"))
}

/// Files that lie beside the declared ones: the approver did not see them, so they are refused
/// rather than left out in silence.
fn undeclared(
    directory: &OwnedFd,
    path: &Path,
    inputs: &[Input],
) -> Result<Vec<Violation>, SpoolError> {
    let declared: BTreeSet<&str> = inputs.iter().map(Input::name).collect();
    let mut found = Vec::new();
    let listing = Dir::read_from(directory).map_err(SpoolError::errno(path, "list"))?;
    list(directory, listing, "", 0, &mut found);
    found.sort();
    let violation = |name: String| {
        let message = format!("input {name}: is not declared in the front matter");
        let hint = format!(
            "declare it under inputs with its sha256, or take it out of {}",
            path.display()
        );
        Violation::error(Code::InputsUndeclared, message).hint(hint)
    };
    let unknown = found.into_iter().filter(|name| !declared.contains(name.as_str()));
    Ok(unknown.take(UNDECLARED_MAX).map(violation).collect())
}

/// Names below a directory of somebody else's. What cannot be looked into is a name like any other:
/// nobody declared it.
fn list(directory: &OwnedFd, listing: Dir, prefix: &str, depth: usize, found: &mut Vec<String>) {
    for entry in listing {
        let Ok(entry) = entry else {
            found.push(format!("{prefix}(unreadable)"));
            return;
        };
        let name = entry.file_name();
        if name.to_bytes().starts_with(b".") || found.len() > LISTED_MAX {
            continue;
        }
        let whole = format!("{prefix}{}", name.to_string_lossy());
        let inner = (entry.file_type() == FileType::Directory && depth < LISTED_DEPTH_MAX)
            .then(|| open_beneath(directory, name, OFlags::RDONLY | OFlags::DIRECTORY).ok())
            .flatten()
            .and_then(|inner| Some((Dir::read_from(&inner).ok()?, inner)));
        match inner {
            Some((listing, inner)) => list(&inner, listing, &format!("{whole}/"), depth + 1, found),
            None => found.push(whole),
        }
    }
}

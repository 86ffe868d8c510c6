//! Files that lie beside an approved request's inputs and that nobody declared. The directory is somebody
//! else's: it is only listed, by handle and bounded, and nothing in it is read.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Dir, FileType, OFlags};
use validator::{Code, Input, Violation};

use crate::beneath::open_beneath;
use crate::error::SpoolError;

/// Deepest directory below `<stem>.inputs/` that is looked at for files nobody declared.
const LISTED_DEPTH_MAX: usize = 8;
/// Names that are looked at.
const LISTED_MAX: usize = 10_000;
/// Undeclared files that are told one by one.
const UNDECLARED_MAX: usize = 20;

/// Files that lie beside the declared ones: the approver did not see them, so they are refused
/// rather than left out in silence.
pub(crate) fn undeclared(
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

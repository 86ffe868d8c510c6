//! Finds undeclared files next to an approved request's inputs. The directory belongs to another
//! user: it is listed by handle and with limits, and no file in it is read.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Dir, FileType, OFlags};
use validator::{Code, Input, Violation};

use crate::beneath::open_beneath;
use crate::error::SpoolError;

/// The deepest directory below `<stem>.inputs/` that is searched.
const LISTED_DEPTH_MAX: usize = 8;
/// The most names that are examined.
const LISTED_MAX: usize = 10_000;
/// The most undeclared files that are reported.
const UNDECLARED_MAX: usize = 20;

/// Returns a violation for each undeclared file, because the approver did not see it.
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
        let message = format!("input {name}: not declared in the front matter");
        let hint = format!(
            "declare it under inputs with its sha256, or remove it from {}",
            path.display()
        );
        Violation::error(Code::InputsUndeclared, message).hint(hint)
    };
    let unknown = found.into_iter().filter(|name| !declared.contains(name.as_str()));
    Ok(unknown.take(UNDECLARED_MAX).map(violation).collect())
}

/// Lists the names below a directory. One that cannot be listed counts as an undeclared file.
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

//! The names of published results. There may be very many, so only names are read.

use std::fs;
use std::io;
use std::path::Path;

/// The part of a result's name before the request id: `TS-YYYYMMDD-HHMMSSZ-`.
const PREFIX_BYTES: usize = "TS-YYYYMMDD-HHMMSSZ-".len();

/// Returns the names in a directory of results, oldest first; empty if it does not exist. A result
/// that is still being collected has a hidden name.
///
/// # Errors
/// The directory cannot be listed.
pub fn result_names(results: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    let listed = match fs::read_dir(results) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(names),
        listed => listed?,
    };
    for entry in listed {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Returns the request id in the name of a result.
#[must_use]
pub fn request_of(result: &str) -> Option<&str> {
    result.starts_with("TS-").then(|| result.get(PREFIX_BYTES..)).flatten()
}

//! Finds the helper programs: beside the running program, then in the packaged place. Must never search PATH.

use std::path::{Path, PathBuf};

/// The launcher beside the running program, then in its packaged place; never along PATH, which
/// belongs to whoever set it.
///
/// # Errors
/// The places that were looked at, for a message.
pub fn find_launcher() -> Result<PathBuf, String> {
    find_program("toolexec-launch")
}

/// The same for any program of ours that is no command.
///
/// # Errors
/// The places that were looked at, for a message.
pub fn find_program(name: &str) -> Result<PathBuf, String> {
    let packaged = Path::new("/usr/libexec/toolexec").join(name);
    let beside = std::env::current_exe().ok().and_then(|exe| {
        let exe = std::fs::canonicalize(exe).ok()?;
        Some(exe.parent()?.join(name))
    });
    let places: Vec<PathBuf> = beside.into_iter().chain([packaged]).collect();
    match places.iter().find(|place| place.is_file()) {
        Some(found) => Ok(found.clone()),
        None => {
            let looked: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
            Err(format!("{name} is not there; looked at {}", looked.join(", ")))
        }
    }
}

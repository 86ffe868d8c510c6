//! Finds the helper programs: in the directory of the running program, then in the packaged
//! directory. Must never search `PATH`, which the caller controls.

use std::path::{Path, PathBuf};

/// Finds the launcher.
///
/// # Errors
/// The paths that were tried, for a message.
pub fn find_launcher() -> Result<PathBuf, String> {
    find_program("toolexec-launch")
}

/// Finds a helper program by name.
///
/// # Errors
/// The paths that were tried, for a message.
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
            let looked = looked.join(" or ");
            Err(format!("{name}: not found at {looked}; help: install it beside this program"))
        }
    }
}

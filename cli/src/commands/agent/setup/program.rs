//! The name by which an agent starts this program.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Returns the bare name if the search path leads to this program, else its path.
pub(super) fn own_program() -> Result<String, Failure> {
    let own = env::current_exe().map_err(Failure::io(Path::new("/proc/self/exe")))?;
    let found = env::var_os("PATH").and_then(|path| first_on(&path, "toolexec"));
    match found.is_some_and(|found| is_same_file(&found, &own)) {
        true => Ok("toolexec".to_owned()),
        false => text(&own),
    }
}

/// Returns a path as text, which configuration files need.
pub(super) fn text(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::Message(format!("{}: not UTF-8 text; help: use another path", path.display()))
    })
}

fn first_on(path: &OsStr, name: &str) -> Option<PathBuf> {
    env::split_paths(path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|file| file.is_file())
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let identity = |path| fs::metadata(path).map(|it| (it.dev(), it.ino()));
    matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}

//! `toolexec doctor`: says what this host lacks for runs, looks at what is wrong with its spool, and makes
//! caches: what a language needs once per host, so that no run needs a network or minutes for it.
//!
//! A cache appears whole or not at all: it is made beside its place and renamed. It must never be made
//! by a run, and never with more than its maker's own rights.

mod args;
mod go;
mod host;
mod ledger;
mod program;
mod spool;
mod ts;

use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rustix::fs::{CWD, Mode, RenameFlags, renameat_with};
use rustix::io::Errno;

use args::Warm;

use crate::failure::Failure;
use crate::output;

pub(crate) use args::Doctor;

pub(in crate::commands) fn doctor(asked: &Doctor) -> Result<ExitCode, Failure> {
    if let Some(spool) = &asked.spool {
        return spool::examine(spool, asked);
    }
    if asked.warm.is_empty() {
        return host::examine(asked);
    }
    let caches = match &asked.to {
        Some(dir) => std::path::absolute(dir).map_err(Failure::io(dir))?,
        None => asked.state.path()?.join("caches"),
    };
    // The tool reads it under a uid of its own.
    rustix::process::umask(Mode::from_raw_mode(0o022));
    for warm in &asked.warm {
        let place = match warm {
            Warm::Go => make(&caches, "go", |fresh| go::make(fresh, &caches))?,
            Warm::Ts => make(&caches, "ts", ts::make)?,
        };
        output::line(format_args!("{}: made", place.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes a cache in a fresh directory and puts it in its place; an older one goes.
fn make(
    caches: &Path,
    name: &str,
    fill: impl FnOnce(&Path) -> Result<(), Failure>,
) -> Result<PathBuf, Failure> {
    if let Some(state) = caches.parent() {
        // As the first run would make it: nobody else's to look into.
        let made = DirBuilder::new().mode(0o700).recursive(true).create(state);
        made.map_err(Failure::io(state))?;
    }
    DirBuilder::new().recursive(true).create(caches).map_err(Failure::io(caches))?;
    let fresh = caches.join(format!(".{name}-{}", std::process::id()));
    let place = caches.join(name);
    let done = fill_and_place(&fresh, &place, fill);
    // What is there now is half a cache or the older one; a failure to remove it must not hide the
    // first failure.
    let cleaned = remove(&fresh);
    done?;
    cleaned?;
    Ok(place)
}

fn fill_and_place(
    fresh: &Path,
    place: &Path,
    fill: impl FnOnce(&Path) -> Result<(), Failure>,
) -> Result<(), Failure> {
    fs::create_dir(fresh).map_err(Failure::io(fresh))?;
    fill(fresh)?;
    let placed = match renameat_with(CWD, fresh, CWD, place, RenameFlags::NOREPLACE) {
        // At no moment is there none.
        Err(Errno::EXIST) => renameat_with(CWD, fresh, CWD, place, RenameFlags::EXCHANGE),
        placed => placed,
    };
    placed.map_err(|errno| Failure::io(place)(errno.into()))
}

fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Failure::io(path)(error)),
        _ => Ok(()),
    }
}

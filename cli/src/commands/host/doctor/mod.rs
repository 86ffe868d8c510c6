//! `toolexec doctor`: checks the requirements of this host, checks a spool, and builds the caches
//! of languages, so that no run needs a network or minutes of compilation. A cache appears complete
//! or not at all: it is built beside its final path and renamed. It must never be built by a run,
//! and never with more than the caller's rights.

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

use args::CacheLanguage;

use crate::failure::Failure;
use crate::output;

pub(crate) use args::DoctorCommand;

pub(in crate::commands) fn doctor(args: &DoctorCommand) -> Result<ExitCode, Failure> {
    if let Some(spool) = &args.spool {
        return spool::examine(spool, args);
    }
    if args.build_cache.is_empty() {
        return host::examine(args);
    }
    let caches = match &args.cache_dir {
        Some(dir) => std::path::absolute(dir).map_err(Failure::io(dir))?,
        None => args.state.path()?.join("caches"),
    };
    // The tool reads the cache under another uid.
    rustix::process::umask(Mode::from_raw_mode(0o022));
    for language in &args.build_cache {
        let place = match language {
            CacheLanguage::Go => {
                build_cache(&caches, "go", |fresh| go::build_cache(fresh, &caches))?
            }
            CacheLanguage::Ts => build_cache(&caches, "ts", ts::build_cache)?,
        };
        output::line(format_args!("{}: created", place.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds a cache in a new directory and moves it to its path. An older cache is removed.
fn build_cache(
    caches: &Path,
    name: &str,
    fill: impl FnOnce(&Path) -> Result<(), Failure>,
) -> Result<PathBuf, Failure> {
    if let Some(state) = caches.parent() {
        // As the first run would create it: accessible to its user only.
        let made = DirBuilder::new().mode(0o700).recursive(true).create(state);
        made.map_err(Failure::io(state))?;
    }
    DirBuilder::new().recursive(true).create(caches).map_err(Failure::io(caches))?;
    let fresh = caches.join(format!(".{name}-{}", std::process::id()));
    let place = caches.join(name);
    let done = fill_and_place(&fresh, &place, fill);
    // Removes a partial or older cache. A failure must not hide the first error.
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
        // The exchange is atomic: the cache exists at every moment.
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

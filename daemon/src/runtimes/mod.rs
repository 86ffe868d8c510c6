//! Which programs of the policy this host has.
//!
//! The policy names binaries; this looks whether they are there, are real programs and what the cell
//! must see of the host beside them. A script is passed over: version managers put scripts where
//! interpreters should be, and those need the host to find the program. A place that shows more than
//! programs is refused by name, whoever asked for it.

mod elf;
mod own_root;
mod places;

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use policies::{Binaries, BinaryRule, CacheSource, Installed, Policy, Runtime, WithoutCache};
use sandbox::client::Reach;

use elf::is_elf;
use places::Private;

/// Where `auto` looks before PATH.
const FIRST_PLACES: [&str; 2] = ["/usr/bin", "/usr/local/bin"];

/// Looks for everything that the runtimes of the policy need; `warm` is the directory with the caches
/// that `toolexec doctor --warm` made.
pub(crate) fn find(policy: &Policy, warm: &Path) -> Binaries {
    let private = Private::of_this_person(warm);
    let mut binaries = Binaries::new();
    for runtime in policy.runtimes() {
        let found = binary_of(runtime, &private).and_then(|installed| {
            let caches = caches_of(runtime, warm, &private)?;
            Ok(Installed { caches, ..installed })
        });
        match found {
            Ok(installed) => binaries.insert(runtime.name(), installed),
            Err(Some(why)) => binaries.insert_missing(runtime.name(), why),
            Err(None) => {}
        }
    }
    binaries
}

/// The program that a runtime of this policy is here.
///
/// # Errors
/// Why there is none, where more is known than that it was not found.
pub fn program_of(
    policy: &Policy,
    runtime_name: &str,
    warm: &Path,
) -> Result<PathBuf, Option<String>> {
    let runtime = policy.runtimes().find(|it| it.name() == runtime_name).ok_or(None)?;
    binary_of(runtime, &Private::of_this_person(warm)).map(|installed| installed.binary)
}

/// Lets a launcher of our own bind what the policy and this host make of its runtimes. It has our own
/// rights and holds its ceilings for our sake; one behind a socket has its unit's.
pub(crate) fn allow(reach: Reach, policy: &Policy, binaries: &Binaries) -> Reach {
    let Reach::Spawn { program, staging, mounts_allowed, seats_max } = reach else {
        return reach;
    };
    if !mounts_allowed.is_empty() {
        return Reach::Spawn { program, staging, mounts_allowed, seats_max };
    }
    let usual = sandbox::plan::MOUNTS_BY_DEFAULT.iter().map(PathBuf::from);
    let of_policy = policy
        .runtimes()
        .flat_map(|runtime| runtime.mounts().iter().map(PathBuf::as_path).chain(runtime.root()));
    let of_host = binaries.found().flat_map(|it| it.prefix.iter().chain(it.caches.values()));
    let mut mounts_allowed: Vec<PathBuf> = usual.collect();
    for path in of_policy.chain(of_host.map(PathBuf::as_path)) {
        if !mounts_allowed.iter().any(|allowed| path.starts_with(allowed)) {
            mounts_allowed.push(path.to_owned());
        }
    }
    Reach::Spawn { program, staging, mounts_allowed, seats_max }
}

/// A runtime that cannot be used: with what is known beyond "not found".
type Missing = Option<String>;

fn binary_of(runtime: &Runtime, private: &Private) -> Result<Installed, Missing> {
    for place in runtime.mounts().iter().map(PathBuf::as_path).chain(runtime.root()) {
        private.refuse(place).map_err(Some)?;
    }
    if let (Some(root), BinaryRule::Path(path)) = (runtime.root(), runtime.binary()) {
        return own_root::program_in(root, path).map(Installed::binary).map_err(Some);
    }
    let mut refused = None;
    for candidate in candidates(runtime.binary()) {
        match program_at(&candidate, runtime.mounts(), private) {
            Ok(installed) => return Ok(installed),
            // The first is the one that was meant.
            Err(why) => refused = refused.or(why),
        }
    }
    Err(refused)
}

fn candidates(rule: &BinaryRule) -> Vec<PathBuf> {
    match rule {
        BinaryRule::Path(path) => vec![path.clone()],
        BinaryRule::Auto { names } => {
            let path = env::var_os("PATH").unwrap_or_default();
            let first = FIRST_PLACES.iter().map(PathBuf::from);
            let places = first.chain(env::split_paths(&path).filter(|place| place.is_absolute()));
            places.flat_map(|place| names.iter().map(move |name| place.join(name))).collect()
        }
    }
}

/// The real path of a program, and what must be shown of the host beside the policy's mounts.
fn program_at(path: &Path, mounts: &[PathBuf], private: &Private) -> Result<Installed, Missing> {
    let unseen = |error: io::Error| {
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        (!is_missing).then(|| format!("{}: {error}", path.display()))
    };
    let real = fs::canonicalize(path).map_err(unseen)?;
    File::open(&real).map_err(unseen)?;
    if !is_elf(&real) {
        return Err(None);
    }
    let visible = mounts.iter().any(|mount| real.starts_with(mount));
    let prefix = if visible { None } else { Some(private.prefix_of(&real).map_err(Some)?) };
    Ok(Installed { binary: real, prefix, caches: BTreeMap::new() })
}

fn caches_of(
    runtime: &Runtime,
    warm: &Path,
    private: &Private,
) -> Result<BTreeMap<PathBuf, PathBuf>, Missing> {
    let mut caches = BTreeMap::new();
    for cache in runtime.caches() {
        let (source, advice) = match &cache.source {
            CacheSource::Warm => {
                let advice = format!("; run `toolexec doctor --warm {}`", runtime.name());
                (warm.join(runtime.name()), advice)
            }
            CacheSource::Path(path) => {
                // As the shipped policies name it; another one is somebody's own.
                let is_ours = path.file_name().is_some_and(|name| name == runtime.name());
                let advice = path.parent().filter(|_| is_ours).map(|parent| {
                    let (name, parent) = (runtime.name(), parent.display());
                    format!("; run `toolexec doctor --warm {name} --to {parent}`")
                });
                (path.clone(), advice.unwrap_or_default())
            }
        };
        match fs::canonicalize(&source) {
            Ok(real) if real.is_dir() => {
                private.refuse(&real).map_err(Some)?;
                caches.insert(cache.target.clone(), real);
            }
            _ if cache.without == WithoutCache::Run => {}
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Some(format!("{}: {error}", source.display())));
            }
            _ => return Err(Some(format!("{} is not there{advice}", source.display()))),
        }
    }
    Ok(caches)
}

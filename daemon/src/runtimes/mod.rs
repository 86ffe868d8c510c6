//! Finds the policy's runtimes on this host.
//!
//! The policy names binaries. Each must exist and be an ELF program; this module also finds the
//! directories that the sandbox must mount for it. A script is skipped: version managers install
//! scripts in place of interpreters, and those need the host to find the program. A directory with
//! private files is refused by name, even if the policy lists it.

mod backends;
mod elf;
mod model;
mod own_root;
mod private_directories;

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use policies::{
    BinaryRule, CacheSource, InstalledRuntime, InstalledRuntimes, MissingRuntime, Policy,
    RuntimeRule, WithoutCache,
};
use sandbox::client::{LauncherAddress, LauncherProgram};

pub use self::model::BackendScope;
pub(crate) use self::model::RuntimeSearch;

use crate::environment_digests::DigestCache;
use elf::is_elf;
use private_directories::PrivateDirectories;

/// The directories that `auto` searches before `PATH`.
const FIRST_DIRECTORIES: [&str; 2] = ["/usr/bin", "/usr/local/bin"];

/// Finds the runtimes of the policy, and the backends of this search. `digests` are those of the
/// backends' files. The caches are those that `toolexec doctor --build-cache` builds.
pub(crate) fn find(
    policy: &Policy,
    search: RuntimeSearch<'_>,
    digests: &mut DigestCache,
) -> InstalledRuntimes {
    let caches_dir = search.state.join("caches");
    let private = PrivateDirectories::of_user(&caches_dir);
    let mut binaries = InstalledRuntimes::new();
    for runtime in policy.runtimes() {
        let found = binary_of(runtime, &private).and_then(|installed| {
            let caches = caches_of(runtime, &caches_dir, &private)?;
            Ok(InstalledRuntime { caches, ..installed })
        });
        match found {
            Ok(installed) => binaries.insert(runtime.name(), installed),
            Err(Some(why)) => binaries.insert_missing(runtime.name(), why),
            Err(None) => {}
        }
    }
    binaries.with_backends(backends::find(policy, search, &private, digests))
}

/// Chooses the accelerators of these backends again, by the remembered probes. It reads none of
/// their files.
pub(crate) fn choose_accelerators(
    policy: &Policy,
    found: &InstalledRuntimes,
    state: &Path,
) -> InstalledRuntimes {
    let backends = backends::choose_accelerators(policy, found.backends(), state);
    found.clone().with_backends(backends)
}

/// Returns the program of a runtime of this policy.
///
/// # Errors
/// The reason, if more is known than that it was not found.
pub fn program_of(
    policy: &Policy,
    runtime_name: &str,
    caches_dir: &Path,
) -> Result<PathBuf, Option<String>> {
    let runtime = policy.runtimes().find(|it| it.name() == runtime_name).ok_or(None)?;
    let found = binary_of(runtime, &PrivateDirectories::of_user(caches_dir));
    found.map(|installed| installed.binary).map_err(|problem| Some(problem?.reason))
}

/// Allows a spawned launcher, which has the daemon's rights, to mount the directories of the
/// policy's runtimes and the store of environments, if one is given. A launcher behind a socket has
/// the ceilings of its unit.
pub(crate) fn allow_mounts(
    reach: LauncherAddress,
    policy: &Policy,
    binaries: &InstalledRuntimes,
    environments: Option<&Path>,
) -> LauncherAddress {
    let program = match reach {
        LauncherAddress::Spawn(program) if program.mounts_allowed.is_empty() => program,
        other => return other,
    };
    let usual = sandbox::plan::MOUNTS_BY_DEFAULT.iter().map(PathBuf::from);
    let of_policy = policy
        .runtimes()
        .flat_map(|runtime| runtime.mounts().iter().map(PathBuf::as_path).chain(runtime.root()));
    let of_host = binaries.found().flat_map(|it| it.prefix.iter().chain(it.caches.values()));
    let of_backends = binaries.backends().found().flat_map(|(_, it)| it.directories.values());
    let of_host = of_host.chain(of_backends);
    let mut mounts_allowed: Vec<PathBuf> = usual.collect();
    for path in of_policy.chain(of_host.map(PathBuf::as_path)).chain(environments) {
        if !mounts_allowed.iter().any(|allowed| path.starts_with(allowed)) {
            mounts_allowed.push(path.to_owned());
        }
    }
    LauncherAddress::Spawn(LauncherProgram { mounts_allowed, ..program })
}

/// The reason why a runtime cannot be used, if more is known than "not found".
type RuntimeProblem = Option<MissingRuntime>;

fn problem(reason: String) -> RuntimeProblem {
    Some(reason.into())
}

fn binary_of(
    runtime: &RuntimeRule,
    private: &PrivateDirectories,
) -> Result<InstalledRuntime, RuntimeProblem> {
    for place in runtime.mounts().iter().map(PathBuf::as_path).chain(runtime.root()) {
        private.check(place).map_err(problem)?;
    }
    if let (Some(root), BinaryRule::Path(path)) = (runtime.root(), runtime.binary()) {
        return own_root::program_in(root, path).map(InstalledRuntime::binary).map_err(problem);
    }
    let mut refused = None;
    for candidate in candidates(runtime.binary()) {
        match program_at(&candidate, runtime.mounts(), private) {
            Ok(installed) => return Ok(installed),
            // The first candidate is the most likely one.
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
            let first = FIRST_DIRECTORIES.iter().map(PathBuf::from);
            let places = first.chain(env::split_paths(&path).filter(|place| place.is_absolute()));
            places.flat_map(|place| names.iter().map(move |name| place.join(name))).collect()
        }
    }
}

/// Returns the real path of a program, and the directory to mount besides the policy's mounts.
fn program_at(
    path: &Path,
    mounts: &[PathBuf],
    private: &PrivateDirectories,
) -> Result<InstalledRuntime, RuntimeProblem> {
    let unseen = |error: io::Error| {
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        (!is_missing).then(|| format!("{}: {error}", path.display()).into())
    };
    let real = fs::canonicalize(path).map_err(unseen)?;
    File::open(&real).map_err(unseen)?;
    if !is_elf(&real) {
        return Err(None);
    }
    let visible = mounts.iter().any(|mount| real.starts_with(mount));
    let prefix = if visible { None } else { Some(private.prefix_of(&real).map_err(problem)?) };
    Ok(InstalledRuntime { binary: real, prefix, caches: BTreeMap::new() })
}

fn caches_of(
    runtime: &RuntimeRule,
    caches_dir: &Path,
    private: &PrivateDirectories,
) -> Result<BTreeMap<PathBuf, PathBuf>, RuntimeProblem> {
    let mut caches = BTreeMap::new();
    for cache in runtime.caches() {
        let source = match &cache.source {
            CacheSource::Warm => caches_dir.join(runtime.name()),
            CacheSource::Path(path) => path.clone(),
        };
        match fs::canonicalize(&source) {
            Ok(real) if real.is_dir() => {
                private.check(&real).map_err(problem)?;
                caches.insert(cache.target.clone(), real);
            }
            _ if cache.without == WithoutCache::Run => {}
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(problem(format!("{}: {error}", source.display())));
            }
            _ => {
                let reason = format!("{} does not exist", source.display());
                return Err(Some(MissingRuntime {
                    reason,
                    remedy: cache_remedy(runtime, &source),
                }));
            }
        }
    }
    Ok(caches)
}

/// Returns the command that builds a cache. `None` for a path that it does not build.
fn cache_remedy(runtime: &RuntimeRule, source: &Path) -> Option<String> {
    let language = runtime.language();
    let is_built = language.runtime().needs_cache;
    let language = language.as_str();
    let parent = source.parent().filter(|_| is_built && source.ends_with(language))?;
    Some(format!("run `toolexec doctor --build-cache {language} --cache-dir {}`", parent.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(environments: Option<&Path>) -> Vec<PathBuf> {
        let policy = Policy::shipped("embedded").unwrap();
        let program = LauncherProgram::new("/bin/launcher".into(), "/staging".into());
        let reach = LauncherAddress::Spawn(program);
        match allow_mounts(reach, &policy, &InstalledRuntimes::new(), environments) {
            LauncherAddress::Spawn(program) => program.mounts_allowed,
            LauncherAddress::Socket(_) => Vec::new(),
        }
    }

    #[test]
    fn a_cache_is_built_by_a_command_only_where_that_command_builds_it() {
        let policy = Policy::shipped("standard").unwrap();
        let ts = policy.runtimes().find(|runtime| runtime.name() == "ts").unwrap();
        let remedy = "run `toolexec doctor --build-cache ts --cache-dir /srv/caches`";
        assert_eq!(cache_remedy(ts, Path::new("/srv/caches/ts")).as_deref(), Some(remedy));
        assert_eq!(cache_remedy(ts, Path::new("/srv/caches/loader")), None);
        let python = policy.runtimes().find(|runtime| runtime.name() == "python").unwrap();
        assert_eq!(cache_remedy(python, Path::new("/srv/caches/python")), None);
    }

    #[test]
    fn a_spawned_launcher_may_mount_the_store_of_environments() {
        let without = allowed(None);
        let store = Path::new("/home/x/state/environments");
        assert_eq!(allowed(Some(store)), [&without[..], &[store.to_owned()]].concat());
        // A directory that is allowed already.
        assert_eq!(allowed(Some(Path::new("/opt/state/environments"))), without);
    }
}

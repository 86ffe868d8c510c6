//! An agent gives up rights before it reads a byte of another program. The rest of the code must
//! not rely on it: a kernel without Landlock only causes a warning. The acts `check` and `command`
//! restrict neither files nor system calls.
//!
//! An agent writes in `approved/` of the spool, in its state directory, and in a store that is a
//! directory. It reads the spool, the directories of the files that its configuration names, and
//! the files of name look-ups and certificates. It connects to any server, listens on no port, and
//! starts no program.

mod syscalls;
#[cfg(test)]
mod tests;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use confinement::{ConfinementError, NAME_LOOKUP_DIRECTORIES, restrict_access};
use landlock::{
    AccessFs, AccessNet, BitFlags, RulesetCreated, RulesetCreatedAttr as _, RulesetError,
    RulesetStatus, path_beneath_rules,
};
use reqwest::Url;
use rustix::fs::Mode;

/// Only this user reads the state. Files in `approved/` get their mode explicitly.
const AGENT_UMASK: u32 = 0o077;

/// Has the configuration of name look-ups. Other programs replace its files by renames.
const CONFIGURATION: [&str; 1] = ["/etc"];
/// The targets of links below `/etc` to the certificates of authorities.
const CERTIFICATE_PATHS: [&str; 4] = [
    "/usr/local/share/ca-certificates",
    "/usr/share/ca-certificates",
    "/usr/share/pki",
    "/var/lib/ca-certificates",
];
/// Variables with these prefixes may name files: the identity of this host at a cloud, which others
/// renew, and certificates.
const FILE_VARIABLES: [&str; 4] = ["AWS_", "AZURE_", "GOOGLE_", "SSL_CERT_"];

/// The places that an agent uses while it serves.
pub(crate) struct AgentPlaces<'a> {
    /// The spool of the daemon.
    pub(crate) spool: &'a Path,
    /// The log of this host.
    pub(crate) log: &'a Path,
    /// The state of the agent.
    pub(crate) state: &'a Path,
    /// The address of the store, if it has one.
    pub(crate) store: Option<&'a str>,
    /// Files that are read again. Each may be replaced by a rename.
    pub(crate) files: Vec<&'a Path>,
}

/// Gives up the rights that no part of the program needs. It must run before any thread is started.
///
/// # Errors
/// The kernel refused a restriction.
pub(crate) fn confine() -> Result<(), String> {
    rustix::thread::set_no_new_privs(true)
        .map_err(|errno| format!("no_new_privs: {errno}; help: check what confines this process"))
}

/// Gives up what an agent does not need before its configuration is read. It must run before any
/// thread is started.
///
/// # Errors
/// The kernel refused a restriction.
pub(crate) fn confine_agent() -> Result<(), String> {
    confine()?;
    rustix::process::umask(Mode::from_raw_mode(AGENT_UMASK));
    Ok(())
}

/// Gives up all rights that serving does not need. It must run after the runtime was built, which
/// makes a pair of sockets, and after the gate listens, but before any thread is started.
///
/// # Errors
/// A directory that the agent needs is missing, or the kernel refused a restriction that it has.
pub(crate) fn confine_serving(places: &AgentPlaces<'_>) -> Result<(), String> {
    // Landlock would have no rule for a directory that is made later. The rule of the spool covers
    // a log in it.
    let approved = places.spool.join("approved");
    let log = Some(places.log).filter(|log| !log.starts_with(places.spool));
    let needed = [Some(approved.as_path()), Some(places.state), log];
    if let Some(missing) = needed.into_iter().flatten().find(|path| !path.is_dir()) {
        let shown = missing.display();
        let help = "make it, or start toolexecd first";
        return Err(format!("{shown}: not a directory; help: {help}"));
    }
    let status = restrict_files(places).map_err(|error| error.to_string())?;
    if status == RulesetStatus::NotEnforced {
        tracing::warn!(
            "this kernel has no Landlock: files are not restricted; help: boot a kernel with \
             Landlock"
        );
    }
    // Last, because it allows none of the calls above.
    syscalls::allowed().apply().map_err(|error| error.to_string())
}

/// Restricts files and listening. Landlock cannot limit the addresses of outgoing connections.
fn restrict_files(places: &AgentPlaces<'_>) -> Result<RulesetStatus, ConfinementError> {
    restrict_access(AccessNet::BindTcp.into(), |rules| allow_files(rules, places))
}

fn allow_files(
    rules: RulesetCreated,
    places: &AgentPlaces<'_>,
) -> Result<RulesetCreated, RulesetError> {
    let look = AccessFs::ReadFile | AccessFs::ReadDir;
    let approved = places.spool.join("approved");
    let store = places.store.and_then(directory_of_store);
    let written = [Some(approved.as_path()), Some(places.state), store.as_deref()];
    let named = places.files.iter().map(|file| directory_of(file));
    rules
        .add_rules(path_beneath_rules([places.spool, places.log], look))?
        .add_rules(path_beneath_rules(written.into_iter().flatten(), writing()))?
        .add_rules(path_beneath_rules(named, look))?
        .add_rules(path_beneath_rules(variable_places(env::vars_os()), look))?
        .add_rules(path_beneath_rules(CONFIGURATION, look))?
        .add_rules(path_beneath_rules(NAME_LOOKUP_DIRECTORIES, look))?
        .add_rules(path_beneath_rules(CERTIFICATE_PATHS, look))
}

/// Returns the rights to read, make, replace and remove files, directories and links.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::MakeSym
        | AccessFs::RemoveFile
        | AccessFs::RemoveDir
}

/// Returns the directory of a store, if it is one.
fn directory_of_store(address: &str) -> Option<PathBuf> {
    let url = Url::parse(address).ok().filter(|url| url.scheme() == "file")?;
    url.to_file_path().ok()
}

/// Returns the directory of a file; the file itself if that is the root.
fn directory_of(file: &Path) -> &Path {
    let parent = file.parent().filter(|parent| parent.parent().is_some());
    parent.unwrap_or(file)
}

/// Returns the places that variables of the environment name by absolute paths.
fn variable_places(variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<PathBuf> {
    let is_ours = |key: &OsString| {
        let key = key.to_string_lossy();
        FILE_VARIABLES.iter().any(|prefix| key.starts_with(prefix))
    };
    // An address of a cloud would be split into a path.
    let is_address = |value: &OsString| value.to_string_lossy().contains("://");
    let named = variables.filter(|(key, value)| is_ours(key) && !is_address(value));
    let paths = named.flat_map(|(_, value)| env::split_paths(&value).collect::<Vec<_>>());
    let paths = paths.filter(|path| path.is_absolute());
    paths
        .map(|path| match path.is_dir() {
            true => path,
            false => directory_of(&path).to_owned(),
        })
        .collect()
}

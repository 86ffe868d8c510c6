//! The environment that `--env` names, and the stores in which it is looked up. Only the two small
//! files of an environment are read here. It must never count as checked: a run opens it again.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use daemon::environments_dir;
use model::EnvironmentReference;
use trees::{Environment, EnvironmentStore, StoreError};

use super::state::StateOption;
use crate::failure::Failure;

/// The store of the system's daemon.
const SYSTEM_STORE: &str = "/var/lib/toolexec/environments";

/// Returns the store in a state directory.
pub(crate) fn store_of(state: &StateOption) -> Result<PathBuf, Failure> {
    Ok(environments_dir(&state.path()?))
}

/// Returns the stores of this host: that of its daemon, and that of the user's embedded runs.
pub(crate) fn host_stores() -> Vec<PathBuf> {
    let own = store_of(&StateOption { dir: None }).ok();
    [PathBuf::from(SYSTEM_STORE)].into_iter().chain(own).collect()
}

/// Returns the reference that `--env` names. A whole reference needs no store, because another host
/// may run the request. Every other word must mean one digest in the stores of this host.
pub(crate) fn environment_reference(word: &str) -> Result<EnvironmentReference, Failure> {
    if let Ok(reference) = word.parse() {
        return Ok(reference);
    }
    let (mut found, mut unreadable) = (Vec::new(), None);
    for store in host_stores() {
        match find_in(&store, word) {
            Ok(environment) => found.extend(environment),
            Err(error) if is_denied(&error) => unreadable = Some(error),
            Err(error) => return Err(failure(&error)),
        }
    }
    found.dedup_by(|a, b| a.sha256 == b.sha256);
    match (found.as_slice(), unreadable) {
        ([only], _) => Ok(only.reference()),
        ([], Some(error)) => Err(failure(&error)),
        ([], None) => Err(failure(&missing(word))),
        _ => {
            let why = "the user's store and the daemon's have different environments of this name";
            let word = model::quote(word);
            Err(Failure::Message(format!("{word}: {why}; help: write NAME@sha256:DIGEST")))
        }
    }
}

/// Finds an environment in a store.
pub(crate) fn stored_environment(store: &Path, word: &str) -> Result<Environment, Failure> {
    let found = find_in(store, word).map_err(|error| failure(&error))?;
    found.ok_or_else(|| failure(&missing(word)))
}

/// Finds an environment in a store, if both exist.
pub(crate) fn find_in(store: &Path, word: &str) -> Result<Option<Environment>, StoreError> {
    match EnvironmentStore::open(store).and_then(|store| store.find(word)) {
        Ok(environment) => Ok(Some(environment)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_denied(error: &StoreError) -> bool {
    matches!(error, StoreError::Io { error, .. } if error.kind() == ErrorKind::PermissionDenied)
}

fn missing(word: &str) -> StoreError {
    StoreError::Missing { word: word.to_owned() }
}

fn failure(error: &StoreError) -> Failure {
    Failure::Message(error.to_string())
}

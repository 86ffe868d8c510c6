//! The environment that a request names, as the store of this host has it. Each call compares its
//! files with their stamp, because nothing is kept from one call to the next. An environment must
//! never be found by its name: only the digest says which one a person approved.

use std::path::{Path, PathBuf};

use model::EnvironmentReference;
use policies::{EnvironmentEvidence, OpenedEnvironment};
use records::{reason_with_help, split_reason};
use trees::{EnvironmentContent, EnvironmentKind, EnvironmentStore, OpenEnvironment, StoreError};

/// Returns the store of environments in a state directory.
#[must_use]
pub fn environments_dir(state: &Path) -> PathBuf {
    state.join("environments")
}

/// Creates the store if it does not exist. A launcher mounts only directories that exist at its
/// start, and an operator may build the first environment later.
pub(crate) fn create_store(store: &Path) {
    if let Err(error) = EnvironmentStore::create(store) {
        tracing::warn!("requests that name an environment will be refused: {error}");
    }
}

/// Opens the environment that a request names, for the decision.
pub(crate) fn evidence(named: Option<&EnvironmentReference>, store: &Path) -> EnvironmentEvidence {
    match named.map(|named| open(named, store)) {
        None => EnvironmentEvidence::Unnamed,
        Some(Ok(opened)) => EnvironmentEvidence::Opened(Box::new(opened)),
        Some(Err(fault)) => EnvironmentEvidence::Unavailable(fault.problem),
    }
}

/// Opens the environment of a run once more. Returns the reason why the run must not start, if
/// there is one.
pub(crate) fn start_fault(named: &EnvironmentReference, store: &Path) -> Option<String> {
    let fault = open(named, store).err()?;
    Some(reason_with_help(&format!("environment {named}: {}", fault.problem), fault.help))
}

/// The reason why an environment cannot be used. Records state it, and their lint withholds a text
/// that reads as an instruction to run a command.
struct EnvironmentFault {
    problem: String,
    help: &'static str,
}

fn open(named: &EnvironmentReference, store: &Path) -> Result<OpenedEnvironment, EnvironmentFault> {
    let opened = EnvironmentStore::open(store).and_then(|found| found.open_content(named.sha256));
    let OpenEnvironment { content, path, .. } =
        opened.map_err(|error| EnvironmentFault::of(&error, store))?;
    let EnvironmentContent { kind, programs, variables, needs } = content;
    Ok(OpenedEnvironment {
        reference: named.clone(),
        is_root: kind == EnvironmentKind::Root,
        programs,
        variables,
        needs,
        tree: path,
    })
}

impl EnvironmentFault {
    fn of(error: &StoreError, store: &Path) -> Self {
        match error {
            StoreError::Changed { .. } => Self {
                problem: "its files changed after it was built".to_owned(),
                help: "build it again with `toolexec env build`",
            },
            missing if missing.is_missing() => Self {
                problem: format!("it is not in {}", store.display()),
                help: "add it with `toolexec env import` or `toolexec env build`",
            },
            other => Self {
                problem: split_reason(&other.to_string()).0.to_owned(),
                help: "check it with `toolexec env verify`",
            },
        }
    }
}

#[cfg(test)]
mod tests;

//! The environment that a request names, as the store of this host has it. The decision uses what
//! the environment states; its files are compared with their stamp once, before the start.
//! An environment must never be found by its name: only the digest says which one a person approved.

use std::path::{Path, PathBuf};

use model::EnvironmentReference;
use policies::{EnvironmentEvidence, OpenedEnvironment};
use records::split_reason;
use trees::{EnvironmentContent, EnvironmentKind, EnvironmentStore, OpenEnvironment, StoreError};
use validator::{Code, Violation};

use crate::environment_builder::builder;

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

/// Opens the environment that a request names, and compares its files: for a person's review.
pub(crate) fn evidence(named: Option<&EnvironmentReference>, store: &Path) -> EnvironmentEvidence {
    as_evidence(named.map(|named| open(named, store)))
}

/// Reads what the environment that a request names states, for the decision.
pub(crate) fn stated(named: Option<&EnvironmentReference>, store: &Path) -> EnvironmentEvidence {
    as_evidence(named.map(|named| read(named, store)))
}

fn as_evidence(found: Option<Result<OpenedEnvironment, EnvironmentFault>>) -> EnvironmentEvidence {
    match found {
        None => EnvironmentEvidence::Unnamed,
        Some(Ok(opened)) => EnvironmentEvidence::Opened(Box::new(opened)),
        Some(Err(fault)) => EnvironmentEvidence::Unavailable(fault.problem),
    }
}

/// Compares the files of a run's environment. Returns the reason why the run must not start, if
/// there is one. The sandbox shows the directory by its path, which must still be the one that the
/// decision used, with the same facts.
pub(crate) fn start_fault(decided: &OpenedEnvironment, store: &Path) -> Option<Violation> {
    let fault = match open(&decided.reference, store) {
        Ok(opened) if opened == *decided => return None,
        Ok(_) => EnvironmentFault::replaced(),
        Err(fault) => fault,
    };
    let message = format!("x-environment: {}: {}", decided.reference, fault.problem);
    Some(Violation::error(Code::EnvironmentUnavailable, message).hint(fault.help))
}

/// The reason why an environment cannot be used. Records state it, and their lint withholds a text
/// that reads as an instruction to run a command.
struct EnvironmentFault {
    problem: String,
    help: &'static str,
}

fn open(named: &EnvironmentReference, store: &Path) -> Result<OpenedEnvironment, EnvironmentFault> {
    let opened = EnvironmentStore::open(store).and_then(|found| found.open_content(named.sha256));
    let OpenEnvironment { content, path, identity, .. } =
        opened.map_err(|error| EnvironmentFault::of(&error, store))?;
    Ok(opened_environment(named, content, path, identity, store))
}

fn read(named: &EnvironmentReference, store: &Path) -> Result<OpenedEnvironment, EnvironmentFault> {
    let found = EnvironmentStore::open(store).and_then(|found| found.read_content(named.sha256));
    let (content, path, identity) = found.map_err(|error| EnvironmentFault::of(&error, store))?;
    Ok(opened_environment(named, content, path, identity, store))
}

fn opened_environment(
    named: &EnvironmentReference,
    content: EnvironmentContent,
    path: PathBuf,
    identity: (u64, u64),
    store: &Path,
) -> OpenedEnvironment {
    let EnvironmentContent { kind, programs, variables, needs } = content;
    OpenedEnvironment {
        reference: named.clone(),
        is_root: kind == EnvironmentKind::Root,
        programs,
        variables,
        needs,
        tree: path,
        identity,
        builder: builder(store, named.sha256),
    }
}

impl EnvironmentFault {
    fn changed() -> Self {
        Self {
            problem: "its files changed after it was built".to_owned(),
            help: "compare it with `toolexec env verify`, or build it again with `toolexec env build`",
        }
    }

    fn replaced() -> Self {
        Self {
            problem: "it was replaced while the run was prepared".to_owned(),
            help: "draft a new request",
        }
    }

    fn of(error: &StoreError, store: &Path) -> Self {
        match error {
            StoreError::Changed { .. } => Self::changed(),
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

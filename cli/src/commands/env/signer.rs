//! Signs the record of a build: with the key that the operator named, else with the result key of
//! the state directory. The record of another key must never be replaced without `--sign-key`.

use std::env::consts::{ARCH, OS};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use daemon::environments_dir;
use environments::SourceInstaller;
use model::UtcTime;
use records::{
    BuildStatement, BuildTotals, BuilderKey, HostKeyError, StatedInstaller, StatedSource,
    reason_with_help, sign_build, split_reason,
};
use trees::{BuildFacts, Environment, EnvironmentStore};

use super::error::EnvironmentCommandError;
use crate::args::SignedBuild;
use crate::failure::Failure;

/// The key that signs the record of a build.
pub(super) enum BuildSigner {
    /// The operator named it.
    Named(BuilderKey),
    /// The result key of the state directory that has the store.
    OfHost(BuilderKey),
    /// No key is readable. Holds the reason.
    Missing(String),
}

/// A build that ended, as its record states it.
pub(super) struct FinishedBuild<'a> {
    pub(super) facts: &'a BuildFacts,
    pub(super) installer: Option<SourceInstaller>,
    pub(super) started: UtcTime,
}

impl BuildSigner {
    pub(super) fn open(
        store: &EnvironmentStore,
        named: Option<&Path>,
    ) -> Result<Self, EnvironmentCommandError> {
        if let Some(path) = named {
            let key = BuilderKey::of_file(path);
            let key = key.map_err(|error| Failure::Message(named_key_problem(&error)))?;
            return Ok(Self::Named(key));
        }
        let Some(keys) = host_keys(store.path()) else {
            let path = store.path().display();
            return Ok(Self::Missing(format!("{path}: not the store of a state directory")));
        };
        Ok(match BuilderKey::of_host(&keys) {
            Ok(key) => Self::OfHost(key),
            Err(error) if is_missing(&error) => {
                let keys = keys.display();
                Self::Missing(format!("{keys}: no result key yet (`toolexec keys init` makes it)"))
            }
            Err(error) => Self::Missing(split_reason(&error.to_string()).0.to_owned()),
        })
    }

    /// Signs the record of a stored environment and stores it. Returns the reason if the build
    /// stays unsigned.
    pub(super) fn sign(
        self,
        store: &EnvironmentStore,
        environment: &Environment,
        build: FinishedBuild<'_>,
    ) -> Result<Option<String>, EnvironmentCommandError> {
        let signed = || SignedBuild::read(store, environment.sha256);
        let key = match self {
            Self::Named(key) => key,
            _ if matches!(signed(), SignedBuild::Verified(_)) => return Ok(None),
            Self::OfHost(key) => key,
            Self::Missing(why) => return Ok(Some(why)),
        };
        let record = sign_build(&statement(environment, build), &key)
            .map_err(|error| Failure::Message(format!("{}: {error}", environment.reference())))?;
        store.put_build_record(environment.sha256, &record)?;
        Ok(None)
    }
}

fn is_missing(error: &HostKeyError) -> bool {
    matches!(error, HostKeyError::Io { source, .. } if source.kind() == ErrorKind::NotFound)
}

/// Returns the message about a key that the operator named. Its help must not be that of the host's
/// own keys, which are restored from a backup.
fn named_key_problem(error: &HostKeyError) -> String {
    let problem = format!("--sign-key {error}");
    match error {
        HostKeyError::Exposed { path, .. } if path.extension().is_some_and(|it| it == "pub") => {
            let path = path.display();
            format!("--sign-key {path}: a public key; help: name the private key, without `.pub`")
        }
        _ if is_missing(error) => reason_with_help(split_reason(&problem).0, "check the path"),
        _ => problem,
    }
}

/// Returns the key directory of the state directory that has this store.
fn host_keys(store: &Path) -> Option<PathBuf> {
    // Its path may have links and `..`.
    let store = fs::canonicalize(store).ok()?;
    let state = store.parent()?;
    (environments_dir(state) == store).then(|| state.join("keys"))
}

fn statement(environment: &Environment, build: FinishedBuild<'_>) -> BuildStatement {
    let FinishedBuild { facts, installer, started } = build;
    let &Environment { files, directories, links, bytes, .. } = environment;
    BuildStatement {
        environment: environment.reference(),
        source: StatedSource {
            kind: facts.source.kind.clone(),
            file: facts.source.file.clone(),
            sha256: facts.source.sha256.to_string(),
        },
        installer: installer.map(|it| StatedInstaller { name: it.name, version: it.version }),
        platform: format!("{OS}/{ARCH}"),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        // A clock that was set back must not make the record invalid.
        started: started.min(facts.built),
        ended: facts.built,
        uid: facts.uid,
        totals: BuildTotals { files, directories, links, bytes },
    }
}

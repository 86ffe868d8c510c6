//! Arguments that several commands of `toolexec env` share, and the limits of trees.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use clap::Args;
use trees::{EnvironmentStore, StoreError, TreeLimits};

use super::error::EnvironmentCommandError;
use crate::args::StateOption;
use crate::failure::Failure;
use crate::random::random_bytes;

/// Above the limits of builds, so that every stored environment can be checked and copied.
pub(super) const TREE_LIMITS: TreeLimits =
    TreeLimits { entries_max: 1_000_000, bytes_max: 64 << 30, depth_max: 128 };

/// The store of environments.
#[derive(Args)]
pub(crate) struct EnvironmentStoreOption {
    /// Use this store, such as environments/ in the state directory of a daemon
    /// [default: environments/ in $XDG_STATE_HOME/toolexec, else in ~/.local/state/toolexec]
    #[arg(long = "store", value_name = "DIR")]
    pub(super) dir: Option<PathBuf>,
}

impl EnvironmentStoreOption {
    /// Returns the option's value, or the directory in the state of embedded runs.
    pub(super) fn path(&self) -> Result<PathBuf, Failure> {
        match &self.dir {
            Some(dir) if dir.as_os_str().is_empty() => {
                Err(Failure::Message("--store: empty; help: name a directory".into()))
            }
            Some(dir) => std::path::absolute(dir).map_err(Failure::io(dir)),
            None => Ok(StateOption { dir: None }.path()?.join("environments")),
        }
    }

    /// Opens the store that must have this environment. Before the first build the store of
    /// embedded runs is missing, and so is the environment.
    pub(super) fn open_for(&self, word: &str) -> Result<EnvironmentStore, EnvironmentCommandError> {
        let missing = || StoreError::Missing { word: word.to_owned() };
        Ok(self.open_if_any()?.ok_or_else(missing)?)
    }

    /// Opens the store, or returns `None` if none was named and that of embedded runs is missing.
    pub(super) fn open_if_any(&self) -> Result<Option<EnvironmentStore>, EnvironmentCommandError> {
        match EnvironmentStore::open(&self.path()?) {
            Ok(store) => Ok(Some(store)),
            Err(error) if error.is_missing() && self.dir.is_none() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the store, which is created if it is missing.
    pub(super) fn create(&self) -> Result<EnvironmentStore, EnvironmentCommandError> {
        let path = self.path()?;
        if let Some(state) = path.parent().filter(|_| self.dir.is_none()) {
            // As the first run would create it: accessible to its user only.
            let made = DirBuilder::new().mode(0o700).recursive(true).create(state);
            made.map_err(Failure::io(state))?;
        }
        Ok(EnvironmentStore::create(&path)?)
    }
}

/// Returns the random name of a draft.
pub(super) fn draft_name() -> Result<u128, Failure> {
    Ok(u128::from_be_bytes(random_bytes()?))
}

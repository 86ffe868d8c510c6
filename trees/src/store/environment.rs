//! A stored environment, as its two files state it. Reading one never looks at its tree: the stamp
//! and the digest are checked when it is opened, which may write `stamp` and `index`.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use model::Sha256;

use super::build_file::{BuildFacts, SourceFacts, StoredBuild};
use super::directory::{
    BUILD_JSON, CONTENT, ENVIRONMENT_JSON, EnvironmentStore, TREE, directory_name, refuse_writable,
};
use super::error::StoreError;
use super::handle::{open_directory, read_small};
use crate::content::{CONTENT_BYTES_MAX, EnvironmentContent};
use crate::name::{DIGEST_PREFIX, EnvironmentName, EnvironmentReference};

/// An environment of the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Environment {
    /// The digest.
    pub sha256: Sha256,
    /// The name by which it was found, or else that of its build.
    pub name: EnvironmentName,
    /// The facts that matter to a run.
    pub content: EnvironmentContent,
    /// The facts of its first build.
    pub build: BuildFacts,
    /// The environment is a copy from another store, which states the facts of its build.
    pub imported: bool,
    /// The other sources from which this store built the same environment later.
    pub other_sources: Vec<SourceFacts>,
    /// The other names under which the same environment was built later.
    pub other_names: Vec<EnvironmentName>,
    /// The files of its tree; each hard link counts.
    pub files: u64,
    /// The directories of its tree.
    pub directories: u64,
    /// The symbolic links of its tree.
    pub links: u64,
    /// The sizes of its files together.
    pub bytes: u64,
    /// The directory with `content/`, `build.json`, `stamp` and `index`.
    pub path: PathBuf,
}

impl Environment {
    /// Returns the name and the digest, as a request names the environment.
    #[must_use]
    pub fn reference(&self) -> EnvironmentReference {
        EnvironmentReference { name: self.name.clone(), sha256: self.sha256 }
    }

    /// Returns whether the environment was built under this name.
    #[must_use]
    pub fn is_named(&self, name: &EnvironmentName) -> bool {
        self.build.name == *name || self.other_names.contains(name)
    }

    /// Returns whether this store built the environment from this source. What another store
    /// states about a build does not count.
    #[must_use]
    pub fn is_built_from(&self, source: &SourceFacts) -> bool {
        (!self.imported && self.build.source == *source) || self.other_sources.contains(source)
    }
}

/// The open directory of an environment.
pub(super) struct StoredDirectory {
    pub(super) sha256: Sha256,
    pub(super) path: PathBuf,
    pub(super) directory: OwnedFd,
}

impl EnvironmentStore {
    /// Opens the tree of an environment to copy it. No file is compared with its digest: the digest
    /// of the copy must be.
    ///
    /// # Errors
    /// The environment does not exist, or its tree cannot be opened.
    pub fn open_unverified_tree(&self, sha256: Sha256) -> Result<OwnedFd, StoreError> {
        let stored = StoredDirectory::open(self, sha256)?;
        let path = stored.content_path().join(TREE);
        open_directory(stored.content()?, TREE).map_err(StoreError::io(&path, "open"))
    }
}

impl StoredDirectory {
    pub(super) fn open(store: &EnvironmentStore, sha256: Sha256) -> Result<Self, StoreError> {
        let name = directory_name(&sha256);
        let path = store.path().join(&name);
        match open_directory(store.handle(), &name) {
            Ok(directory) => {
                refuse_writable(&directory, &path)?;
                Ok(Self { sha256, path, directory })
            }
            Err(rustix::io::Errno::NOENT) => Err(missing(&sha256)),
            Err(errno) => Err(StoreError::io(&path, "open")(errno)),
        }
    }

    /// Opens `content/`.
    pub(super) fn content(&self) -> Result<OwnedFd, StoreError> {
        let path = self.content_path();
        let opened = open_directory(&self.directory, CONTENT);
        let content = opened.map_err(StoreError::io(&path, "open"))?;
        refuse_writable(&content, &path)?;
        Ok(content)
    }

    pub(super) fn content_path(&self) -> PathBuf {
        self.path.join(CONTENT)
    }

    pub(super) fn read_build(&self) -> Result<StoredBuild, StoreError> {
        let path = self.path.join(BUILD_JSON);
        let text = read_small(&self.directory, BUILD_JSON, CONTENT_BYTES_MAX)
            .map_err(StoreError::io(&path, "read"))?;
        StoredBuild::parse(&text).map_err(|fault| StoreError::File { path, fault })
    }

    /// Returns the name and the digest for a message, or only the digest.
    pub(super) fn label(&self) -> String {
        match self.read_build() {
            Ok(build) => {
                let name = build.facts.name;
                EnvironmentReference { name, sha256: self.sha256 }.to_string()
            }
            Err(_) => format!("{DIGEST_PREFIX}{}", self.sha256),
        }
    }

    pub(super) fn load(&self) -> Result<Environment, StoreError> {
        let build = self.read_build()?;
        let StoredBuild { facts, imported, other_sources, other_names, .. } = build;
        let StoredBuild { files, directories, links, bytes, .. } = build;
        Ok(Environment {
            sha256: self.sha256,
            name: facts.name.clone(),
            content: read_content(self.content()?, &self.content_path())?,
            build: facts,
            imported,
            other_sources,
            other_names,
            files,
            directories,
            links,
            bytes,
            path: self.path.clone(),
        })
    }
}

/// Reads `environment.json` of `content/`.
pub(super) fn read_content(
    content: impl AsFd,
    path: &Path,
) -> Result<EnvironmentContent, StoreError> {
    let path = path.join(ENVIRONMENT_JSON);
    let text = read_small(content, ENVIRONMENT_JSON, CONTENT_BYTES_MAX)
        .map_err(StoreError::io(&path, "read"))?;
    EnvironmentContent::parse(&text).map_err(|fault| StoreError::File { path, fault })
}

pub(super) fn missing(sha256: &Sha256) -> StoreError {
    StoreError::Missing { word: format!("{DIGEST_PREFIX}{sha256}") }
}

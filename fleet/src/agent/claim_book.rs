//! The claims of this host that are not reported yet: in memory, and in one file each. The file is
//! durable before the claim has an effect. So an interrupted agent continues with it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fleet::model::HostName;
use model::{RequestId, escape_line};
use serde::{Deserialize, Serialize};
use spool::write_new_file;

use super::bounded_file::read_bytes;
use super::error::FleetAgentError;
use super::model::{ClaimFile, LocalClaim};

const FILE_BYTES_MAX: u64 = 1024 * 1024;
const SUFFIX: &str = ".json";

/// The host whose claims a book has, and its fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClaimOwner {
    fleet_id: String,
    host: String,
}

impl ClaimOwner {
    pub(super) fn new(fleet_id: &str, host: &HostName) -> Self {
        Self { fleet_id: fleet_id.to_owned(), host: host.as_str().to_owned() }
    }
}

/// The content of a file. The claim has an effect only in this fleet and for this host.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimBookEntry {
    fleet_id: String,
    host: String,
    claim: ClaimFile,
}

/// The claims, by the id of their request.
pub(super) struct ClaimBook {
    directory: PathBuf,
    owner: ClaimOwner,
    claims: RefCell<BTreeMap<String, LocalClaim>>,
    /// The requests whose claims were removed since the last [`Self::begin_look`].
    removed: RefCell<BTreeSet<String>>,
}

impl ClaimBook {
    /// Reads the files of the directory. Each must be of this owner.
    ///
    /// # Errors
    /// A file cannot be read, or is of another fleet or host. The message has its path and help.
    pub(super) fn open(directory: PathBuf, owner: ClaimOwner) -> Result<Self, String> {
        let mut claims = BTreeMap::new();
        let failed =
            |error: io::Error| format!("{}: {}", directory.display(), spool::io_text(&error));
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with('.') {
                // Its write was interrupted, so its claim had no effect.
                fs::remove_file(&path).map_err(failed)?;
                continue;
            }
            let (request, file) = read_claim(&path, &name, &owner)?;
            claims.insert(request, LocalClaim { file, is_placed: false, is_started: false });
        }
        let (claims, removed) = (RefCell::new(claims), RefCell::new(BTreeSet::new()));
        Ok(Self { directory, owner, claims, removed })
    }

    /// Notes a claim. It is durable when this returns.
    ///
    /// # Errors
    /// A claim of this request is noted already, or an I/O error.
    pub(super) fn insert(
        &self,
        request: &str,
        file: ClaimFile,
        is_started: bool,
    ) -> Result<(), FleetAgentError> {
        let path = self.path(request);
        let ClaimOwner { fleet_id, host } = self.owner.clone();
        let entry = ClaimBookEntry { fleet_id, host, claim: file.clone() };
        let bytes = serde_json::to_vec(&entry).map_err(|error| {
            let path = path.display();
            FleetAgentError::lasting(format!("{path}: {error}; help: report this as a bug"))
        })?;
        write_new_file(&path, &bytes)?;
        let claim = LocalClaim { file, is_placed: false, is_started };
        self.claims.borrow_mut().insert(request.to_owned(), claim);
        Ok(())
    }

    /// Removes a claim that was reported, given back or lost.
    ///
    /// # Errors
    /// An I/O error. The claim is removed at a later try.
    pub(super) fn remove(&self, request: &str) -> Result<(), FleetAgentError> {
        let path = self.path(request);
        // A name that comes back after a power failure is removed again.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(FleetAgentError::io(&path, &error));
            }
            _ => {}
        }
        self.claims.borrow_mut().remove(request);
        self.removed.borrow_mut().insert(request.to_owned());
        Ok(())
    }

    /// Begins to read the claims of the database. [`Self::was_removed`] then reports the claims
    /// that are removed meanwhile, which may still be among them.
    pub(super) fn begin_look(&self) {
        self.removed.borrow_mut().clear();
    }

    /// Returns whether the claim was removed since the last [`Self::begin_look`].
    pub(super) fn was_removed(&self, request: &str) -> bool {
        self.removed.borrow().contains(request)
    }

    /// Returns the claim of a request.
    pub(super) fn claim(&self, request: &str) -> Option<LocalClaim> {
        self.claims.borrow().get(request).cloned()
    }

    /// Returns the ids of all requests, in order.
    pub(super) fn requests(&self) -> Vec<String> {
        self.claims.borrow().keys().cloned().collect()
    }

    /// Returns the requests that are claimed in the database and not started, in order.
    pub(super) fn unstarted(&self) -> Vec<String> {
        let claims = self.claims.borrow();
        let is_unstarted = |claim: &LocalClaim| !claim.is_started && claim.file.epoch.is_some();
        claims.iter().filter(|(_, it)| is_unstarted(it)).map(|(id, _)| id.clone()).collect()
    }

    /// Notes in memory that the files of a claim are placed.
    pub(super) fn note_placed(&self, request: &str) {
        if let Some(claim) = self.claims.borrow_mut().get_mut(request) {
            claim.is_placed = true;
        }
    }

    /// Notes in memory that the database has committed the start.
    pub(super) fn note_started(&self, request: &str) {
        if let Some(claim) = self.claims.borrow_mut().get_mut(request) {
            claim.is_started = true;
        }
    }

    fn path(&self, request: &str) -> PathBuf {
        self.directory.join(format!("{request}{SUFFIX}"))
    }
}

fn read_claim(path: &Path, name: &str, owner: &ClaimOwner) -> Result<(String, ClaimFile), String> {
    let invalid = |why: &str| {
        format!(
            "{}: not the file of a claim: {why}; help: move it away after you have looked at the \
             state of its request with `toolexec show --fleet`",
            path.display()
        )
    };
    let request = name.strip_suffix(SUFFIX).filter(|it| it.parse::<RequestId>().is_ok());
    let request = request.ok_or_else(|| invalid("its name is not a request id"))?;
    let bytes = read_bytes(path, FILE_BYTES_MAX)?;
    let entry: ClaimBookEntry =
        serde_json::from_slice(&bytes).map_err(|error| invalid(&error.to_string()))?;
    let ClaimBookEntry { fleet_id, host, claim } = entry;
    let found = ClaimOwner { fleet_id, host };
    if found != *owner {
        return Err(format!(
            "{}: a claim of host {} in the fleet with id {}, and this host is {} in that with id \
             {}; help: name the state directory of this host and fleet with `state`, or move the \
             file away after its request has ended",
            path.display(),
            escape_line(&found.host),
            escape_line(&found.fleet_id),
            owner.host,
            owner.fleet_id
        ));
    }
    Ok((request.to_owned(), claim))
}

#[cfg(test)]
mod tests;

//! The signed list of the fleet's hosts. The agent must never use a list whose signature does not
//! count, or a list without this host. It must never use a list that is older than one that it has
//! used.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use fleet::model::HostName;
use policies::{
    AllowedSigners, FLEET_LIST_BYTES_MAX, FleetList, FleetListSerial, REVOKED_BYTES_MAX,
    RevokedKeys, SIGNATURE_BYTES_MAX, SIGNERS_BYTES_MAX, SignedFleetList, StandardTime,
};
use spool::clock;

use super::bounded_file::{read_bytes, read_text};
use super::config::AgentConfig;

/// Inode, size, and modification time in seconds and nanoseconds of each file.
pub(super) type FleetListStamp = [Option<(u64, u64, i64, i64)>; 4];

/// A list whose signature counts.
pub(super) struct TrustedFleetList {
    /// The list.
    pub(super) list: FleetList,
    /// The keys of operators, without the revoked ones. They also sign orders about lost hosts.
    pub(super) signers: AllowedSigners,
}

/// The files from which the list is read.
pub(super) struct FleetListFiles {
    list: PathBuf,
    signature: PathBuf,
    allowed_signers: PathBuf,
    revoked: Option<PathBuf>,
    /// The zone of times in `allowed_signers`. The confined agent cannot read it again.
    zone: StandardTime,
}

impl FleetListFiles {
    pub(super) fn of(config: &AgentConfig) -> Self {
        Self {
            list: config.fleet_list.clone(),
            signature: SignedFleetList::signature_path(&config.fleet_list),
            allowed_signers: config.allowed_signers.clone(),
            revoked: config.revoked.clone(),
            zone: clock::standard_time(),
        }
    }

    /// Reads the list and checks its signature.
    ///
    /// # Errors
    /// A file cannot be read, or the signature does not count. The message has help.
    pub(super) fn read(&self) -> Result<TrustedFleetList, String> {
        let limit = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        let signers = read_text(&self.allowed_signers, limit(SIGNERS_BYTES_MAX))?;
        let signers = AllowedSigners::parse_in(&signers, self.zone)
            .map_err(|error| format!("{}: {error}", self.allowed_signers.display()))?;
        let revoked = self.revoked.as_ref().map(|path| {
            let bytes = read_bytes(path, limit(REVOKED_BYTES_MAX))?;
            RevokedKeys::parse(&bytes).map_err(|error| format!("{}: {error}", path.display()))
        });
        let signers = signers.with_revoked(revoked.transpose()?.unwrap_or_default());
        let bytes = read_bytes(&self.list, limit(FLEET_LIST_BYTES_MAX))?;
        let signature = read_bytes(&self.signature, limit(SIGNATURE_BYTES_MAX))
            .map_err(|why| self.unread_signature(why))?;
        let origin = self.list.display().to_string();
        let signed = SignedFleetList::read(&bytes, &signature, &origin, &signers, clock::now());
        let signed = signed.map_err(|error| error.to_string())?;
        tracing::info!(
            "fleet list: number {} of fleet {}, signed by {}",
            signed.list().serial(),
            signed.list().fleet(),
            signed.signer()
        );
        Ok(TrustedFleetList { list: signed.list().clone(), signers })
    }

    fn unread_signature(&self, why: String) -> String {
        match self.signature.try_exists() {
            Ok(false) => {
                let problem = SignedFleetList::missing_signature(&self.list);
                format!("{}: {problem}", self.signature.display())
            }
            _ => why,
        }
    }

    /// Returns the identity of the files as they are now.
    pub(super) fn stamp(&self) -> FleetListStamp {
        let signers = &self.allowed_signers;
        let files = [Some(&self.list), Some(&self.signature), Some(signers), self.revoked.as_ref()];
        files.map(|path| {
            let found = fs::metadata(path?).ok()?;
            Some((found.ino(), found.size(), found.mtime(), found.mtime_nsec()))
        })
    }
}

/// Returns the labels of this host in a list that it may use.
///
/// # Errors
/// The list is older than one that was used, or does not have this host.
pub(super) fn labels_in(
    list: &FleetList,
    host: &HostName,
    seen: Option<&FleetListSerial>,
) -> Result<Vec<HostName>, String> {
    let checked = seen.map_or(Ok(()), |seen| seen.check(list));
    checked.map_err(|error| format!("fleet list: {error}"))?;
    let Some(found) = list.host(host.as_str()) else {
        return Err(format!(
            "fleet list: fleet {} does not have host {host}; help: add the host to the list and \
             have it signed, or correct `host` of the configuration",
            list.fleet()
        ));
    };
    let labels = found.labels().iter().map(|label| HostName::parse(label));
    labels.collect::<Result<_, _>>().map_err(|error| format!("fleet list: label: {error}"))
}

/// Checks that a newer list is of the fleet that the agent was started with.
///
/// # Errors
/// It is of another fleet.
pub(super) fn check_same_fleet(before: &FleetList, now: &FleetList) -> Result<(), String> {
    match before.fleet() == now.fleet() && before.fleet_id() == now.fleet_id() {
        true => Ok(()),
        false => Err(format!(
            "fleet list: it is of fleet {}, and this agent serves fleet {}; help: restart \
             toolexec-fleet to change the fleet",
            now.fleet(),
            before.fleet()
        )),
    }
}

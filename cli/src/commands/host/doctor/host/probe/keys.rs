//! The locations and owners of the private keys. Only inodes are read, never a byte of a key.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use records::{KeyFingerprint, KeySource, PublicKeys, SshAgent};

use super::entry;
use super::model::ProbeContext;
use crate::commands::host::doctor::host::model::{
    DoctorSubject, DoctorUser, FileState, KeyLocation, KeyReadings,
};

/// The directory of systemd's credentials for the running daemon.
const CREDENTIALS: &str = "/run/credentials/toolexecd.service";
const AGENT_TIME: Duration = Duration::from_secs(5);

pub(super) fn probe(host: &ProbeContext, looker: DoctorUser) -> Option<KeyReadings> {
    let (source, owner) = match &host.subject {
        DoctorSubject::Embedded { state } => (KeySource::Directory(state.join("keys")), looker.uid),
        DoctorSubject::Service { state, .. } => {
            // The owner of the state is the daemon's user.
            let state = state.as_deref()?;
            let owner = fs::metadata(state).map_or(looker.uid, |found| found.uid());
            (host.outline.as_ref()?.keys.clone()?, owner)
        }
    };
    let public = source.public().to_owned();
    let (source, directory) = match source {
        KeySource::Agent { socket, result, log, .. } => {
            let has = agent_has(&socket, &[result, log]);
            (KeyLocation::Agent { socket, has }, public.clone())
        }
        KeySource::Credentials { directory, .. } => {
            (KeyLocation::Credentials(directory.clone()), directory)
        }
        KeySource::Directory(directory) => match service_credentials(host) {
            Some(credentials) => (KeyLocation::Credentials(credentials.clone()), credentials),
            None => (KeyLocation::Files(directory.clone()), directory),
        },
    };
    let files = match source {
        KeyLocation::Agent { .. } => Vec::new(),
        _ => ["result", "log"].iter().map(|name| entry::read(&directory.join(name))).collect(),
    };
    let beside = |suffix: &str| -> Vec<&'static str> {
        let is_there =
            |name: &&str| public.join(format!("{name}.{suffix}")).symlink_metadata().is_ok();
        ["result", "log"].into_iter().filter(is_there).collect()
    };
    Some(KeyReadings {
        owner,
        directory: entry::read_following_links(&directory),
        files,
        halves: beside("pub"),
        unfinished: beside("change"),
        public: public_halves(&public),
        source,
    })
}

/// Returns the credentials of the running daemon. Only the packaged service has them.
fn service_credentials(host: &ProbeContext) -> Option<PathBuf> {
    let packaged = host.subject.state() == Some(Path::new("/var/lib/toolexec"));
    let credentials = PathBuf::from(CREDENTIALS);
    (packaged && credentials.join("result").exists()).then_some(credentials)
}

fn agent_has(socket: &Path, wanted: &[KeyFingerprint]) -> Result<Vec<(String, bool)>, String> {
    let has = SshAgent::new(socket, AGENT_TIME).identities().map_err(|error| error.to_string())?;
    let there = |key: &KeyFingerprint| has.iter().any(|it| it.has_fingerprint(*key));
    Ok(wanted.iter().map(|key| (key.to_string(), there(key))).collect())
}

fn public_halves(public: &Path) -> Option<Result<String, String>> {
    if matches!(
        entry::read(&public.join("result.pub")).state,
        FileState::Missing | FileState::Unreadable(_)
    ) {
        return None;
    }
    Some(match PublicKeys::open(public) {
        Ok(keys) => {
            let (results, logs) = (keys.results().len(), keys.logs().len());
            Ok(format!("{}: result keys: {results}, log keys: {logs}", public.display()))
        }
        Err(error) => Err(error.to_string()),
    })
}

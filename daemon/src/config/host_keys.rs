//! The keys of a host, and the name of its log. Must never fall back to another key source because
//! the configured one fails.

use std::path::{Path, PathBuf};

use records::log::{LogOrigin, PublicLogKey};
use records::{HostKeyError, HostKeys, KeySource};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawKeysConfig {
    pub(crate) directory: Option<PathBuf>,
    pub(crate) agent: Option<PathBuf>,
    result: Option<String>,
    log: Option<String>,
}

/// The variable that names the directory of `LoadCredentialEncrypted=` (systemd.exec(5)).
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// Returns the configured key source. The default is systemd's credentials if they include the
/// result key, else the state directory.
pub(crate) fn source(form: Option<RawKeysConfig>, state: &Path) -> Result<KeySource, String> {
    let public = state.join("keys");
    let Some(RawKeysConfig { directory, agent, result, log }) = form else {
        let credentials = std::env::var_os(CREDENTIALS).map(PathBuf::from);
        return Ok(match credentials.filter(|directory| directory.join("result").exists()) {
            Some(directory) => KeySource::Credentials { directory, public },
            None => KeySource::Directory(public),
        });
    };
    let fingerprint = |key: &str, text: Option<String>| {
        let text = text.ok_or(format!("keys.{key}: missing; help: set the key's fingerprint"))?;
        text.parse().map_err(|error| format!("keys.{key}: {error}"))
    };
    match (directory, agent) {
        (Some(directory), None) if result.is_none() && log.is_none() => {
            Ok(KeySource::Directory(directory))
        }
        (Some(_), None) => {
            Err("keys.result, keys.log: only used with keys.agent; help: remove them".to_owned())
        }
        (None, Some(socket)) => {
            let (result, log) = (fingerprint("result", result)?, fingerprint("log", log)?);
            Ok(KeySource::Agent { socket, result, log, public })
        }
        _ => Err("keys: needs one of directory and agent; help: set one of them".to_owned()),
    }
}

/// Opens a host's keys, or creates them on first use. The log's name is the configured one, else
/// that of the existing key, else the host name.
///
/// # Errors
/// [`HostKeyError`]; also if the log key was created for another log name.
pub fn open_keys(
    source: &KeySource,
    configured: Option<&LogOrigin>,
) -> Result<HostKeys, HostKeyError> {
    let origin = known_origin(source, configured);
    HostKeys::open_or_create(source, &origin.unwrap_or_else(own_name))
}

/// Returns the configured name of the log, else that of the existing key: the log keeps its name if
/// the host is renamed.
pub(super) fn known_origin(
    source: &KeySource,
    configured: Option<&LogOrigin>,
) -> Option<LogOrigin> {
    let of_key = || Some(PublicLogKey::open(source.public()).ok()?.origin().clone());
    configured.cloned().or_else(of_key)
}

fn own_name() -> LogOrigin {
    let name = rustix::system::uname().nodename().to_string_lossy().to_lowercase();
    name.parse().unwrap_or_else(|_| LogOrigin::localhost())
}

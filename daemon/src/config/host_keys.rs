//! Which keys a host signs with, and under which name it keeps its log. Must never choose another
//! source than the one that is configured because that one fails.

use std::path::{Path, PathBuf};

use records::log::{LogOrigin, PublicLogKey};
use records::{KeyError, KeySource, Keys};
use serde::Deserialize;

/// How the configuration names keys: a directory, or an agent and which of its keys.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeysForm {
    pub(crate) directory: Option<PathBuf>,
    pub(crate) agent: Option<PathBuf>,
    result: Option<String>,
    log: Option<String>,
}

/// Where systemd puts what `LoadCredentialEncrypted=` names (systemd.exec(5)).
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// The keys that are configured; else systemd's credentials, where the result key is one; else those
/// of the state.
pub(crate) fn source(form: Option<KeysForm>, state: &Path) -> Result<KeySource, String> {
    let public = state.join("keys");
    let Some(KeysForm { directory, agent, result, log }) = form else {
        let lent = std::env::var_os(CREDENTIALS).map(PathBuf::from);
        return Ok(match lent.filter(|directory| directory.join("result").exists()) {
            Some(directory) => KeySource::Credentials { directory, public },
            None => KeySource::Directory(public),
        });
    };
    let fingerprint = |key: &str, text: Option<String>| {
        let text = text.ok_or(format!("keys.{key}: name the agent's key by its fingerprint"))?;
        text.parse().map_err(|error| format!("keys.{key}: {error}"))
    };
    match (directory, agent) {
        (Some(directory), None) if result.is_none() && log.is_none() => {
            Ok(KeySource::Directory(directory))
        }
        (Some(_), None) => Err("keys: result and log are keys of an agent".to_owned()),
        (None, Some(socket)) => {
            let (result, log) = (fingerprint("result", result)?, fingerprint("log", log)?);
            Ok(KeySource::Agent { socket, result, log, public })
        }
        _ => Err("keys: name a directory or an agent".to_owned()),
    }
}

/// Opens a host's keys, or makes them on first use, for a log of the name that is configured, else of
/// the one that it has, else of the host's.
///
/// # Errors
/// [`KeyError`]; also where the log's key was made for a log of another name.
pub fn open_keys(source: &KeySource, configured: Option<&LogOrigin>) -> Result<Keys, KeyError> {
    let known = PublicLogKey::open(source.public()).ok();
    // A host may be named anew; its log stays the log it is.
    let origin = configured.or(known.as_ref().map(PublicLogKey::origin)).cloned();
    Keys::open_or_create(source, &origin.unwrap_or_else(own_name))
}

fn own_name() -> LogOrigin {
    let name = rustix::system::uname().nodename().to_string_lossy().to_lowercase();
    name.parse().unwrap_or_else(|_| LogOrigin::localhost())
}

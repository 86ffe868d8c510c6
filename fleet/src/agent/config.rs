//! The configuration file of the agent: strict and small. Every value is checked before anything
//! else is opened.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fleet::model::HostName;
use policies::yaml_problem;

use super::bounded_file::read_text;
use super::raw_config::{RawAgentConfig, supported_version};
use crate::confine::AgentPlaces;
use crate::database::SynchronousCommit;

const CONFIG_BYTES_MAX: u64 = 64 * 1024;
/// After this number of beats without an answer, a host is not ready. Other hosts take over its
/// claims only later.
pub(super) const BEATS_MISSED_MAX: u32 = 3;
const CLAIMS_MAX: u32 = 1024;
/// Held requests wait for people, so `claims_max` does not count them. With them, a host has at
/// most this many times `claims_max` unstarted claims.
const HELD_FACTOR: u32 = 16;
/// With this many times `claims_max` unstarted claims of one submitter, a host claims nothing more
/// of that submitter. So the held requests of one submitter leave places for the others.
const SUBMITTER_FACTOR: u32 = 4;
const BEAT_SEC_MAX: u64 = 60;
const TAKEOVER_SEC_MAX: u64 = 24 * 60 * 60;
const POLL_SEC_MAX: u64 = 60 * 60;
/// The variable that names the directory of `LoadCredential=` (systemd.exec(5)).
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// The settings of an agent.
#[derive(Debug)]
pub(super) struct AgentConfig {
    /// The name of this host: its database role, and the origin of its log.
    pub(super) host: HostName,
    pub(super) database: String,
    pub(super) password_file: Option<PathBuf>,
    pub(super) ca_file: Option<PathBuf>,
    pub(super) synchronous_commit: SynchronousCommit,
    /// The store of bytes; the database itself if absent.
    pub(super) store: Option<String>,
    pub(super) spool: PathBuf,
    pub(super) log: PathBuf,
    pub(super) state: PathBuf,
    pub(super) socket: PathBuf,
    pub(super) fleet_list: PathBuf,
    pub(super) allowed_signers: PathBuf,
    pub(super) revoked: Option<PathBuf>,
    pub(super) witness_key: PathBuf,
    /// The most claims that are neither started nor held.
    pub(super) claims_max: u32,
    pub(super) beat: Duration,
    pub(super) takeover: Duration,
    pub(super) poll: Duration,
    /// True if this host claims requests that name no audience.
    pub(super) without_audience: bool,
}

impl AgentConfig {
    /// Reads the file.
    ///
    /// # Errors
    /// The first wrong value: its key, and the fix.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text = read_text(path, CONFIG_BYTES_MAX)?;
        let credentials = std::env::var_os(CREDENTIALS).map(PathBuf::from);
        Self::parse(&text, credentials.as_deref())
            .map_err(|why| format!("{}: {why}", path.display()))
    }

    fn parse(text: &str, credentials: Option<&Path>) -> Result<Self, String> {
        let raw: RawAgentConfig = serde_yaml::from_str(text)
            .map_err(|error| format!("{}; help: correct the file", yaml_problem(text, &error)))?;
        check_numbers(&raw)?;
        check_paths(&raw)?;
        let host = HostName::parse(&raw.host).map_err(|error| format!("host: {error}"))?;
        let commit = raw.synchronous_commit.as_deref().map(str::parse::<SynchronousCommit>);
        let commit = commit.transpose().map_err(|error| {
            format!("synchronous_commit: {error}; help: remove the key, or correct its value")
        })?;
        let credential = credentials.map(|it| it.join("password")).filter(|it| it.exists());
        Ok(Self {
            host,
            database: raw.database,
            password_file: raw.password_file.or(credential),
            ca_file: raw.tls.and_then(|tls| tls.ca_file),
            synchronous_commit: commit.unwrap_or(SynchronousCommit::On),
            store: raw.store,
            log: raw.log.unwrap_or_else(|| raw.spool.join("log")),
            spool: raw.spool,
            witness_key: raw.witness_key.unwrap_or_else(|| raw.state.join("witness.key")),
            state: raw.state,
            socket: raw.socket,
            fleet_list: raw.fleet_list,
            allowed_signers: raw.allowed_signers,
            revoked: raw.revoked,
            claims_max: raw.claims_max,
            beat: Duration::from_secs(raw.beat_sec),
            takeover: Duration::from_secs(raw.takeover_sec),
            poll: Duration::from_secs(raw.poll_sec),
            without_audience: raw.without_audience,
        })
    }

    /// Returns the most unstarted claims, with held ones.
    pub(super) fn unstarted_max(&self) -> u32 {
        self.claims_max.saturating_mul(HELD_FACTOR)
    }

    /// Returns the number of unstarted claims from which on a submitter gets no more of them.
    pub(super) fn submitter_max(&self) -> u32 {
        self.claims_max.saturating_mul(SUBMITTER_FACTOR)
    }

    /// Returns the directory of submissions.
    pub(super) fn approved(&self) -> PathBuf {
        self.spool.join("approved")
    }

    /// Returns the directory of results.
    pub(super) fn results(&self) -> PathBuf {
        self.spool.join("results")
    }

    /// Returns the places that the agent uses while it serves.
    pub(super) fn places(&self) -> AgentPlaces<'_> {
        let named = [Some(&self.fleet_list), Some(&self.allowed_signers), self.revoked.as_ref()];
        let secret = [self.password_file.as_ref(), self.ca_file.as_ref()];
        AgentPlaces {
            spool: &self.spool,
            log: &self.log,
            state: &self.state,
            store: self.store.as_deref(),
            files: named.into_iter().chain(secret).flatten().map(PathBuf::as_path).collect(),
        }
    }
}

fn check_numbers(raw: &RawAgentConfig) -> Result<(), String> {
    if raw.config_version != supported_version() {
        let found = raw.config_version;
        return Err(format!("config_version: {found} is not supported; help: set it to 1"));
    }
    let takeover_min = raw.beat_sec.saturating_mul(BEATS_MISSED_MAX.into()).max(1);
    let ranges = [
        ("claims_max", u64::from(raw.claims_max), 1, u64::from(CLAIMS_MAX)),
        ("beat_sec", raw.beat_sec, 1, BEAT_SEC_MAX),
        ("takeover_sec", raw.takeover_sec, takeover_min, TAKEOVER_SEC_MAX),
        ("poll_sec", raw.poll_sec, 1, POLL_SEC_MAX),
    ];
    for (key, found, least, most) in ranges {
        if found < least || found > most {
            return Err(format!(
                "{key}: {found} is out of range; help: set it to {least} to {most}"
            ));
        }
    }
    Ok(())
}

/// A relative path would depend on the working directory.
fn check_paths(raw: &RawAgentConfig) -> Result<(), String> {
    let paths = [
        ("password_file", raw.password_file.as_ref()),
        ("tls.ca_file", raw.tls.as_ref().and_then(|tls| tls.ca_file.as_ref())),
        ("spool", Some(&raw.spool)),
        ("log", raw.log.as_ref()),
        ("state", Some(&raw.state)),
        ("socket", Some(&raw.socket)),
        ("fleet_list", Some(&raw.fleet_list)),
        ("allowed_signers", Some(&raw.allowed_signers)),
        ("revoked", raw.revoked.as_ref()),
        ("witness_key", raw.witness_key.as_ref()),
    ];
    for (key, path) in paths {
        if let Some(path) = path.filter(|path| !path.is_absolute()) {
            let shown = path.display();
            return Err(format!(
                "{key}: \"{shown}\" is not an absolute path; help: begin it with /"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;

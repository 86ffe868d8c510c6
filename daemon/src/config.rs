//! The configuration file of `toolexecd`: strict, small, and checked before anything is touched.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use egress::client::Egress;
use policies::{POLICY_BYTES_MAX, Policy};
use records::KeySource;
use records::log::LogOrigin;
use sandbox::client::Reach;
use serde::Deserialize;
use spool::retention::Keep;

use crate::bounded_file::{read_bytes, text_of};
use crate::host_keys::{self, KeysForm};
use crate::keep::{self, KeepForm};
use crate::metrics::{MetricsForm, MetricsSettings};
pub use crate::model::ConfigError;
use crate::network::find_egress;
use crate::programs::{find_launcher, find_program};
use crate::room::RoomMax;
use crate::trust_store::{Owners, TrustFiles, TrustStore, insist_on_ours};
pub use crate::trust_store::{read_ais_trust, read_revoked, read_signers};

const CONFIG_BYTES_MAX: usize = 64 * 1024;
/// Runs at one time: far above what any host has cores for.
const RUNS_MAX: usize = 64;
/// Of a launcher of our own, for cells that are made while others still end.
const SEATS_SPARE: usize = 8;
/// An hour: what is cut off a log that has it shows within one.
const HEARTBEAT_SEC: u32 = 3600;
/// More would wait for runs that do not come.
const READY_CELLS_MAX: usize = 8;

/// The file, as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    config_version: u32,
    spool: PathBuf,
    state: PathBuf,
    policy: PathBuf,
    allowed_signers: Option<PathBuf>,
    revoked: Option<PathBuf>,
    ais_trust: Option<PathBuf>,
    keys: Option<KeysForm>,
    log: Option<LogForm>,
    launcher: Option<LauncherForm>,
    egress: Option<EgressForm>,
    metrics: Option<MetricsForm>,
    #[serde(default = "rescan_by_default")]
    rescan_sec: u64,
    #[serde(default = "drain_by_default")]
    drain_sec: u64,
    #[serde(default = "ready_cells_by_default")]
    ready_cells: usize,
    runs_max: Option<usize>,
    memory_bytes_max: Option<u64>,
    keep: Option<KeepForm>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LogForm {
    origin: Option<String>,
    directory: Option<PathBuf>,
    heartbeat_sec: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LauncherForm {
    socket: Option<PathBuf>,
    program: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EgressForm {
    socket: Option<PathBuf>,
    program: Option<PathBuf>,
    hosts_file: Option<PathBuf>,
}

fn rescan_by_default() -> u64 {
    30
}

fn drain_by_default() -> u64 {
    30
}

fn ready_cells_by_default() -> usize {
    1
}

/// A configuration whose files were all read and found good.
pub struct Config {
    pub spool: PathBuf,
    pub state: PathBuf,
    pub policy: Policy,
    pub trust: TrustStore,
    /// Where the keys are that sign records and the log.
    pub keys: KeySource,
    /// The name of the log and so of this host; none means that of its key, or the host's own.
    pub log_origin: Option<LogOrigin>,
    /// How long the log may be silent before it is told that it lives; none if it is not told.
    pub heartbeat_sec: Option<NonZero<u32>>,
    /// Where the log is; anybody may read it.
    pub log: PathBuf,
    pub launcher: Reach,
    /// The proxy of runs that name hosts; without one they are refused.
    pub egress: Option<Egress>,
    /// inotify is a hint; this often the directory itself is looked at.
    pub rescan: Duration,
    /// After SIGTERM, how long a run may go on before it is cancelled.
    pub drain: Duration,
    /// Cells that are kept ready for runs to come; 0 keeps none.
    pub ready_cells: usize,
    /// Runs at one time, and the memory that they may be promised together.
    pub room: RoomMax,
    /// How much of what was run and refused is kept; all of it if nothing is said.
    pub keep: Keep,
    /// Where our own numbers go; nowhere if it is not said.
    pub metrics: MetricsSettings,
}

/// The text of a configuration, bounded.
pub(crate) fn read_config_text(path: &Path) -> Result<String, ConfigError> {
    text_of(path, read_bytes(path, CONFIG_BYTES_MAX)?)
}

/// Reads a policy file.
///
/// # Errors
/// What is wrong with it, every problem at once.
pub fn read_policy(path: &Path) -> Result<Policy, ConfigError> {
    let bytes = read_bytes(path, POLICY_BYTES_MAX)?;
    Policy::parse(&bytes, &path.display().to_string()).map_err(ConfigError::Policy)
}

impl Config {
    /// Reads the file and every file that it names.
    ///
    /// # Errors
    /// The first that cannot be used.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = read_config_text(path)?;
        let form: Form = serde_yaml::from_str(&text)
            .map_err(|error| ConfigError::Syntax(path.to_owned(), error.to_string()))?;
        let wrong = |what: String| Err(ConfigError::Value(path.to_owned(), what));
        if form.config_version != 1 {
            return wrong(format!("config_version: {} is not known; write 1", form.config_version));
        }
        if let Err(what) = check_paths(&form).and_then(|()| check_spool(&form.spool)) {
            return wrong(what);
        }
        if form.rescan_sec == 0 {
            return wrong("rescan_sec: write 1 or more".to_owned());
        }
        if form.ready_cells > READY_CELLS_MAX {
            return wrong(format!("ready_cells: write {READY_CELLS_MAX} or less; 0 keeps none"));
        }
        let room = room(&form);
        if room.cells == 0 || room.cells > RUNS_MAX {
            return wrong(format!("runs_max: write 1 to {RUNS_MAX}"));
        }
        if room.memory_bytes == 0 {
            return wrong("memory_bytes_max: write 1 or more".to_owned());
        }
        let metrics = match form.metrics.map_or_else(|| Ok(<_>::default()), MetricsForm::settings) {
            Ok(metrics) => metrics,
            Err(what) => return wrong(what),
        };
        let seats = room.cells + form.ready_cells + SEATS_SPARE;
        let launcher = match launcher(form.launcher, &form.state, seats) {
            Ok(launcher) => launcher,
            Err(what) => return wrong(what),
        };
        let keys = match host_keys::source(form.keys, &form.state) {
            Ok(keys) => keys,
            Err(what) => return wrong(what),
        };
        let log =
            form.log.unwrap_or(LogForm { origin: None, directory: None, heartbeat_sec: None });
        let log_origin = match log.origin.as_deref().map(str::parse).transpose() {
            Ok(origin) => origin,
            Err(error) => return wrong(format!("log.origin: {error}")),
        };
        let keep = match keep::bounds(form.keep) {
            Ok(keep) => keep,
            Err(what) => return wrong(what),
        };
        let egress = match egress(form.egress) {
            Ok(egress) => egress,
            Err(what) => return wrong(what),
        };
        let trusted = [&form.allowed_signers, &form.revoked, &form.ais_trust];
        let deciding = trusted.into_iter().map(Option::as_ref).chain([Some(&form.policy)]);
        deciding.flatten().try_for_each(|path| insist_on_ours(path))?;
        Ok(Self {
            egress,
            policy: read_policy(&form.policy)?,
            trust: TrustStore::open(
                TrustFiles {
                    allowed_signers: form.allowed_signers,
                    revoked: form.revoked,
                    ais: form.ais_trust,
                },
                Owners::Ours,
            )?,
            keys,
            log_origin,
            heartbeat_sec: NonZero::new(log.heartbeat_sec.unwrap_or(HEARTBEAT_SEC)),
            log: log.directory.unwrap_or_else(|| form.spool.join("log")),
            launcher,
            spool: form.spool,
            state: form.state,
            rescan: Duration::from_secs(form.rescan_sec),
            drain: Duration::from_secs(form.drain_sec),
            ready_cells: form.ready_cells,
            room,
            keep,
            metrics,
        })
    }
}

/// A relative path would mean another file for whoever starts the daemon from another directory.
fn check_paths(form: &Form) -> Result<(), String> {
    let launcher = form.launcher.as_ref();
    let paths = [
        ("spool", Some(&form.spool)),
        ("state", Some(&form.state)),
        ("policy", Some(&form.policy)),
        ("allowed_signers", form.allowed_signers.as_ref()),
        ("revoked", form.revoked.as_ref()),
        ("ais_trust", form.ais_trust.as_ref()),
        ("keys.directory", form.keys.as_ref().and_then(|keys| keys.directory.as_ref())),
        ("keys.agent", form.keys.as_ref().and_then(|keys| keys.agent.as_ref())),
        ("log.directory", form.log.as_ref().and_then(|log| log.directory.as_ref())),
        ("launcher.socket", launcher.and_then(|launcher| launcher.socket.as_ref())),
        ("launcher.program", launcher.and_then(|launcher| launcher.program.as_ref())),
    ];
    let egress = form.egress.as_ref();
    let of_egress = [
        ("egress.socket", egress.and_then(|egress| egress.socket.as_ref())),
        ("egress.program", egress.and_then(|egress| egress.program.as_ref())),
        ("egress.hosts_file", egress.and_then(|egress| egress.hosts_file.as_ref())),
    ];
    for (key, path) in paths.into_iter().chain(of_egress) {
        if let Some(path) = path.filter(|path| !path.is_absolute()) {
            return Err(format!("{key}: {} is no absolute path", path.display()));
        }
    }
    Ok(())
}

/// The directory that requests are dropped into says whether this is a spool; who may write there is
/// for the administrator to say, so it is never made here.
fn check_spool(spool: &Path) -> Result<(), String> {
    let approved = spool.join("approved");
    let why = match fs::metadata(&approved) {
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => "is no directory".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(format!("spool: {}: {why}; make it, or name another spool", approved.display()))
}

/// Names are looked up by the proxy; `hosts_file` is for hosts without DNS, and for a proxy of our own.
fn egress(form: Option<EgressForm>) -> Result<Option<Egress>, String> {
    let Some(EgressForm { socket, program, hosts_file }) = form else {
        return Ok(find_egress());
    };
    let program = match (socket, program) {
        (Some(_), Some(_)) => return Err("egress: name a socket or a program, not both".into()),
        (Some(_), None) if hosts_file.is_some() => {
            return Err("egress.hosts_file: is for egress.program; a service has its unit".into());
        }
        (Some(socket), None) => return Ok(Some(Egress::socket(&socket))),
        (None, Some(program)) if !program.is_file() => {
            return Err(format!("egress.program: {} is not there", program.display()));
        }
        (None, Some(program)) => program,
        (None, None) => find_program("toolexec-egress")?,
    };
    let named = hosts_file.map(|file| ["--hosts-file".into(), file.into_os_string()]);
    Ok(Some(Egress::spawn(&program, named.as_ref().map_or(&[], |words| words))))
}

/// As many runs as keep the cores busy while some wait for their disk, and of the memory what leaves the
/// host itself some.
fn room(form: &Form) -> RoomMax {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let cells = form.runs_max.unwrap_or((2 * cores).clamp(2, RUNS_MAX));
    let found = rustix::system::sysinfo();
    let memory = found.totalram.saturating_mul(u64::from(found.mem_unit));
    RoomMax { cells, memory_bytes: form.memory_bytes_max.unwrap_or(memory / 5 * 4) }
}

fn launcher(form: Option<LauncherForm>, state: &Path, seats: usize) -> Result<Reach, String> {
    let form = form.unwrap_or(LauncherForm { socket: None, program: None });
    let program = match (form.socket, form.program) {
        (Some(_), Some(_)) => return Err("launcher: name a socket or a program, not both".into()),
        (Some(socket), None) => return Ok(Reach::Socket(socket)),
        (None, Some(program)) if !program.is_file() => {
            return Err(format!("launcher.program: {} is not there", program.display()));
        }
        (None, Some(program)) => program,
        (None, None) => find_launcher()?,
    };
    let staging = state.join("staging");
    let (mounts_allowed, seats_max) = (Vec::new(), u32::try_from(seats).unwrap_or(u32::MAX));
    Ok(Reach::Spawn { program, staging, mounts_allowed, seats_max })
}

//! Checks each value of the configuration and converts it to settings. An error names the key of
//! the first wrong value.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use egress::client::Egress;
use records::KeySource;
use records::log::LogOrigin;
use sandbox::client::{LauncherAddress, LauncherProgram};
use spool::retention::RetentionPolicy;

use super::raw_config::{RawDaemonConfig, RawEgressConfig, RawLauncherConfig, RawLogConfig};
use super::{host_keys, retention};
use crate::capacity::CapacityLimits;
use crate::fleet_gate::{FleetSettings, RawFleetConfig};
use crate::metrics::{MetricsSettings, RawMetricsConfig};
use crate::network::find_egress;
use crate::programs::{find_launcher, find_program};

/// The highest `runs_max`, far above the number of cores of any host.
const RUNS_MAX: usize = 64;
/// Extra worker slots of a spawned launcher: new sandboxes are built while others still end.
const SPARE_SLOTS: usize = 8;
/// One hour: with this interval, truncation of the log is visible within an hour.
const HEARTBEAT_SEC: u32 = 3600;
/// More sandboxes would wait for runs that rarely come.
const PREWARMED_SANDBOXES_MAX: usize = 8;

pub(super) struct CheckedConfig {
    pub(super) capacity: CapacityLimits,
    pub(super) metrics: MetricsSettings,
    pub(super) launcher: LauncherAddress,
    pub(super) keys: KeySource,
    pub(super) log: LogSettings,
    pub(super) retention: RetentionPolicy,
    pub(super) egress: Option<Egress>,
    pub(super) fleet: Option<FleetSettings>,
}

pub(super) struct LogSettings {
    pub(super) origin: Option<LogOrigin>,
    pub(super) directory: PathBuf,
    pub(super) heartbeat_sec: Option<NonZero<u32>>,
}

impl CheckedConfig {
    /// Checks all values in a fixed order, and takes the converted ones out of the form.
    ///
    /// # Errors
    /// The first wrong value: its key, and the fix.
    pub(super) fn of(form: &mut RawDaemonConfig) -> Result<Self, String> {
        check_version(form)?;
        check_paths(form)?;
        check_spool(&form.spool)?;
        check_numbers(form)?;
        let limits = capacity(form)?;
        let metrics = form.metrics.take();
        let metrics = metrics.map_or_else(|| Ok(<_>::default()), RawMetricsConfig::settings)?;
        let sandbox_count = limits.sandboxes + form.prewarmed_sandboxes + SPARE_SLOTS;
        Ok(Self {
            launcher: launcher(form.launcher.take(), &form.state, sandbox_count)?,
            keys: host_keys::source(form.keys.take(), &form.state)?,
            log: log(form.log.take(), &form.spool)?,
            retention: retention::bounds(form.retention.take())?,
            egress: egress(form.egress.take())?,
            fleet: form.fleet.take().map(RawFleetConfig::settings).transpose()?,
            capacity: limits,
            metrics,
        })
    }
}

fn check_version(form: &RawDaemonConfig) -> Result<(), String> {
    match form.config_version {
        1 => Ok(()),
        other => Err(format!("config_version: {other} is not supported; help: set it to 1")),
    }
}

fn check_numbers(form: &RawDaemonConfig) -> Result<(), String> {
    if form.scan_interval_sec == 0 {
        return Err(
            "scan_interval_sec: 0 is not allowed; help: set it to 1 second or more".to_owned()
        );
    }
    if form.prewarmed_sandboxes > PREWARMED_SANDBOXES_MAX {
        let (found, most) = (form.prewarmed_sandboxes, PREWARMED_SANDBOXES_MAX);
        return Err(format!(
            "prewarmed_sandboxes: {found} is more than {most}; help: set 0 to {most}"
        ));
    }
    Ok(())
}

fn log(form: Option<RawLogConfig>, spool: &Path) -> Result<LogSettings, String> {
    let form = form.unwrap_or(RawLogConfig { origin: None, directory: None, heartbeat_sec: None });
    let origin = form.origin.as_deref().map(str::parse).transpose();
    Ok(LogSettings {
        origin: origin.map_err(|error| format!("log.origin: {error}"))?,
        directory: form.directory.unwrap_or_else(|| spool.join("log")),
        heartbeat_sec: NonZero::new(form.heartbeat_sec.unwrap_or(HEARTBEAT_SEC)),
    })
}

/// A relative path would depend on the working directory of the daemon.
fn check_paths(form: &RawDaemonConfig) -> Result<(), String> {
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
    let fleet = form.fleet.as_ref();
    let of_fleet = [
        ("fleet.socket", fleet.map(|fleet| &fleet.socket)),
        ("fleet.list", fleet.map(|fleet| &fleet.list)),
    ];
    for (key, path) in paths.into_iter().chain(of_egress).chain(of_fleet) {
        if let Some(path) = path.filter(|path| !path.is_absolute()) {
            let shown = path.display();
            return Err(format!(
                "{key}: \"{shown}\" is not an absolute path; help: begin it with /"
            ));
        }
    }
    Ok(())
}

/// The `approved/` directory is never created here: an administrator decides who may write there.
fn check_spool(spool: &Path) -> Result<(), String> {
    let approved = spool.join("approved");
    let why = match fs::metadata(&approved) {
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => "not a directory".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(format!("spool: {}: {why}; help: create it, or set another spool", approved.display()))
}

/// `hosts_file` is for hosts without DNS, and for a spawned proxy only.
fn egress(form: Option<RawEgressConfig>) -> Result<Option<Egress>, String> {
    let Some(RawEgressConfig { socket, program, hosts_file }) = form else {
        return Ok(find_egress());
    };
    let program = match (socket, program) {
        (Some(_), Some(_)) => {
            return Err("egress: socket and program are both set; help: remove one".into());
        }
        (Some(_), None) if hosts_file.is_some() => {
            let why = "egress.hosts_file: not used with egress.socket";
            return Err(format!("{why}; help: pass --hosts-file in the unit of the proxy"));
        }
        (Some(socket), None) => return Ok(Some(Egress::socket(&socket))),
        (None, Some(program)) if !program.is_file() => {
            let shown = program.display();
            return Err(format!(
                "egress.program: \"{shown}\" is not a file; help: set the path of toolexec-egress"
            ));
        }
        (None, Some(program)) => program,
        (None, None) => find_program("toolexec-egress")?,
    };
    let named = hosts_file.map(|file| ["--hosts-file".into(), file.into_os_string()]);
    Ok(Some(Egress::spawn(&program, named.as_ref().map_or(&[], |words| words))))
}

/// The defaults: two runs per core, so that the cores stay busy while some runs wait for the disk,
/// and four fifths of the memory.
fn capacity(form: &RawDaemonConfig) -> Result<CapacityLimits, String> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let sandboxes = form.runs_max.unwrap_or((2 * cores).clamp(2, RUNS_MAX));
    let found = rustix::system::sysinfo();
    let memory = found.totalram.saturating_mul(u64::from(found.mem_unit));
    let memory_bytes = form.memory_bytes_max.unwrap_or(memory / 5 * 4);
    if sandboxes == 0 || sandboxes > RUNS_MAX {
        return Err(format!(
            "runs_max: {sandboxes} is out of range; help: set it to 1 to {RUNS_MAX}"
        ));
    }
    if memory_bytes == 0 {
        return Err("memory_bytes_max: 0 is not allowed; help: set it to 1 byte or more".to_owned());
    }
    Ok(CapacityLimits { sandboxes, memory_bytes })
}

fn launcher(
    form: Option<RawLauncherConfig>,
    state: &Path,
    sandbox_count: usize,
) -> Result<LauncherAddress, String> {
    let form = form.unwrap_or(RawLauncherConfig { socket: None, program: None });
    let program = match (form.socket, form.program) {
        (Some(_), Some(_)) => {
            return Err("launcher: socket and program are both set; help: remove one".into());
        }
        (Some(socket), None) => return Ok(LauncherAddress::Socket(socket)),
        (None, Some(program)) if !program.is_file() => {
            let shown = program.display();
            return Err(format!(
                "launcher.program: \"{shown}\" is not a file; help: set the path of toolexec-launch"
            ));
        }
        (None, Some(program)) => program,
        (None, None) => find_launcher()?,
    };
    let max_sandboxes = u32::try_from(sandbox_count).unwrap_or(u32::MAX);
    let program = LauncherProgram::new(program, state.join("staging"));
    Ok(LauncherAddress::Spawn(LauncherProgram { max_sandboxes, ..program }))
}

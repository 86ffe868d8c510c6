//! toolexecd: claims approved requests from the spool, runs each in a sandbox, and signs and
//! publishes the records.
//!
//! SECURITY. This program parses untrusted input: requests, signatures, and the files that a tool
//! left. It therefore runs as its own user without capabilities and without a network. An intruder
//! in it can start runs within the launcher's limits, and can sign records and checkpoints with
//! the host's keys. The intruder cannot run anything outside a sandbox. The daemon opens only
//! paths from its configuration, reads hostile directories by descriptor, and bounds everything
//! before it reads it.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use daemon::config::Config;
use daemon::{
    BackendScope, ClockCheck, Daemon, DaemonError, DaemonParts, DaemonService, LoopConfig,
    Permissions, RecordLog, check_clock, finish_key_changes, open_keys,
};
use records::log::LogLocation;
use rustix::process::{Resource, getrlimit, setrlimit};
use spool::{Inbox, ServiceManager, Spool, SpoolPaths, check_ledger};

const USAGE: &str = "\
Usage: toolexecd --config FILE [--check | --clock-was-set-back]
       toolexecd --help | --version

Run the requests that are submitted to the approved/ directory of the spool, until SIGTERM.

  --config FILE   read the configuration from FILE, usually /etc/toolexec/toolexecd.yaml
  --check         check the configuration, every file that it names, the spool and the ledger, and
                  exit
  --clock-was-set-back
                  start although the clock is earlier than the last recorded time; without this
                  option the start is refused, because requests and approvals depend on the time
  --help          print this help
  --version       print the version

Exit status: 0 success; 2 --check found a problem; 3 usage error or fatal error.

Example: toolexecd --config /etc/toolexec/toolexecd.yaml --check
";

/// The interval between two starts during a shortage.
const SHORTAGE_RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Requests in progress for each concurrent run.
const IN_FLIGHT_PER_SANDBOX: usize = 3;

enum DaemonArgs {
    Run(PathBuf, ClockCheck),
    Check(PathBuf),
    Help,
    Version,
}

fn main() -> ExitCode {
    let args = match parse_args(std::env::args_os().skip(1)) {
        Ok(args) => args,
        Err(wrong) => return fail(&format!("{wrong}; help: run `toolexecd --help`"), 3),
    };
    let (path, clock) = match args {
        DaemonArgs::Run(path, clock) => (path, Some(clock)),
        DaemonArgs::Check(path) => (path, None),
        DaemonArgs::Help => return print_text(USAGE),
        DaemonArgs::Version => {
            return print_text(concat!("toolexecd ", env!("CARGO_PKG_VERSION"), "\n"));
        }
    };
    let config = match Config::read(&path) {
        Ok(config) => config,
        Err(error) => return fail(&error.to_string(), if clock.is_none() { 2 } else { 3 }),
    };
    let Some(clock) = clock else {
        let checked = config.check_fleet().map_err(DaemonError::from).and_then(|()| {
            check_ledger(&places_of(&config), &mut daemon::was_begun).map_err(DaemonError::from)
        });
        return match checked {
            Ok(()) => print_text(&format!("{}: good\n", path.display())),
            Err(error) => fail(&error.to_string(), 2),
        };
    };
    let named = std::env::var_os("TOOLEXEC_LOG");
    let level = match daemon::logging::level(named.as_deref().map(|it| it.to_str().unwrap_or("?")))
    {
        Ok(level) => level,
        Err(wrong) => return fail(&wrong, 3),
    };
    if let Err(error) = daemon::logging::begin(level) {
        return fail(&format!("log: {error}; help: report this as a bug"), 3);
    }
    match serve(config, path, clock) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("the daemon stops: {error}");
            ExitCode::from(3)
        }
    }
}

/// The reader may close the pipe early.
fn print_text(text: &str) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            fail(&format!("stdout: {error}; help: check where stdout is written to"), 3)
        }
        _ => ExitCode::SUCCESS,
    }
}

fn fail(what: &str, code: u8) -> ExitCode {
    // If stderr is closed, the message cannot be reported elsewhere.
    writeln!(io::stderr().lock(), "toolexecd: {what}").unwrap_or_default();
    ExitCode::from(code)
}

fn parse_args(mut words: impl Iterator<Item = OsString>) -> Result<DaemonArgs, String> {
    let (mut config, mut check, mut clock) = (None, false, ClockCheck::NotEarlier);
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--help" | "-h") => return Ok(DaemonArgs::Help),
            Some("--version" | "-V") => return Ok(DaemonArgs::Version),
            Some("--check") => check = true,
            Some("--clock-was-set-back") => clock = ClockCheck::WasSetBack,
            Some("--config") => name_config(&mut config, words.next().unwrap_or_default())?,
            _ => match word.as_bytes().strip_prefix(b"--config=") {
                Some(file) => name_config(&mut config, OsStr::from_bytes(file).to_owned())?,
                None => return Err(format!("{}: unknown argument", word.to_string_lossy())),
            },
        }
    }
    let config = config.ok_or("--config: missing")?;
    match (check, clock) {
        (true, ClockCheck::WasSetBack) => {
            Err("--clock-was-set-back: not allowed with --check".into())
        }
        (true, ClockCheck::NotEarlier) => Ok(DaemonArgs::Check(config)),
        (false, clock) => Ok(DaemonArgs::Run(config, clock)),
    }
}

fn name_config(config: &mut Option<PathBuf>, file: OsString) -> Result<(), String> {
    if file.is_empty() {
        return Err("--config: needs a value".to_owned());
    }
    match config.replace(PathBuf::from(file)) {
        None => Ok(()),
        Some(_) => Err("--config: given more than once".to_owned()),
    }
}

fn places_of(config: &Config) -> SpoolPaths {
    SpoolPaths {
        state: config.state.clone(),
        spool: config.spool.clone(),
        results: config.spool.join("results"),
        log: config.log.clone(),
    }
}

struct DaemonResources {
    dropbox: Inbox,
    spool: Spool,
    floor: daemon::ClockFloor,
    result_key: records::ResultKey,
    log: RecordLog,
    permissions: Option<Permissions>,
}

fn open(config: &Config, clock: ClockCheck) -> Result<DaemonResources, DaemonError> {
    // First, because it creates nothing: a wrong spool path must not create a spool.
    let dropbox = Inbox::open(&config.spool.join("approved"))?;
    let spool = Spool::open_for_daemon(&places_of(config))?;
    let floor = check_clock(&spool, clock)?;
    let place =
        LogLocation::persisted_in(&config.state, &config.log).with_results(spool.results_in_use()?);
    finish_key_changes(&config.keys, &place)?;
    let keys = open_keys(&config.keys, config.log_origin.as_ref())?;
    let log = RecordLog::of_daemon(place, keys.log, config.heartbeat_sec)?;
    spool.cover(log.directory())?;
    let permissions = Permissions::open(
        &config.policy,
        &config.state.join("permissions"),
        &config.spool.join("drafts"),
    )?;
    Ok(DaemonResources { dropbox, spool, floor, result_key: keys.result, log, permissions })
}

/// Retries during a shortage instead of exiting.
fn open_after_shortage(config: &Config, clock: ClockCheck) -> Result<DaemonResources, DaemonError> {
    let manager = ServiceManager::of_environment();
    let mut is_reported = false;
    loop {
        let error = match open(config, clock) {
            Err(error) if error.shortage().is_some() => error,
            opened => return opened,
        };
        if !is_reported {
            tracing::error!("the start waits: {error}");
            is_reported = true;
        }
        manager.extend_start(&error.to_string(), SHORTAGE_RETRY_INTERVAL);
        std::thread::sleep(SHORTAGE_RETRY_INTERVAL);
    }
}

fn serve(config: Config, path: PathBuf, clock: ClockCheck) -> Result<(), DaemonError> {
    // A run needs about twelve descriptors, and several runs are concurrent.
    let mut files = getrlimit(Resource::Nofile);
    files.current = files.maximum;
    setrlimit(Resource::Nofile, files)
        .map_err(|errno| DaemonError::System("raise the limit of open files", errno.into()))?;
    let DaemonResources { dropbox, spool, floor, result_key, log, permissions } =
        open_after_shortage(&config, clock)?;
    let host = Daemon::new(DaemonParts {
        spool,
        policy: config.policy,
        trust: config.trust,
        key: result_key,
        public_keys: config.keys.public().to_owned(),
        log,
        launcher: config.launcher,
        egress: config.egress,
        permissions,
        backends: BackendScope::All,
    })
    .with_clock_floor(floor)
    .with_prewarmed_sandboxes(config.prewarmed_sandboxes)
    .with_capacity(config.capacity);
    let host = match &config.fleet {
        Some(fleet) => host.with_fleet(fleet)?,
        None => host,
    };
    let Config { scan_interval, shutdown_grace, capacity, metrics, retention, .. } = config;
    // Some requests wait for capacity, some run, and some are being published.
    let in_flight_max = capacity.sandboxes.saturating_mul(IN_FLIGHT_PER_SANDBOX);
    let loop_config = LoopConfig { scan_interval, shutdown_grace, in_flight_max, retention };
    DaemonService::new(host, dropbox, loop_config, path, metrics).run()
}

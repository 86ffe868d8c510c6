//! toolexecd: takes approved requests out of the spool, has each run in a cell, signs and publishes
//! what happened.
//!
//! SECURITY. This program parses what others wrote (requests, signatures, what a tool left), so it
//! runs as a user of its own without capabilities and without a network. Whoever owns it can order
//! runs below the launcher's ceilings and sign records with the result key; they cannot run anything
//! outside a cell. It opens nothing that it was not given by its configuration, reads hostile
//! directories by handle, and bounds everything before it reads it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use daemon::config::Config;
use daemon::{Halt, Host, HostParts, Service, Stop};
use records::ResultKey;
use spool::{Dropbox, Places, Spool};

const USAGE: &str = "\
usage: toolexecd --config FILE [--check]

Runs the requests that are dropped into the spool's approved/ directory, until SIGTERM.

  --config FILE   the configuration, usually /etc/toolexec/toolexecd.yaml
  --check         read the configuration and every file it names, say what is wrong, and exit

example: toolexecd --config /etc/toolexec/toolexecd.yaml --check
";

enum Asked {
    Run(PathBuf),
    Check(PathBuf),
    Help,
}

fn main() -> ExitCode {
    let asked = match asked(std::env::args_os().skip(1)) {
        Ok(asked) => asked,
        Err(wrong) => {
            eprintln!("toolexecd: {wrong}; see toolexecd --help");
            return ExitCode::from(3);
        }
    };
    let (path, check) = match asked {
        Asked::Run(path) => (path, false),
        Asked::Check(path) => (path, true),
        Asked::Help => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
    };
    let config = match Config::read(&path) {
        Ok(config) => config,
        Err(error) => {
            eprintln!("toolexecd: {error}");
            return ExitCode::from(if check { 2 } else { 3 });
        }
    };
    if check {
        println!("{}: good", path.display());
        return ExitCode::SUCCESS;
    }
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_target(false).without_time().init();
    match serve(config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(halt) => {
            tracing::error!("{halt}; nothing more is admitted");
            ExitCode::from(3)
        }
    }
}

fn asked(words: impl Iterator<Item = std::ffi::OsString>) -> Result<Asked, String> {
    let (mut config, mut check) = (None, false);
    let mut words = words;
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--help" | "-h") => return Ok(Asked::Help),
            Some("--check") => check = true,
            Some("--config") => config = Some(words.next().ok_or("--config: needs a file")?),
            _ => return Err(format!("{}: unknown", word.to_string_lossy())),
        }
    }
    let config = PathBuf::from(config.ok_or("--config: missing")?);
    Ok(if check { Asked::Check(config) } else { Asked::Run(config) })
}

fn serve(config: Config) -> Result<(), Halt> {
    let stop = Stop::default();
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|error| Halt::Kernel("wait for signals", error))?;
    }
    let places = Places {
        state: config.state.clone(),
        spool: config.spool.clone(),
        results: config.spool.join("results"),
    };
    let spool = Spool::open_for_daemon(&places)?;
    let dropbox = Dropbox::open(&config.spool.join("approved"))?;
    let key = ResultKey::open_or_create(&config.state.join("keys"))?;
    let host = Host::new(HostParts {
        spool,
        policy: config.policy,
        signers: config.signers,
        key,
        launcher: config.launcher,
    });
    Service::new(host, dropbox, config.rescan, config.drain, stop).run()
}

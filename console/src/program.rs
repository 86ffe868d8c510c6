//! The start of the program, in the one order in which it can read its files, restrict itself and
//! serve.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser as _;

use crate::assets::assets;
use crate::confine::confine;
use crate::connections;
use crate::listener::ConsoleListener;
use crate::options::Options;
use crate::origin::ConsoleOrigin;
use crate::routes;
use crate::state::ConsoleState;
use crate::tls;

const USAGE_OR_INTERNAL: u8 = 3;

/// Runs the program with the arguments of this process.
#[must_use]
pub fn run() -> ExitCode {
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => {
            let requested = !error.use_stderr();
            let printed = error.print().is_ok();
            let fine = requested && printed;
            return if fine { ExitCode::SUCCESS } else { ExitCode::from(USAGE_OR_INTERNAL) };
        }
    };
    match serve(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            let help = "check the options and the unit of toolexec-console";
            match why.contains("; help: ") {
                true => eprintln!("toolexec-console: {why}"),
                false => eprintln!("toolexec-console: {why}; help: {help}"),
            }
            ExitCode::from(USAGE_OR_INTERNAL)
        }
    }
}

fn serve(options: &Options) -> Result<(), String> {
    let tls = tls::acceptor(options)?;
    let listener = ConsoleListener::open(options)?;
    let origins = origins(options, &listener)?;
    let console = ConsoleState::open(options, origins)?;
    announce(&console);
    confine(&console).map_err(|error| error.to_string())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start the runtime: {error}"))?;
    let router = routes::router(Arc::new(console));
    runtime.block_on(connections::serve(listener, tls, router))
}

fn origins(options: &Options, listener: &ConsoleListener) -> Result<Vec<ConsoleOrigin>, String> {
    if !options.origin.is_empty() {
        return Ok(options.origin.clone());
    }
    let scheme = if options.tls_cert.is_some() { "https" } else { "http" };
    match listener.port() {
        Some(port) => Ok(vec![ConsoleOrigin::localhost(scheme, port)]),
        None => Err("--origin: required with a Unix socket; help: name the address that browsers \
                     use, as https://approve.example"
            .to_owned()),
    }
}

/// Logs the digests of what browsers run, so that a changed program can be noticed later.
fn announce(console: &ConsoleState) {
    let (version, files) = (env!("CARGO_PKG_VERSION"), assets());
    eprintln!(
        "toolexec-console: version {version}, console.js sha256 {}, console.css sha256 {}",
        files.script.sha256(),
        files.style.sha256()
    );
    if console.signed.is_none() {
        eprintln!(
            "toolexec-console: the spool has no directory signed/, so nothing can be signed here; \
             help: create it as docs/console.md describes"
        );
    }
    for origin in &console.origins {
        eprintln!("toolexec-console: serving {}", origin.as_str());
    }
}

//! The daemon under `strace`: only its own threads, because the launcher is behind a
//! [`super::SocketLauncher`].

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::bench::CliOutput;
use crate::service::Service;
use crate::skip;

/// Returns true if `strace` works on this host. Otherwise logs a skip.
#[must_use]
pub fn strace_works(test: &str) -> bool {
    let tried = Command::new("strace").args(["-f", "-qq", "-o", "/dev/null", "true"]).output();
    let why = match tried {
        Ok(output) if output.status.success() => return true,
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    skip(test, &format!("strace: {}", why.trim()));
    false
}

/// Returns the daemon's command under `strace` with these options. The trace goes to `log`.
#[must_use]
pub fn strace_command(service: &Service<'_>, words: &[&str], log: &Path) -> Command {
    let daemon = service.command();
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o"]).arg(log).args(words).arg("--").arg(daemon.get_program());
    command.args(daemon.get_args()).env_clear();
    for (name, value) in daemon.get_envs() {
        command.env(name, value.unwrap());
    }
    command.current_dir(daemon.get_current_dir().unwrap());
    command
}

/// Returns the daemon that a tracer has started, or `None` if it has ended.
#[must_use]
pub fn tracee(service: &Service<'_>) -> Option<u32> {
    let tracer = service.process().0;
    let children = fs::read_to_string(format!("/proc/{tracer}/task/{tracer}/children"));
    children.ok()?.split_whitespace().next()?.parse().ok()
}

/// Sends a signal to the traced daemon. The tracer would not pass the signal on.
pub fn signal_tracee(service: &Service<'_>, signal: &str) {
    if let Some(pid) = tracee(service) {
        let output = CliOutput::of(Command::new("kill").args(["-s", signal, &pid.to_string()]));
        // It may have ended by itself in the meantime, which the wait for it finds.
        assert!(output.code == Some(0) || output.stderr.contains("No such process"), "{output:#?}");
    }
}

/// Counts the calls of each name in a trace. A call that was interrupted and resumed counts once.
#[must_use]
pub fn count_calls(log: &Path) -> BTreeMap<String, u32> {
    let mut calls = BTreeMap::new();
    for (_, name) in parse_calls(&fs::read_to_string(log).unwrap_or_default()) {
        *calls.entry(name.to_owned()).or_default() += 1;
    }
    calls
}

/// Returns for each call the highest count of any one thread.
#[must_use]
pub fn highest_thread_counts(log: &Path) -> BTreeMap<String, u32> {
    let text = fs::read_to_string(log).unwrap_or_default();
    let mut threads: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for of in parse_calls(&text) {
        *threads.entry(of).or_default() += 1;
    }
    let mut most = BTreeMap::new();
    for ((_, name), count) in threads {
        let known = most.entry(name.to_owned()).or_default();
        *known = count.max(*known);
    }
    most
}

/// Returns thread and name of each call.
fn parse_calls(trace: &str) -> impl Iterator<Item = (&str, &str)> {
    trace.lines().filter_map(|line| {
        let (thread, rest) = line.split_once(' ')?;
        let (name, _) = rest.trim_start().split_once('(')?;
        let is_name =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_name.then_some((thread, name))
    })
}

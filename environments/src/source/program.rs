//! The ecosystems' own programs. They get a clean environment, a home of their own, no input and a
//! time limit. Their output is bounded and shown only if they fail. No shell is involved.

use std::env;
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::error::SourceError;
use super::model::SourceTools;
use super::program_end::{ProgramEnd, wait_at_most};

/// Times of files must not enter what a program writes: 1980, the earliest time of a wheel.
const SOURCE_DATE_EPOCH: &str = "315532800";
/// Variables of the caller that a program gets, in either case.
const KEPT: [&str; 16] = [
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "ssl_cert_file",
    "ssl_cert_dir",
    "requests_ca_bundle",
    "curl_ca_bundle",
    "node_extra_ca_certs",
    "pip_index_url",
    "pip_extra_index_url",
    "pip_cert",
    "pip_cache_dir",
    "npm_config_registry",
    "npm_config_cafile",
    "npm_config_cache",
];
/// Variables of uv that a program gets. Others change what is installed, or hold a secret.
const KEPT_OF_UV: [&str; 12] = [
    "UV_CACHE_DIR",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "UV_HTTP_TIMEOUT",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_INSECURE_HOST",
    "UV_KEYRING_PROVIDER",
    "UV_NATIVE_TLS",
    "UV_OFFLINE",
    "UV_SYSTEM_CERTS",
];
/// The time for the output of an ended program to arrive.
const OUTPUT_TIME: Duration = Duration::from_secs(2);
const HEAD_BYTES_MAX: usize = 16 << 20;
const TAIL_BYTES_MAX: usize = 16 << 10;
const SHOWN_LINES_MAX: usize = 12;
const SHOWN_CHARS_MAX: usize = 300;

/// The end of a program, and its output.
pub(super) struct EndedProgram {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    /// The last lines that it wrote, to show if it failed.
    pub(super) last_lines: String,
}

/// The beginning and the end of an output stream.
#[derive(Default)]
struct StreamEnds {
    head: Vec<u8>,
    tail: Vec<u8>,
}

/// Returns the first file with this name in the absolute directories of the caller's PATH.
pub(super) fn find(name: &str, tools: &SourceTools) -> Option<PathBuf> {
    let path = tools.variables.iter().find(|(name, _)| name == "PATH")?;
    let directories = env::split_paths(&path.1).filter(|directory| directory.is_absolute());
    directories.map(|directory| directory.join(name)).find(|program| program.is_file())
}

/// Returns a command with a clean environment, in an empty directory.
pub(super) fn command(program: &Path, tools: &SourceTools) -> Result<Command, SourceError> {
    let [home, tmp, work] = ["home", "tmp", "work"].map(|name| tools.scratch.join(name));
    for directory in [&home, &tmp, &work] {
        let made = DirBuilder::new().recursive(true).create(directory);
        made.map_err(SourceError::io(directory))?;
    }
    let is_passed = |name: &OsString| name == "PATH" || name.to_str().is_some_and(is_kept);
    let kept = tools.variables.iter().filter(|(name, _)| is_passed(name));
    let mut command = Command::new(program);
    command.env_clear().envs(kept.map(|(name, value)| (name, value)));
    command.env("HOME", &home).env("TMPDIR", &tmp).current_dir(&work);
    command.env("LANG", "C.UTF-8").env("SOURCE_DATE_EPOCH", SOURCE_DATE_EPOCH);
    Ok(command)
}

fn is_kept(name: &str) -> bool {
    KEPT.contains(&name.to_ascii_lowercase().as_str())
        || KEPT_OF_UV.contains(&name)
        || is_login_of_index(name)
}

/// Returns whether the variable is `UV_INDEX_NAME_USERNAME` or `UV_INDEX_NAME_PASSWORD`.
fn is_login_of_index(name: &str) -> bool {
    let index = name.strip_prefix("UV_INDEX_").unwrap_or_default();
    let is_before = |suffix: &str| index.len() > suffix.len() && index.ends_with(suffix);
    is_before("_USERNAME") || is_before("_PASSWORD")
}

/// Runs a program, which must succeed, and returns its stdout.
pub(super) fn run(
    command: &mut Command,
    what: &str,
    tools: &SourceTools,
) -> Result<String, SourceError> {
    let ended = run_to_end(command, what, tools)?;
    match ended.status.success() {
        true => Ok(ended.stdout),
        false => Err(failure(&format!("{what}: {}", ended.status), &ended.last_lines)),
    }
}

/// Runs a program to its end, with any exit status.
pub(super) fn run_to_end(
    command: &mut Command,
    what: &str,
    tools: &SourceTools,
) -> Result<EndedProgram, SourceError> {
    run_at_most(command, what, tools, tools.time_max)
}

/// Runs a program as [`run_to_end`] does, with a time limit of its own.
pub(super) fn run_at_most(
    command: &mut Command,
    what: &str,
    tools: &SourceTools,
    time_max: Duration,
) -> Result<EndedProgram, SourceError> {
    let program = PathBuf::from(command.get_program());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, so that the end of the time ends its own programs, too. A Ctrl-C does
    // not reach this group: the interrupt says that it was typed.
    command.process_group(0);
    let _running = tools.interrupt.begin_program();
    let mut child = command.spawn().map_err(SourceError::io(&program))?;
    let started = |stream: io::Result<_>| stream.map_err(SourceError::io(&program));
    let stdout = started(collect(child.stdout.take()));
    let stderr = started(collect(child.stderr.take()));
    let ended =
        wait_at_most(&mut child, time_max, &tools.interrupt).map_err(SourceError::io(&program))?;
    // A process that the program left behind may still hold a pipe open.
    let ends = |from: Receiver<StreamEnds>| from.recv_timeout(OUTPUT_TIME).unwrap_or_default();
    let (stdout, stderr) = (ends(stdout?), ends(stderr?));
    let last_lines = last_lines(if stderr.tail.is_empty() { &stdout } else { &stderr });
    let status = match ended {
        ProgramEnd::Itself(status) if !tools.interrupt.is_requested() => status,
        ProgramEnd::TimeOver => {
            let what = format!("{what}: ended after {} seconds", time_max.as_secs());
            return Err(failure(&what, &last_lines));
        }
        ProgramEnd::Itself(_) | ProgramEnd::Interrupted => {
            return Err(SourceError::interrupted(what));
        }
    };
    let stdout = String::from_utf8_lossy(&stdout.head).into_owned();
    Ok(EndedProgram { status, stdout, last_lines })
}

/// Returns the error of a program that failed, with the last lines of its output.
pub(super) fn failure(what: &str, last_lines: &str) -> SourceError {
    let lines = if last_lines.is_empty() { "" } else { "; its last lines:\n" };
    SourceError::Program(format!(
        "{what}{lines}{last_lines}\nnothing was stored; help: correct what it reports, then repeat \
         this"
    ))
}

/// Reads a stream to its end, so that the program never waits, and keeps both ends of it.
fn collect(pipe: Option<impl Read + Send + 'static>) -> io::Result<Receiver<StreamEnds>> {
    let (send, receiver) = channel();
    thread::Builder::new().name("output".to_owned()).spawn(move || {
        let mut ends = StreamEnds::default();
        let mut buffer = vec![0; 64 << 10];
        let Some(mut pipe) = pipe else { return };
        // Bytes before an error are kept.
        while let Ok(read @ 1..) = pipe.read(&mut buffer) {
            ends.add(buffer.get(..read).unwrap_or_default());
        }
        send.send(ends).unwrap_or_default();
    })?;
    Ok(receiver)
}

impl StreamEnds {
    fn add(&mut self, bytes: &[u8]) {
        let room = HEAD_BYTES_MAX.saturating_sub(self.head.len());
        self.head.extend(bytes.iter().take(room));
        self.tail.extend(bytes);
        let excess = self.tail.len().saturating_sub(TAIL_BYTES_MAX);
        self.tail.drain(..excess);
    }
}

fn last_lines(ends: &StreamEnds) -> String {
    let text = String::from_utf8_lossy(&ends.tail);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let skipped = lines.len().saturating_sub(SHOWN_LINES_MAX);
    let shown = lines.iter().skip(skipped).map(|line| {
        let cut: String = line.chars().take(SHOWN_CHARS_MAX).collect();
        format!("    {cut}")
    });
    shown.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_of_the_network_and_of_caches_are_kept() {
        for name in ["https_proxy", "HTTPS_PROXY", "PIP_INDEX_URL", "UV_INDEX", "SSL_CERT_FILE"] {
            assert!(is_kept(name), "{name}");
        }
        for name in ["UV_INDEX_OWN_USERNAME", "UV_INDEX_OWN_PASSWORD"] {
            assert!(is_kept(name), "{name}");
        }
        for name in ["HOME", "PYTHONPATH", "UV_PYTHON", "NODE_OPTIONS", "PIP_TARGET"] {
            assert!(!is_kept(name), "{name}");
        }
        for name in ["UV_EXCLUDE", "UV_NO_DEV", "UV_PUBLISH_TOKEN", "UV_INDEX_STRATEGY"] {
            assert!(!is_kept(name), "{name}");
        }
    }

    #[test]
    fn an_error_shows_the_last_lines() {
        let mut ends = StreamEnds::default();
        for line in 0..10_000 {
            ends.add(format!("line {line}\n\n").as_bytes());
        }
        let shown = last_lines(&ends);
        assert_eq!(shown.lines().count(), SHOWN_LINES_MAX);
        assert!(shown.ends_with("    line 9999"), "{shown}");
        assert!(ends.tail.len() <= TAIL_BYTES_MAX);
    }
}

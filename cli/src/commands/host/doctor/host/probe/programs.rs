//! The programs of TOOL-EXEC beside this one, and the policy's interpreters. A program is run for
//! its version only if no user but root and the caller could have replaced it.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use daemon::BackendScope;

use super::model::ProbeContext;
use super::run_with_limit::{ProgramOutput, run_with_limit};
use crate::commands::host::doctor::host::model::{
    DoctorSubject, ProgramReading, ReadResult, RuntimeReading, Socket,
};

const STICKY: u32 = 0o1000;
const OTHERS_WRITE: u32 = 0o022;

pub(super) fn own_programs() -> Vec<ProgramReading> {
    let own = std::env::current_exe().map_err(|error| error.to_string());
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let mut programs = vec![ProgramReading { name: "toolexec", found: own, version: Ok(version) }];
    for name in ["toolexecd", "toolexec-launch", "toolexec-egress"] {
        let found = match daemon::find_program(name) {
            // The daemon is a command, so the package installs it among commands.
            Err(_) if name == "toolexecd" && Path::new("/usr/bin/toolexecd").is_file() => {
                Ok(PathBuf::from("/usr/bin/toolexecd"))
            }
            found => found,
        };
        let version = found.clone().and_then(|program| version_of(&program, &["--version"]));
        programs.push(ProgramReading { name, found, version });
    }
    programs
}

pub(super) fn runtimes(host: &ProbeContext) -> Vec<RuntimeReading> {
    let Some(policy) = &host.policy else { return Vec::new() };
    let state = match &host.subject {
        DoctorSubject::Embedded { state } => Some(state.as_path()),
        DoctorSubject::Service { state, .. } => state.as_deref(),
    };
    let state = state.unwrap_or(Path::new("/"));
    let found = daemon::preview::installed(policy, state, &BackendScope::Nothing);
    let seen = policy.runtimes().map(|runtime| {
        let name = runtime.name();
        let program = found.get(name).map(|it| match runtime.root() {
            Some(root) => root.join(it.binary.strip_prefix("/").unwrap_or(&it.binary)),
            None => it.binary.clone(),
        });
        let program = program.ok_or_else(|| found.missing(name).map(|it| it.reason.clone()));
        let version = match (&program, runtime.root()) {
            (Err(_), _) => Err("not installed".to_owned()),
            (Ok(_), Some(_)) => Ok("in its own root, version not read".to_owned()),
            (Ok(program), None) if program.ends_with("go") => version_of(program, &["version"]),
            (Ok(program), None) => version_of(program, &["--version"]),
        };
        RuntimeReading { name: name.to_owned(), found: program, version }
    });
    seen.collect()
}

pub(super) fn sockets(host: &ProbeContext) -> Vec<Socket> {
    let Some(outline) = &host.outline else { return Vec::new() };
    let named = [
        ("toolexec-launch.socket", &outline.launcher_socket),
        ("toolexec-egress.socket", &outline.egress_socket),
        ("toolexec-fleet.service", &outline.fleet_socket),
    ];
    let named = named.into_iter().filter_map(|(name, path)| Some((name, path.clone()?)));
    let seen = named.map(|(name, path)| {
        let is_there = match fs::metadata(&path) {
            Ok(found) => Ok(found.file_type().is_socket()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error.to_string()),
        };
        Socket { name, path, is_there }
    });
    seen.collect()
}

/// Returns the first dotted number in the first line of a program's version output.
fn version_of(program: &Path, words: &[&str]) -> ReadResult<String> {
    require_trusted_path(program)?;
    let stdout = stdout_of(Command::new(program).args(words))?;
    let line = stdout.lines().next().unwrap_or_default();
    let versions = line.split_whitespace().map(|word| word.trim_start_matches(['v', 'g', 'o']));
    let is_version = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
    let version = versions.filter(|word| word.contains('.')).find(is_version);
    version.map(str::to_owned).ok_or_else(|| "prints no version".to_owned())
}

/// Refuses a program that another user could have replaced: the caller would run it.
fn require_trusted_path(program: &Path) -> Result<(), String> {
    let real = fs::canonicalize(program).map_err(|error| error.to_string())?;
    let ours = rustix::process::geteuid().as_raw();
    for place in real.ancestors() {
        let found = fs::symlink_metadata(place).map_err(|error| error.to_string())?;
        let writable = found.mode() & OTHERS_WRITE != 0 && found.mode() & STICKY == 0;
        if writable || (found.uid() != 0 && found.uid() != ours) {
            return Err(format!(
                "other users can change {}; not executed to read its version",
                place.display()
            ));
        }
    }
    Ok(())
}

/// Returns the stdout of a program that succeeds within the time limit.
fn stdout_of(command: &mut Command) -> ReadResult<String> {
    command.env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C").current_dir("/");
    let ProgramOutput { status, stdout, .. } = run_with_limit(command)?;
    if status.success() { Ok(stdout) } else { Err(format!("failed: {status}")) }
}

//! The compiled cases, in a directory that a sandbox may mount and every user can read.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{HostileCase, two_at_a_time};
use crate::bench::CliOutput;
use crate::programs::workspace;

/// Programs compiled elsewhere, for a host without a compiler, named by case with `-` for `/`.
const COMPILED: &str = "TOOLEXEC_HOSTILE_COMPILED";

/// A directory below `/opt`, which every launcher of ours may bind. It is removed when dropped.
pub struct CaseDirectory(PathBuf);

impl CaseDirectory {
    /// Creates the directory. Returns `None` if the user may not write to `/opt`.
    #[must_use]
    pub fn new() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = PathBuf::from(format!("/opt/toolexec-hostile-{}-{number}", std::process::id()));
        match fs::create_dir(&path) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return None,
            created => created.unwrap(),
        }
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        Some(Self(path))
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for CaseDirectory {
    fn drop(&mut self) {
        let removed = fs::remove_dir_all(&self.0);
        assert!(removed.is_ok() || std::thread::panicking(), "{removed:?}");
    }
}

/// The program of a case, ready to run.
pub enum BuiltCase {
    Program(PathBuf),
    /// A script for Python.
    Script,
    /// This host cannot build it, for this reason.
    Unavailable(String),
}

impl BuiltCase {
    /// Compiles every C case, or copies it from `TOOLEXEC_HOSTILE_COMPILED`.
    #[must_use]
    pub fn all(cases: &[HostileCase], place: &CaseDirectory) -> Vec<Self> {
        two_at_a_time(cases, |case| Self::one(case, place.path()))
    }

    fn one(case: &HostileCase, place: &Path) -> Self {
        if case.is_python() {
            return Self::Script;
        }
        let name = case.name.replace('/', "-");
        let program = place.join(&name);
        if let Some(made) = std::env::var_os(COMPILED) {
            let made = Path::new(&made).join(name);
            fs::copy(&made, &program).unwrap_or_else(|error| panic!("{}: {error}", made.display()));
        } else if Command::new("cc").arg("--version").output().is_err() {
            return Self::Unavailable("no C compiler".to_owned());
        } else {
            let mut compiler = Command::new(workspace().join("tests/hostile/compile"));
            let output = CliOutput::of(compiler.arg(&case.path).arg(&program));
            assert_eq!(output.code, Some(0), "{}: {}", case.name, output.stderr);
        }
        // Some cases test a setuid file.
        let wanted = case.first_value("needs", super::CaseMode::System) == Some("setuid root");
        let mode = if wanted { 0o4755 } else { 0o755 };
        fs::set_permissions(&program, Permissions::from_mode(mode)).unwrap();
        Self::Program(program)
    }
}

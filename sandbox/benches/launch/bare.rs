//! Bare starts: what is left of a start when nothing confines it. Must add nothing of its own to a figure.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A C program with a static copy of everything that it needs.
pub(crate) fn compile(directory: &Path, name: &str, source: &str) -> PathBuf {
    let (from, to) = (directory.join(format!("{name}.c")), directory.join(name));
    std::fs::write(&from, source).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-static", "-o"]).arg(&to).arg(&from);
    assert!(compiler.status().unwrap().success(), "cc {}", from.display());
    to
}

/// The standard library's way, which is posix_spawn, and waiting for the end.
pub(crate) fn spawn(command: &mut Command) {
    assert!(command.stdin(Stdio::null()).status().unwrap().success(), "{command:?}");
}

/// A process of `starter.c`: it starts and times by itself, so that the way to it is in no figure.
pub(crate) struct Starter(Child);

impl Starter {
    pub(crate) fn new(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap())
    }

    pub(crate) fn one(&mut self) -> Duration {
        self.ask(0);
        Duration::from_nanos(self.answer())
    }

    /// Starts for so long without a pause; [`Self::answer`] has their count then.
    pub(crate) fn ask(&mut self, ms: u32) {
        self.0.stdin.as_mut().unwrap().write_all(&ms.to_ne_bytes()).unwrap();
    }

    pub(crate) fn answer(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.0.stdout.as_mut().unwrap().read_exact(&mut bytes).unwrap();
        u64::from_ne_bytes(bytes)
    }
}

impl Drop for Starter {
    fn drop(&mut self) {
        // The end of its input is its end.
        drop(self.0.stdin.take());
        assert!(self.0.wait().is_ok());
    }
}

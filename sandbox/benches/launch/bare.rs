//! Bare starts: the time of a start without any confinement. Must add nothing of its own.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Compiles a statically linked C program.
pub(crate) fn compile(directory: &Path, name: &str, source: &str) -> PathBuf {
    let (from, to) = (directory.join(format!("{name}.c")), directory.join(name));
    std::fs::write(&from, source).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-static", "-o"]).arg(&to).arg(&from);
    assert!(compiler.status().unwrap().success(), "cc {}", from.display());
    to
}

/// Starts a program in the standard library's way, by posix_spawn, and waits for its end.
pub(crate) fn spawn(command: &mut Command) {
    assert!(command.stdin(Stdio::null()).status().unwrap().success(), "{command:?}");
}

/// A process of `starter.c`, which starts and times by itself, so that no figure includes more.
pub(crate) struct Starter(Child);

impl Starter {
    pub(crate) fn new(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap())
    }

    pub(crate) fn one(&mut self) -> Duration {
        self.ask(0);
        Duration::from_nanos(self.answer())
    }

    /// Requests starts for this many milliseconds; [`Self::answer`] then returns their count.
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
        // The starter exits at the end of its input.
        drop(self.0.stdin.take());
        assert!(self.0.wait().is_ok());
    }
}

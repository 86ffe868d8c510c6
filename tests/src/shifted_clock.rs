//! A library that shifts the wall clock of `toolexecd` and `toolexec-fleet`, and of no program that
//! they start. The clock of the host never changes.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::Bench;
use crate::c_compiler::is_compiled;

/// Adds the seconds of `TOOLEXEC_TEST_CLOCK_SHIFT`, and those in the file that
/// `TOOLEXEC_TEST_CLOCK` names.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (syscall(SYS_clock_gettime, clock, time) != 0)
        return -1;
    const char *name = program_invocation_short_name;
    if (clock != CLOCK_REALTIME || (strcmp(name, "toolexecd") && strcmp(name, "toolexec-fleet")))
        return 0;
    const char *shift = getenv("TOOLEXEC_TEST_CLOCK_SHIFT");
    if (shift)
        time->tv_sec += atol(shift);
    const char *path = getenv("TOOLEXEC_TEST_CLOCK");
    char text[32] = {0};
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        if (read(file, text, sizeof text - 1) > 0)
            time->tv_sec += atol(text);
        close(file);
    }
    return 0;
}
"#;

/// The built library.
#[derive(Clone, Debug)]
pub struct ShiftedClock(PathBuf);

impl ShiftedClock {
    /// Builds the library in the scratch directory of a bench. Logs a skip and returns `None`
    /// without a C compiler.
    #[must_use]
    pub fn build(test: &str, bench: &Bench) -> Option<Self> {
        let source = bench.scratch().file("clock.c", SOURCE);
        let library = bench.scratch().path().join("clock.so");
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(source);
        is_compiled(test, &mut compiler).then_some(Self(library))
    }

    /// Shifts the clock of a command by seconds, for as long as it runs.
    pub fn shift(&self, command: &mut Command, seconds: i64) {
        command.env("LD_PRELOAD", &self.0).env("TOOLEXEC_TEST_CLOCK_SHIFT", seconds.to_string());
    }

    /// Shifts the clock of a command by the seconds that a file has at each moment.
    pub fn follow(&self, command: &mut Command, offset: &Path) {
        command.env("LD_PRELOAD", &self.0).env("TOOLEXEC_TEST_CLOCK", offset);
    }
}

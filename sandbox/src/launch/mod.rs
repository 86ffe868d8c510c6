//! The launcher: conversations in, one cell each, one report each.
//!
//! A run walks this folder as the kernel sees it: `options` (what the launcher itself allows) → `zygote`
//! (the long-lived process, in its `house`) → `seat` (one waiting process per cell, at the `door`) → `shell`
//! (the cell's namespaces and groups, with nothing in them) → `network` (for a cell that has one) → `cell` (watch, end, report) → `init` (pid 1 of the cell) → `view` (what files there are) → `confine`
//! and `filter` (what may be done) → `probe` (whether it holds) → `collector` (what came out).
//! Single-threaded throughout: everything here forks.

mod affinity;
mod cell;
mod cgroup;
mod collector;
mod confine;
mod denials;
mod door;
mod filter;
mod house;
mod identity;
mod init;
mod machine;
mod network;
mod options;
mod probe;
mod proc_view;
mod procfs;
mod programs;
mod sacrifice;
mod sampler;
mod seat;
mod shell;
mod sockets;
mod subordinate;
mod view;
mod windows;
mod zygote;

use std::fmt;
use std::io;
use std::process::ExitCode;

use model::Layer;

use crate::frame::Unable;

use door::Door;
use options::Options;

/// A step of the set-up that failed, or that the kernel does not offer.
#[derive(Clone, Debug)]
struct Failed {
    layer: Option<Layer>,
    step: String,
    errno: i32,
}

impl Failed {
    /// For a step that the kernel must be able to do: its failure is a missing layer.
    fn without<E: Into<io::Error>>(layer: Layer, step: &str) -> impl FnOnce(E) -> Self {
        let step = step.to_owned();
        move |error| Self { layer: Some(layer), ..Self::at(&step)(error) }
    }

    /// For what is wrong without the kernel having said so.
    fn here(step: &str) -> Self {
        Self { layer: None, step: step.to_owned(), errno: 0 }
    }

    /// For a step whose failure says nothing about the kernel.
    fn at<E: Into<io::Error>>(step: &str) -> impl FnOnce(E) -> Self {
        let step = step.to_owned();
        move |error| {
            let error = error.into();
            let errno = errno_behind(&error);
            // A bare errno says all there is to say; a library or a check of ours says more.
            let step = match error.raw_os_error() {
                Some(_) => step,
                None => format!("{step}: {error}"),
            };
            Self { layer: None, step, errno }
        }
    }

    fn into_unable(self) -> Unable {
        Unable { layer: self.layer, step: self.step, errno: self.errno }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.clone().into_unable().fmt(f)
    }
}

/// The kernel's answer behind an error, however many libraries have wrapped it; 0 if there is none.
fn errno_behind(error: &io::Error) -> i32 {
    let direct = crate::sys::errno_of(error);
    let mut cause = error.get_ref().map(|inner| inner as &(dyn std::error::Error + 'static));
    while let Some(inner) = cause.filter(|_| direct == 0) {
        let found = inner.downcast_ref::<io::Error>().map_or(0, crate::sys::errno_of);
        if found != 0 {
            return found;
        }
        cause = inner.source();
    }
    direct
}

impl From<Unable> for Failed {
    fn from(Unable { layer, step, errno }: Unable) -> Self {
        Self { layer, step, errno }
    }
}

/// Runs the launcher on the door that is its standard input.
#[must_use]
pub fn main() -> ExitCode {
    // Modes are given in full where they matter; the caller's umask must not take from them.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    // Descriptors in flight are counted for each user, against the limit of whoever passes one: a tool's
    // limit must be the lower.
    if let Err(error) = confine::raise_open_files() {
        eprintln!("toolexec-launch: raise the limit of open files: {error}");
    }
    // Whoever ignores SIGCHLD has exec hand that down, and then no child can be waited for.
    crate::sys::default_sigchld();
    let mut words = std::env::args_os().skip(1).peekable();
    if words.next_if(|word| word == "--version").is_some() {
        println!("toolexec-launch {}", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    let served = match Options::from_words(words) {
        Ok(Some(options)) => {
            Door::from_stdin(&options).and_then(|door| zygote::live(&options, door))
        }
        Ok(None) => {
            print!("{}", options::USAGE);
            return ExitCode::SUCCESS;
        }
        Err(wrong) => {
            eprintln!("toolexec-launch: {wrong}");
            return ExitCode::from(3);
        }
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("toolexec-launch: {error}");
            ExitCode::from(3)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Wrapped(io::Error);

    impl fmt::Display for Wrapped {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a library's words")
        }
    }

    impl std::error::Error for Wrapped {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn a_failed_step_keeps_the_kernels_answer_through_every_wrapping() {
        let kernels = || io::Error::from_raw_os_error(libc::EROFS);
        for (error, said) in [
            (kernels(), "step: Read-only file system (os error 30)"),
            (
                io::Error::other(Wrapped(kernels())),
                "step: a library's words: Read-only file system (os error 30)",
            ),
            (io::Error::other(kernels()), "step: Read-only file system (os error 30)"),
            (io::Error::other("our own words"), "step: our own words"),
        ] {
            let failed = Failed::without(Layer::Cgroup, "step")(error);
            assert_eq!(failed.to_string(), said);
        }
    }
}

//! The launcher: one connection, one order, one cell, one report, then exit.
//!
//! A run walks this folder as the kernel sees it: `options` (what the launcher itself allows) → `cell`
//! (the parent: clone, watch, end, report) → `init` (pid 1 of the cell) → `view` (what files there are)
//! → `confine` and `filter` (what may be done) → `probe` (whether it holds) → `collector` (what came out). Single-threaded
//! throughout: everything here forks.

mod cell;
mod cgroup;
mod collector;
mod confine;
mod filter;
mod identity;
mod init;
mod options;
mod probe;
mod proc_view;
mod procfs;
mod programs;
mod sampler;
mod view;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;

use crate::frame::{FromLauncher, ToLauncher, Unable};
use crate::plan::Plan;
use crate::report::Layer;
use crate::wire;

use options::Options;

/// A step of the set-up that failed, or that the kernel does not offer.
#[derive(Debug)]
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

    /// For a step whose failure says nothing about the kernel.
    fn at<E: Into<io::Error>>(step: &str) -> impl FnOnce(E) -> Self {
        let step = step.to_owned();
        move |error| {
            let error = error.into();
            let errno = crate::sys::errno_of(&error);
            // Without an errno the error's own words are all there is.
            let step = if errno == 0 { format!("{step}: {error}") } else { step };
            Self { layer: None, step, errno }
        }
    }

    fn into_unable(self) -> Unable {
        Unable { layer: self.layer, step: self.step, errno: self.errno }
    }
}

/// Runs the launcher on the connection that is its standard input.
#[must_use]
pub fn main() -> ExitCode {
    // Modes are given in full where they matter; the caller's umask must not take from them.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    // Whoever ignores SIGCHLD has exec hand that down, and then no child can be waited for.
    crate::sys::default_sigchld();
    let served = match Options::from_words(std::env::args_os().skip(1)) {
        Ok(Some(options)) => serve(&options),
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

fn serve(options: &Options) -> io::Result<()> {
    let mut control = io::stdin().as_fd().try_clone_to_owned()?;
    options.check_client(control.as_fd())?;
    let Some((bytes, mut fds)) = wire::receive(&control)? else {
        return Ok(());
    };
    let plan = match ToLauncher::decode(&bytes)? {
        ToLauncher::Order(plan) => *plan,
        ToLauncher::Go | ToLauncher::Kill(_) => {
            return Err(io::Error::other("the first frame was no order"));
        }
    };
    let (Some(evidence), true) = (fds.pop(), fds.is_empty()) else {
        return Err(io::Error::other("an order comes with exactly one descriptor"));
    };
    answer(options, plan, evidence, &mut control)
}

fn answer(
    options: &Options,
    plan: Plan,
    evidence: OwnedFd,
    control: &mut OwnedFd,
) -> io::Result<()> {
    let ran = options.check_plan(&plan).and_then(|()| cell::run(options, plan, evidence, control));
    match ran {
        Ok(()) => Ok(()),
        Err(failed) => {
            wire::send(control, &FromLauncher::Unable(failed.into_unable()).encode(), &[])
        }
    }
}

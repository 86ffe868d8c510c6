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
mod error;
mod filter;
mod house;
mod identity;
mod init;
mod machine;
mod mount;
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
mod worker_slot;
mod zygote;

use std::process::ExitCode;

use door::Door;
use error::Failed;
use options::Options;

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

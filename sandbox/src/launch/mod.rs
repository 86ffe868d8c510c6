//! The launcher: serves sessions, with one sandbox and one report for each.
//!
//! In the order of a run, the modules are:
//!
//! - `options`: what the launcher itself allows.
//! - `zygote`: the long-lived process, in its base root (`house`).
//! - `seat`: one worker process per sandbox, waiting at the control socket (`door`).
//! - `shell`: the sandbox's init in its namespaces and groups, before its command is known.
//! - `network`: the network of a sandbox that has one.
//! - `supervisor`: watches the sandbox, ends it, reports it.
//! - `init`: pid 1 of the sandbox.
//! - `view`: the files in the sandbox.
//! - `confine` and `filter`: the rights in the sandbox.
//! - `probe`: tests the confinement.
//! - `collector`: sends the files of `/out`.
//!
//! Every process here forks and must be single-threaded throughout.

mod affinity;
mod base_root;
mod cgroup;
mod collector;
mod confine;
mod control_socket;
mod denials;
mod error;
mod filter;
mod host_memory;
mod identity;
mod init;
mod inner_fds;
mod mount;
mod network;
mod oom_score;
mod options;
mod probe;
mod proc_view;
mod procfs;
mod programs;
mod sampler;
mod sandbox_process;
mod sockets;
mod subordinate;
mod supervisor;
mod view;
mod worker;
mod worker_slot;
mod zygote;

use std::process::ExitCode;

use control_socket::ControlSocket;
use error::Failed;
use options::Options;

/// Runs the launcher on standard input as its control socket.
#[must_use]
pub fn main() -> ExitCode {
    // Modes are given in full where they matter; the caller's umask must not reduce them.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    // The kernel counts descriptors in flight per user, against the limit of the sender: a tool's
    // limit must be lower than ours.
    if let Err(error) = confine::raise_open_files() {
        eprintln!("toolexec-launch: open files: cannot raise the limit: {error}");
    }
    // exec preserves an ignored SIGCHLD, with which no child can be waited for.
    crate::sys::default_sigchld();
    let mut words = std::env::args_os().skip(1).peekable();
    if words.next_if(|word| word == "--version").is_some() {
        println!("toolexec-launch {}", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    let served = match Options::from_words(words) {
        Ok(Some(options)) => ControlSocket::from_stdin(&options)
            .and_then(|door| zygote::run_launcher(&options, door)),
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

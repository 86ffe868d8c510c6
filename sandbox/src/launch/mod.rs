//! The launcher: serves sessions, with one sandbox and one report for each.
//!
//! `zygote` is the long-lived process, in its `base_root`; `options` are its limits. It forks a
//! `worker` for each `worker_slot`, which waits at the `control_socket`. The worker starts a
//! `sandbox_process`, gives it a `network` if it needs one, and then supervises it (`supervisor`).
//! `init` is pid 1 of the sandbox: it mounts the `view`, drops rights (`confine`, `filter`), and
//! tests the confinement (`probe`). `collector` sends the files of `/out`, through `beneath`.
//!
//! Every process here forks and must be single-threaded throughout.

mod affinity;
mod base_root;
mod beneath;
mod cgroup;
mod collector;
mod confine;
mod control_socket;
mod denials;
mod device;
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
    // Descriptors in flight count per user, against the sender's limit: ours must be the higher.
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
            .and_then(|socket| zygote::run_launcher(&options, socket)),
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
            let (text, help) = (error.to_string(), "check this host with `toolexec doctor`");
            match text.contains("; help: ") {
                true => eprintln!("toolexec-launch: {text}"),
                false => eprintln!("toolexec-launch: {text}; help: {help}"),
            }
            ExitCode::from(3)
        }
    }
}

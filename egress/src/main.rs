//! `toolexec-egress`: an HTTP proxy through which one run reaches its allowed hosts, and nothing
//! else.
//!
//! SECURITY. This is the only program that opens connections for a tool, and its client is that
//! tool, which a machine wrote. Before it reads a byte, it restricts itself:
//!
//! - It runs as its own user, closes inherited descriptors, sets `no_new_privs` and drops every
//!   capability.
//! - Landlock denies every file that name look-ups do not need, every listening port, and signals
//!   to other processes.
//! - seccomp denies Unix sockets, new processes and most other system calls.
//!
//! The program holds no secret and signs nothing; the daemon uses only its counts. It connects to a
//! host only if a rule of the run names it, and only at the addresses of the first look-up. An
//! address must be public and not this host's own, or be named by the rule and, in a service, by
//! the program's options. It never terminates TLS: in a tunnel it knows only the name in the
//! ClientHello, and the server decides about other names in encrypted requests. An attacker who
//! controls this program can reach everything this host can reach, and can falsify the report;
//! files, sandboxes and keys stay out of reach.

#![forbid(unsafe_code)]

mod proxy;

fn main() -> std::process::ExitCode {
    proxy::main()
}

//! `toolexec-fleet`: speaks with the database of a fleet, for the daemon of its host and for
//! `toolexec`.
//!
//! SECURITY. The program has a network, and the database and the store answer it: both may send any
//! bytes. It holds no signing key of records or approvals, and has no authority:
//!
//! - It places submissions in `approved/`, as every operator may. They need the same signatures.
//! - It answers the gate of the daemon. A false answer can refuse a start, or permit one that
//!   another host also makes. It can never replace an approval.
//! - Its one key cosigns checkpoints of other hosts' logs, and can sign nothing else.
//!
//! It runs as its own user, sets `no_new_privs`, and creates no file that other users may read
//! except those that it submits. Every byte from the database is bounded and hashed before it is
//! used, and no name from there becomes a path before it was checked.

#![forbid(unsafe_code)]

mod agent;
mod bytes;
mod clock;
mod command_server;
mod confine;
mod database;
mod logging;
mod options;
mod program;
mod random;
mod service_notifier;
mod witness;

fn main() -> std::process::ExitCode {
    program::main()
}

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
//! The agent runs as its own user. Other users can read only the files that it places in
//! `approved/` or in a store. `toolexec-fleet command` runs as its caller. Both set `no_new_privs`.
//! The program bounds every answer of the database, and hashes each blob before it uses it. It
//! checks each name before it makes a path of the name.

#![forbid(unsafe_code)]

mod agent;
mod blocking;
mod bytes;
mod command_server;
mod confine;
mod database;
mod foreign_text;
mod logging;
mod options;
mod program;
mod witness;

fn main() -> std::process::ExitCode {
    program::main()
}

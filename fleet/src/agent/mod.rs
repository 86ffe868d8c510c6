//! The agent of one host: it claims requests of its fleet for the daemon beside it, answers the
//! daemon's gate, and reports the records.
//!
//! One thread runs four tasks. Each has connections of its own to the database, so that none waits
//! for the bytes of another:
//!
//! - `beat` notes in the database that this host works, and receives wake-ups.
//! - `claims` works on claims: `claim_step` decides the next step of each one, and `claim_advance`
//!   does it. `unpacked` and `placing` put files into `approved/`. `deliveries` does the same with
//!   standing approvals and new signatures.
//! - `reports` reports the records, and does the rounds of the witness.
//! - `gate_connection` answers the daemon. `gate_starts` decides each start.
//!
//! `agent_state` has the state that they share; `readiness` decides whether the daemon may admit
//! requests.
//!
//! The database decides the order. Files of this host must be durable before a decision relies on
//! them, and every step must be repeatable after an interruption.

mod agent_state;
mod beat;
mod bounded_file;
mod check;
mod claim_advance;
mod claim_book;
mod claim_step;
mod claims;
mod config;
mod deliveries;
mod document_tries;
mod error;
mod fleet_list;
mod gate_connection;
mod gate_line;
mod gate_socket;
mod gate_starts;
mod link;
mod link_pool;
mod missing_records;
mod model;
mod placing;
mod raw_config;
mod readiness;
mod reports;
mod results;
mod retry;
mod serve;
mod signals;
mod signature_names;
mod start_nonces;
mod start_priority;
mod state_directory;
mod unpacked;

pub(crate) use check::check;
pub(crate) use serve::serve;

//! The database of a fleet. PostgreSQL decides the order of claims and starts, and nothing else: it
//! never gives authority, and its bytes are hashed before they are used.
//!
//! The order comes from three things: a change of a claim names the host, epoch and state that it
//! replaces; the primary key of `start` is the request; and the use of a standing approval is
//! inserted in the transaction of its start, under a lock. `migrations/` has the tables, the states
//! (triggers) and the rights (row-level security), which bind every client.
//!
//! A commit whose answer is lost has an unknown outcome. Every call can be repeated: it finds its
//! own row by its key and epoch, and a start also by its nonce.

mod address;
mod blobs;
mod bound;
mod checkpoints;
mod claim_rows;
mod claims;
mod connection;
mod deliveries;
mod error;
mod fault;
mod held_claims;
mod host_model;
mod hosts;
mod listing;
mod lost;
mod model;
mod notices;
mod options;
mod password;
mod report_rules;
mod results;
mod row;
#[cfg(test)]
mod sample_tests;
mod schema;
mod start_rules;
mod starts;
mod status;
mod stored;
mod submissions;
mod sum;
mod transport;
mod uses;

pub(crate) use self::connection::Database;
pub(crate) use self::deliveries::delivery_key;
pub(crate) use self::error::DatabaseError;
pub(crate) use self::host_model::{
    BeatAnswer, Channel, CheckpointRow, CosignatureRow, FleetIdentity, LostRow,
};
pub(crate) use self::model::{
    ClaimAsk, ClaimRow, ReportAnswer, RequestKind, RequestRow, ResultRow, StartDecision, StartRow,
    SubmitRowAnswer,
};
pub(crate) use self::options::{DatabaseOptions, SynchronousCommit};

//! The database of a fleet. PostgreSQL decides the order of claims and starts, and nothing else. It
//! never gives authority, and the program hashes each blob before it uses it.
//!
//! The order comes from three things:
//!
//! - A change of a claim names the host, epoch and state that it replaces.
//! - The primary key of `start` is the request.
//! - The transaction of a start inserts the use of its standing approval, under a lock.
//!
//! `migrations/` has the tables, the states (triggers) and the rights (row-level security). They
//! bind every client.
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
mod lost_orders;
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

pub(crate) use self::blobs::BlobRows;
pub(crate) use self::checkpoints::WitnessRows;
pub(crate) use self::connection::Database;
pub(crate) use self::deliveries::delivery_key;
pub(crate) use self::error::DatabaseError;
pub(crate) use self::host_model::{
    BeatAnswer, Channel, CheckpointRow, CosignatureRow, FleetIdentity, LostRow,
};
pub(crate) use self::lost_orders::LostOrderTrust;
pub(crate) use self::model::{
    ClaimAsk, ClaimRow, ReportAnswer, RequestKind, RequestRow, ResultRow, StartDecision, StartRow,
    SubmitRowAnswer,
};
pub(crate) use self::options::{DatabaseOptions, SynchronousCommit};

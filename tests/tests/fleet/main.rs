//! A fleet as its users run it: several hosts, each with its own daemon and agent, and a PostgreSQL
//! server of the test. Runs are counted from outside. Hosts and the database fail in every way, and
//! no request runs twice.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod access;
mod audiences;
mod bytes;
mod cut_proxy;
mod cuts;
mod database_faults;
mod disputes;
mod docs;
mod figures;
mod full_disk;
mod hand_edits;
mod lists;
mod local_requests;
mod lost_hosts;
mod lost_records;
mod network;
mod requests;
mod rights;
mod standing;
mod trial;
mod tutorial_team;

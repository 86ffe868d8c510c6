//! Records, their pages and logs, and keys: what this build writes and what older ones wrote.

mod fleet_records;
mod golden;
mod keys;
mod page;
mod verify;
mod verify_whole;

//! A PostgreSQL server of one test. An ordinary user runs it, because it refuses root, in a
//! directory of the test. It ends with the test.

mod programs;
mod server;
mod sql;

pub use server::PostgresServer;

//! A fleet of one test: a database, a signed list, and hosts that each have a spool, keys, a daemon
//! and an agent of their own. Everything ends with the test.

mod commands;
mod host;
mod list;
mod scene;

pub use host::TestFleetHost;
pub use list::FLEET_NAMESPACE;
pub use scene::TestFleet;

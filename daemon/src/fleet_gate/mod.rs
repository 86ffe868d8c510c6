//! The fleet of this host: admission and each start need an answer of the gate of `toolexec-fleet`,
//! which asks the database. Without the key `fleet`, the daemon uses none of this. A start or an
//! admission needs a readable answer that permits it. Nothing else permits it, also not an error.

mod admission;
mod list_serial;
mod membership;
mod poll;
mod settings;
mod start;

pub(crate) use membership::FleetMembership;
pub(crate) use poll::GatePoll;
pub use settings::ConfiguredFleet;
pub(crate) use settings::{FleetSettings, RawFleetConfig};

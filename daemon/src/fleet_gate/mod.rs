//! The fleet of this host: admission and each start need an answer of the gate of `toolexec-fleet`,
//! which asks the database. Without the key `fleet`, none of this is used. A start or an
//! admission needs a readable answer that permits it; everything else is a refusal.

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

//! The fleet of this host: admission and each start need an answer of the gate of `toolexec-fleet`,
//! which asks the database. Without the key `fleet`, none of this is used. No answer, an error and
//! an answer that cannot be read all mean no.

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

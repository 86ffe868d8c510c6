//! Arguments shared by several commands, and their readers. This module must not import a command.

pub(crate) mod environment;
pub(crate) mod files;
pub(crate) mod fleet_list;
pub(crate) mod policy;

mod build_record;
mod case;
mod fleet;
mod format;
mod host;
mod signing;
mod source;
mod state;

pub(crate) use build_record::SignedBuild;
pub(crate) use case::{CaseOptions, RulesOptions, ShowOptions};
pub(crate) use fleet::{FleetDatabaseOption, FleetOption, FleetStoreOption};
pub(crate) use format::Format;
pub(crate) use host::HostOptions;
pub(crate) use signing::{KeyOptions, SigningOptions};
pub(crate) use source::SourceOptions;
pub(crate) use state::StateOption;

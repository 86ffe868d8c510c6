//! The pipeline of a run, as a library: one function per arrow, in this order.
//!
//! ```text
//! claim → check → authorise → stage → build the sandbox → begin → start → finish → sign → log → publish
//! ```
//!
//! `toolexecd` and `toolexec run` share the pipeline. They differ in the source of requests and in
//! the fate of the original files. Only `system` reads the wall clock or draws random numbers. No
//! module grants more than the policy does.
//!
//! Types that several files of a module share are in its `model.rs`, which imports none of them.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod accelerators;
mod backend_probe;
mod bounded_file;
mod capacity;
mod clock;
pub mod config;
mod environment_builder;
mod environment_digests;
mod environments;
mod filing_thread;
mod fleet_gate;
mod held_requests;
mod key_change;
pub mod log_event;
pub mod logging;
#[cfg(test)]
mod message_tests;
pub mod metrics;
mod model;
mod network;
mod permissions;
mod pipeline;
mod plan;
pub mod preview;
mod prewarm;
mod probe;
mod programs;
mod publish_queue;
mod record_log;
mod recovery;
mod rules;
mod runtimes;
mod scheduler;
mod shortage;
mod signing;
mod state;
pub mod status;
mod system;
mod trust_store;
mod violations;

pub use self::model::DaemonError;
pub use backend_probe::{BackendProbe, probe_backends};
pub use capacity::CapacityLimits;
pub use clock::{ClockCheck, ClockFloor, check_clock};
pub use config::{lenient_config, open_keys};
pub use environment_builder::verified_build;
pub use environment_digests::{DigestCache, EnvironmentFiles};
pub use environments::environments_dir;
pub use fleet_gate::ConfiguredFleet;
pub use key_change::finish_key_changes;
pub use network::find_egress;
pub use permissions::Permissions;
pub use pipeline::{RecordedRequest, ReplayTarget};
pub use probe::{HostFault, ProbeResult, probe};
pub use programs::{find_launcher, find_program};
pub use record_log::{LOG_WAIT, RecordLog};
pub use recovery::{RecoverySummary, is_publishable, was_begun};
pub use runtimes::{BackendScope, program_of};
pub use scheduler::{DaemonService, LoopConfig};
pub use state::{Daemon, DaemonParts};
pub use status::ProgressObserver;
pub use system::{boot_id, group_id, user_id, user_name};
pub use trust_store::{HostTrustStore, TrustFileOwners, TrustFiles};

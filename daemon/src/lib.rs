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
//! Types that several files of a module share are defined in its `model.rs`, which imports none of
//! those files.

#![forbid(unsafe_code)]

mod bounded_file;
mod clock;
pub mod config;
mod held;
mod host;
mod key_change;
pub mod log_to;
#[cfg(test)]
mod message_tests;
pub mod metrics;
mod model;
mod network;
mod outbox;
mod permissions;
mod pipeline;
mod plan;
pub mod preview;
mod probe;
mod programs;
mod ready;
mod record_log;
mod recovery;
mod room;
mod room_wanted;
mod rules;
mod runtimes;
mod scheduler;
mod signing;
pub mod status;
mod supply;
mod system;
pub mod transition;
mod trust_store;
mod verdicts;

pub use self::model::Halt;
pub use clock::{Clock, Floor, insist_on_clock};
pub use config::{open_keys, outline};
pub use host::{Host, HostParts};
pub use key_change::finish_key_changes;
pub use network::find_egress;
pub use permissions::Permissions;
pub use pipeline::{Replay, Told};
pub use probe::{HostFault, Probed, probe};
pub use programs::{find_launcher, find_program};
pub use record_log::{LOG_WAIT, RecordLog};
pub use recovery::{Settled, is_whole, was_begun};
pub use room::RoomMax;
pub use runtimes::program_of;
pub use scheduler::{Pace, Service};
pub use status::{Watching, notify_host};
pub use supply::{Digests, Found};
pub use system::{boot_id, group_id, user_id, user_name};
pub use trust_store::{Owners, TrustFiles, TrustStore};

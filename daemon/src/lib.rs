//! The run itself, as a library: one function per arrow of the design, in order.
//!
//! ```text
//! claim → check → authorise → stage → build the cell → begin → start → finish → sign → log → publish
//! ```
//!
//! `toolexecd` and `toolexec run` walk through the very same code; they differ in where requests come
//! from and in what becomes of the originals. Only the edges here read a clock or draw random numbers
//! (`edge`), and nothing here decides what the policy did not.

#![forbid(unsafe_code)]

pub mod config;
mod edge;
mod flow;
mod host;
mod network;
mod plan;
mod ready;
mod record_log;
mod recovery;
mod runtimes;
mod serve;
mod tell;
mod verdicts;

pub use edge::user_name;
pub use flow::Told;
pub use host::{Halt, Host, HostParts, find_launcher};
pub use network::find_egress;
pub use record_log::{RecordLog, log_key};
pub use runtimes::program_of;
pub use serve::{Service, Stop};

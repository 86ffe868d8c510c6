//! The machine: its disks, QEMU's command line and process, and the course of one run.

mod command;
mod course;
mod disks;
mod plan;
mod process;
mod relay;
mod run;

pub use command::MachineCommand;
pub use plan::{MachineLimits, MachinePlan, MachinePrograms};
pub use run::run_guest;

//! The microVM backend: runs one tool in a guest of QEMU's machine type `microvm`.
//!
//! The wrapper (`toolexec-microvm`) runs inside the sandbox: it makes the guest's disks, starts
//! QEMU, relays the tool's output, and copies what the guest leaves into `/out`. The guest's first
//! process (`toolexec-guest-init`) runs the tool. The wrapper must treat every byte from the guest
//! as hostile, and must never write outside of `/out` and its work directory.

#![forbid(unsafe_code)]

mod accelerator;
mod archive;
pub mod guest;
mod machine;
mod outcome;
mod protocol;
mod report;

#[cfg(test)]
mod directory_for_tests;
#[cfg(test)]
#[path = "../../tests/src/skip.rs"]
pub mod skip;

pub use accelerator::GuestAccelerator;
pub use archive::{
    ArchiveEntry, ArchiveEntryKind, ArchiveError, ArchiveFault, ArchiveLimits, OutArchive,
    OutDirectory, TarWriter,
};
pub use machine::{MachineCommand, MachineLimits, MachinePlan, MachinePrograms, run_guest};
pub use outcome::GuestOutcome;
pub use protocol::{
    GuestMessage, GuestRequest, GuestToolEnd, GuestToolUsage, MessageStream, StatusFault,
};
pub use report::{LeftOutFile, MachineReport};

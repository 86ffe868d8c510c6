//! Environments and folders in runs: a request names one, a run uses it, a record has it, and
//! another host repeats the run. Only `walks` needs a network.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

mod build_options;
mod build_records;
mod changes;
mod folder_scene;
mod folders;
mod lock_files;
mod moves;
mod naming;
mod patch_commands;
mod patch_scene;
mod patches;
mod programs;
mod runs;
mod scene;
mod test_image;
mod walks;

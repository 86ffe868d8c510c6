//! `toolexec-microvm`: runs a tool in a guest of QEMU, as the backend of a request.
//!
//! SECURITY. This program runs inside the sandbox and relies on the sandbox for everything that a
//! defect of QEMU would reach. It parses what a hostile guest wrote: messages and an archive. It
//! writes only below `/out`, in its work directory and in its report. The guest can forge the
//! tool's status, output and usage, as the tool can in a plain sandbox. QEMU's authors defend the
//! boundary of a guest with KVM only, so a run with TCG adds no boundary that they vouch for.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod report_file;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::main()
}

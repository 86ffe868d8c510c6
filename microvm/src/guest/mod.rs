//! The guest's side. Pid 1 loads modules, mounts the disks, starts the tool, archives `/out`, and
//! restarts the machine, which ends QEMU. The tool is started by a second process of the same
//! program, which enters the root image, gives up its rights, and becomes the tool.

mod cgroup;
mod devices;
mod failure;
mod mounts;
mod network;
mod out_archive;
mod out_walk;
mod pid1;
mod tool;
mod tool_start;

use std::io::{self, Write};
use std::process::ExitCode;

/// The argument that makes this program start the tool.
const TOOL_WORD: &str = "tool";

/// Runs as pid 1, or as the process that becomes the tool.
#[must_use]
pub fn main() -> ExitCode {
    if std::process::id() == 1 {
        return pid1::serve(TOOL_WORD);
    }
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|word| word == TOOL_WORD) {
        return tool_start::become_tool(args.collect());
    }
    let message = "toolexec-guest-init: runs only in a guest; help: see docs/microvm.md";
    drop(writeln!(io::stderr(), "{message}"));
    ExitCode::from(3)
}

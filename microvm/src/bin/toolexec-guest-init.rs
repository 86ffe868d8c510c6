//! `toolexec-guest-init`: the first process of a guest of the microVM backend.
//!
//! SECURITY. In the guest this program is root, and everything in the guest may become hostile: it
//! protects the tool's limits, never the host. On a host it refuses to run. See
//! `toolexec_microvm::guest`.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    toolexec_microvm::guest::main()
}

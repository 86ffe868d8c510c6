//! Restrictions that a program puts on itself before it reads a byte of a client: Landlock for
//! files, TCP and signals ([`restrict_access`]), then an allowlist of system calls
//! ([`SyscallAllowlist`]). Each program names what it needs. Nothing here can lift a restriction.
//!
//! A restriction applies to the calling thread and to the threads that it starts later, so a
//! program must restrict itself before it starts any. The allowlist comes last, because it allows
//! none of the other calls.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod access;
mod argument_rule;
mod call_groups;
mod error;
mod lookup_paths;
mod sockets;
mod syscall_allowlist;
#[cfg(test)]
mod tests;

pub use access::restrict_access;
pub use argument_rule::ArgumentRule;
pub use call_groups::{CONNECTION_CALLS, FILE_CALLS};
pub use error::ConfinementError;
pub use lookup_paths::NAME_LOOKUP_DIRECTORIES;
pub use sockets::{internet_sockets, socket_kind};
pub use syscall_allowlist::SyscallAllowlist;

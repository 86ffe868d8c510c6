//! The alternatives of `socket(2)`. Unix and raw sockets are left out unless a program adds them.

use libc::c_int;

use crate::argument_rule::ArgumentRule;

/// The bits of a socket's type. The others are flags.
const KIND_MASK: c_int = 0xf;

/// Returns the conditions for a socket of a family and a type (`AF_UNIX` and `SOCK_STREAM`), with
/// any flags.
#[must_use]
pub fn socket_kind(family: c_int, kind: c_int) -> Vec<ArgumentRule> {
    vec![ArgumentRule::equal(0, family), ArgumentRule::masked(1, KIND_MASK, kind)]
}

/// Returns the alternatives for TCP and UDP, and for netlink with routes and addresses only, which
/// name look-ups of the C library use.
#[must_use]
pub fn internet_sockets() -> Vec<Vec<ArgumentRule>> {
    vec![
        socket_kind(libc::AF_INET, libc::SOCK_STREAM),
        socket_kind(libc::AF_INET, libc::SOCK_DGRAM),
        socket_kind(libc::AF_INET6, libc::SOCK_STREAM),
        socket_kind(libc::AF_INET6, libc::SOCK_DGRAM),
        vec![ArgumentRule::equal(0, libc::AF_NETLINK), ArgumentRule::equal(2, libc::NETLINK_ROUTE)],
    ]
}

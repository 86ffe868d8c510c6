//! toolexec-egress: an HTTP proxy that lets one run reach the hosts it may name, and nothing else.
//!
//! SECURITY. This is the only program of ours with a network, and what talks to it is a tool written by
//! a machine. It runs as a user of its own, closes what its caller left open, sets `no_new_privs`, drops
//! every capability, and takes from itself every file that looking up names does not need, every listening
//! port and signals to others (Landlock), Unix sockets, processes and most other system calls (seccomp),
//! before it reads a byte. It holds no secret and signs nothing; the daemon believes only its counts. It
//! dials a host only if a rule of that run names it, at the addresses that the first look-up gave, and only
//! at public ones that are not this host's own, or that the rule names and, in a service, its own options;
//! it never ends TLS, so inside a tunnel it knows the name in the ClientHello and nothing more: what a
//! server does with other names in encrypted requests is that server's. Whoever owns this program can
//! reach what this host can reach, and lie about it in the report; they reach no files, no cell and no key.

#![forbid(unsafe_code)]

mod proxy;

fn main() -> std::process::ExitCode {
    proxy::main()
}

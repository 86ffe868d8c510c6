//! Directories from which the C library looks names of hosts up.

/// The targets of links in the configuration of name look-ups, and the plug-ins that it names. The
/// configuration itself is in `/etc`.
pub const NAME_LOOKUP_DIRECTORIES: [&str; 8] = [
    "/lib",
    "/lib64",
    "/run/NetworkManager",
    "/run/resolvconf",
    "/run/systemd/resolve",
    "/usr/lib",
    "/usr/lib64",
    "/usr/share/libc-bin",
];

//! The allowlist of system calls that an agent may make while serving. No allowed call starts a
//! program, makes a raw socket, or signals another process. Landlock restricts the files.

use confinement::{
    ArgumentRule, CONNECTION_CALLS, FILE_CALLS, SyscallAllowlist, internet_sockets, socket_kind,
};

const FIONREAD: libc::c_int = 0x541b;
const FIONBIO: libc::c_int = 0x5421;
const FIOCLEX: libc::c_int = 0x5451;

/// Further calls for placing files: they make, rename and remove objects, and make them durable.
const PLACING_CALLS: &[i64] = &[
    libc::SYS_fdatasync,
    libc::SYS_ftruncate,
    libc::SYS_mkdirat,
    libc::SYS_renameat,
    libc::SYS_symlinkat,
    libc::SYS_syncfs,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_symlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
];

pub(super) fn allowed() -> SyscallAllowlist {
    // Unix sockets: of the database, of name look-ups, and of the service manager (datagrams).
    let unix = [libc::SOCK_STREAM, libc::SOCK_DGRAM].map(|kind| socket_kind(libc::AF_UNIX, kind));
    // The C library looks names up with them.
    let requests = [FIONBIO, FIONREAD, FIOCLEX];
    SyscallAllowlist::of_runtime()
        .with(FILE_CALLS)
        .with(PLACING_CALLS)
        .with(CONNECTION_CALLS)
        .with_arguments(libc::SYS_socket, internet_sockets().into_iter().chain(unix))
        .with_arguments(
            libc::SYS_ioctl,
            requests.map(|request| vec![ArgumentRule::equal(1, request)]),
        )
}

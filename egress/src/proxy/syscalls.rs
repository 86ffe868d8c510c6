//! The allowlist of system calls that the program may make while serving, independent of the
//! process that started it. No allowed call gives access to a denied resource (files to write,
//! other programs, this host's Unix sockets, signals to other processes).

use confinement::{ArgumentRule, CONNECTION_CALLS, SyscallAllowlist, internet_sockets};

const FIONREAD: libc::c_int = 0x541b;
const FIONBIO: libc::c_int = 0x5421;
const FIOCLEX: libc::c_int = 0x5451;

pub(super) fn allowed() -> SyscallAllowlist {
    let writing = libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC;
    let read_only = ArgumentRule::masked(2, writing, libc::O_RDONLY);
    let requests = [FIONBIO, FIONREAD, FIOCLEX];
    SyscallAllowlist::of_runtime()
        .with(CONNECTION_CALLS)
        .with_arguments(libc::SYS_socket, internet_sockets())
        .with_arguments(libc::SYS_openat, [vec![read_only]])
        .with_arguments(
            libc::SYS_ioctl,
            requests.map(|request| vec![ArgumentRule::equal(1, request)]),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A group of calls that grows must not grow this list unnoticed.
    #[test]
    fn the_list_has_no_call_more() {
        let calls = if cfg!(target_arch = "x86_64") { 73 } else { 70 };
        assert_eq!(allowed().numbers().len(), calls, "{:?}", allowed().numbers());
    }
}

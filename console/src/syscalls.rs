//! The allowlist of system calls that the program may make while serving. No allowed call makes a
//! socket, connects one, starts a program or signals another process. Landlock restricts the files.
//! A denied call fails with ENOSYS, so that the C library uses an older call instead.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Is, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

/// Allowed with any arguments: waiting, memory and threads of the runtime, existing sockets, and
/// files.
const UNRESTRICTED: &[i64] = &[
    libc::SYS_accept4,
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_close,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_faccessat,
    libc::SYS_fchmod,
    libc::SYS_fcntl,
    libc::SYS_flock,
    libc::SYS_fstat,
    libc::SYS_fsync,
    libc::SYS_futex,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getpeername,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_getsockname,
    libc::SYS_getsockopt,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_newfstatat,
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_ppoll,
    libc::SYS_pread64,
    libc::SYS_read,
    libc::SYS_readlinkat,
    libc::SYS_readv,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_renameat2,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_set_robust_list,
    libc::SYS_setsockopt,
    libc::SYS_shutdown,
    libc::SYS_sigaltstack,
    libc::SYS_statx,
    // The C library's sort function asks for the amount of memory.
    libc::SYS_sysinfo,
    libc::SYS_uname,
    libc::SYS_unlinkat,
    libc::SYS_write,
    libc::SYS_writev,
];

/// Older calls that only some architectures have.
#[cfg(target_arch = "x86_64")]
const OLDER: &[i64] = &[
    libc::SYS_access,
    libc::SYS_epoll_wait,
    libc::SYS_lstat,
    libc::SYS_open,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_stat,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[i64] = &[];

/// One condition of a call: argument, comparison, value.
type ArgumentRule = (u8, Is, libc::c_int);

fn restricted(own_pid: i32) -> [(i64, Vec<ArgumentRule>); 4] {
    let threads = Is::MaskedEq(libc::CLONE_THREAD.unsigned_abs().into());
    [
        // Threads, not processes.
        (libc::SYS_clone, vec![(0, threads, libc::CLONE_THREAD)]),
        (libc::SYS_ioctl, vec![(1, Is::Eq, FIONBIO)]),
        (libc::SYS_prctl, vec![(0, Is::Eq, libc::PR_SET_NAME)]),
        // The implementation of abort(3) needs it.
        (libc::SYS_tgkill, vec![(0, Is::Eq, own_pid)]),
    ]
}

const FIONBIO: libc::c_int = 0x5421;

/// Applies to this thread and the threads that it starts.
///
/// # Errors
/// The kernel has no seccomp, or the filter cannot be built for this architecture.
pub(crate) fn restrict() -> Result<(), String> {
    let program = program().map_err(|error| format!("system call filter: {error}"))?;
    seccompiler::apply_filter(&program).map_err(|error| format!("system call filter: {error}"))
}

fn program() -> Result<BpfProgram, seccompiler::BackendError> {
    let own_pid = rustix::process::getpid().as_raw_nonzero().get();
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        UNRESTRICTED.iter().chain(OLDER).map(|call| (*call, Vec::new())).collect();
    for (call, conditions) in restricted(own_pid) {
        let condition = |(argument, is, value): ArgumentRule| {
            SeccompCondition::new(argument, Length::Dword, is, value.unsigned_abs().into())
        };
        let all = conditions.into_iter().map(condition).collect::<Result<Vec<_>, _>>()?;
        rules.insert(call, vec![SeccompRule::new(all)?]);
    }
    let unknown = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let here = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, unknown, SeccompAction::Allow, here)?.try_into()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;
    use std::process::Command;

    use super::*;

    #[test]
    fn there_is_neither_a_new_socket_nor_a_program() {
        // In its own thread, because the filter applies to the calling thread.
        let held = std::thread::spawn(|| {
            restrict().expect("restricted");
            assert!(TcpListener::bind("127.0.0.1:0").is_err());
            assert!(TcpStream::connect("127.0.0.1:9").is_err());
            assert!(UnixStream::connect("/run/dbus/system_bus_socket").is_err());
            assert!(UnixStream::pair().is_err());
            assert!(Command::new("/bin/true").status().is_err());
            // A thread of the runtime, which reads a file.
            let read = std::thread::spawn(|| std::fs::read("/proc/self/status").is_ok());
            assert!(read.join().expect("a thread"));
        });
        held.join().expect("holds");
    }
}

//! The allowlist of system calls that the program may make while serving, independent of the
//! process that started it. No allowed call gives access to a denied resource (files to write,
//! other programs, this host's Unix sockets, signals to other processes). A denied call fails with
//! ENOSYS, so that the C library uses an older call instead.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Is, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

/// Allowed with any arguments: waiting, memory and threads of the runtime, and existing sockets.
const UNRESTRICTED: &[i64] = &[
    libc::SYS_accept4,
    libc::SYS_bind,
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_close,
    libc::SYS_connect,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fcntl,
    libc::SYS_fstat,
    libc::SYS_futex,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getpeername,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_getsockname,
    libc::SYS_getsockopt,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_getuid,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_newfstatat,
    libc::SYS_ppoll,
    libc::SYS_pread64,
    libc::SYS_pselect6,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_recvfrom,
    libc::SYS_recvmmsg,
    libc::SYS_recvmsg,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_sendmmsg,
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
    libc::SYS_write,
    libc::SYS_writev,
];

/// Older calls that only some architectures have.
#[cfg(target_arch = "x86_64")]
const OLDER: &[i64] = &[libc::SYS_epoll_wait, libc::SYS_poll, libc::SYS_stat];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[i64] = &[];

/// Alternatives, each a list of conditions: (argument, comparison, value).
type ArgumentRules = Vec<Vec<(u8, Is, libc::c_int)>>;

fn restricted(own_pid: i32) -> [(i64, ArgumentRules); 6] {
    let writing = libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC;
    [
        // No Unix or raw sockets; netlink only for routes and addresses.
        (
            libc::SYS_socket,
            vec![
                vec![(0, Is::Eq, libc::AF_INET), (1, KIND, libc::SOCK_STREAM)],
                vec![(0, Is::Eq, libc::AF_INET), (1, KIND, libc::SOCK_DGRAM)],
                vec![(0, Is::Eq, libc::AF_INET6), (1, KIND, libc::SOCK_STREAM)],
                vec![(0, Is::Eq, libc::AF_INET6), (1, KIND, libc::SOCK_DGRAM)],
                vec![(0, Is::Eq, libc::AF_NETLINK), (2, Is::Eq, libc::NETLINK_ROUTE)],
            ],
        ),
        // Threads, not processes.
        (libc::SYS_clone, vec![vec![(0, masked(libc::CLONE_THREAD), libc::CLONE_THREAD)]]),
        (libc::SYS_openat, vec![vec![(2, masked(writing), libc::O_RDONLY)]]),
        (
            libc::SYS_ioctl,
            vec![
                vec![(1, Is::Eq, FIONBIO)],
                vec![(1, Is::Eq, FIONREAD)],
                vec![(1, Is::Eq, FIOCLEX)],
            ],
        ),
        (libc::SYS_prctl, vec![vec![(0, Is::Eq, libc::PR_SET_NAME)]]),
        // The implementation of abort(3) needs it.
        (libc::SYS_tgkill, vec![vec![(0, Is::Eq, own_pid)]]),
    ]
}

const FIONREAD: libc::c_int = 0x541b;
const FIONBIO: libc::c_int = 0x5421;
const FIOCLEX: libc::c_int = 0x5451;
/// Compares the type of a socket without its flags.
const KIND: Is = Is::MaskedEq(0xf);

fn masked(mask: libc::c_int) -> Is {
    Is::MaskedEq(mask.unsigned_abs().into())
}

/// Applies to this thread and the threads that it starts.
///
/// # Errors
/// The kernel has no seccomp, or the filter cannot be built for this architecture.
pub(super) fn restrict() -> Result<(), String> {
    let program = program().map_err(|error| format!("system call filter: {error}"))?;
    seccompiler::apply_filter(&program).map_err(|error| format!("system call filter: {error}"))
}

fn program() -> Result<BpfProgram, seccompiler::BackendError> {
    let own_pid = rustix::process::getpid().as_raw_nonzero().get();
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        UNRESTRICTED.iter().chain(OLDER).map(|call| (*call, Vec::new())).collect();
    for (call, allowed) in restricted(own_pid) {
        let any = allowed.into_iter().map(rule).collect::<Result<_, _>>()?;
        rules.insert(call, any);
    }
    let unknown = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let here = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, unknown, SeccompAction::Allow, here)?.try_into()
}

fn rule(all: Vec<(u8, Is, libc::c_int)>) -> Result<SeccompRule, seccompiler::BackendError> {
    let condition = |(argument, is, value): (u8, Is, libc::c_int)| {
        SeccompCondition::new(argument, Length::Dword, is, value.unsigned_abs().into())
    };
    SeccompRule::new(all.into_iter().map(condition).collect::<Result<_, _>>()?)
}

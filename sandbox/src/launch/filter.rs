//! Which system calls a tool may make: an allowlist, and the calls that are answered EPERM.
//!
//! Two programs are loaded. The first allows the calls below and answers ENOSYS to every other number,
//! known or not, because libc and runtimes fall back on ENOSYS. The second, loaded last and so heard
//! first among equals, answers EPERM to calls that exist and are refused on purpose. Foreign
//! architectures are killed by both. Policy stands here and nowhere else; each group says why.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use sha2::{Digest, Sha256};

use super::Failed;
use crate::report::Layer;
use crate::sys;

/// What a call is answered that the filter does not know: libc and runtimes fall back on it.
pub(super) const UNKNOWN_WITH: i32 = libc::ENOSYS;
/// What a call is answered that is known and refused on purpose.
pub(super) const REFUSED_WITH: i32 = libc::EPERM;
/// Types into a terminal's input queue (ioctl_tty(2)).
const TIOCSTI: u64 = 0x5412;
/// The console's own way to do the same.
const TIOCLINUX: u64 = 0x541C;
/// Namespace flags of clone(2): none may be asked for.
const CLONE_NAMESPACES: u64 = 0x7E02_0080;

#[cfg(target_arch = "x86_64")]
const ARCH: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCH: TargetArch = TargetArch::aarch64;

/// Calls that every program needs: memory, files it may already reach, time, threads, signals.
#[rustfmt::skip]
const ALLOWED: &[libc::c_long] = &[
    // Memory.
    libc::SYS_brk, libc::SYS_mmap, libc::SYS_munmap, libc::SYS_mprotect, libc::SYS_mremap,
    libc::SYS_madvise, libc::SYS_msync, libc::SYS_mincore, libc::SYS_mlock, libc::SYS_munlock,
    libc::SYS_mlock2, libc::SYS_membarrier, libc::SYS_pkey_alloc, libc::SYS_pkey_free,
    libc::SYS_pkey_mprotect, libc::SYS_get_mempolicy,
    // Files: what can be opened is Landlock's and the view's business.
    libc::SYS_openat, libc::SYS_openat2, libc::SYS_close, libc::SYS_close_range, libc::SYS_read,
    libc::SYS_write, libc::SYS_readv, libc::SYS_writev, libc::SYS_pread64, libc::SYS_pwrite64,
    libc::SYS_preadv, libc::SYS_pwritev, libc::SYS_preadv2, libc::SYS_pwritev2, libc::SYS_lseek,
    libc::SYS_fstat, libc::SYS_newfstatat, libc::SYS_statx, libc::SYS_statfs, libc::SYS_fstatfs,
    libc::SYS_faccessat, libc::SYS_faccessat2, libc::SYS_readlinkat, libc::SYS_getdents64,
    libc::SYS_getcwd, libc::SYS_chdir, libc::SYS_fchdir, libc::SYS_mkdirat, libc::SYS_unlinkat,
    libc::SYS_renameat, libc::SYS_renameat2, libc::SYS_linkat, libc::SYS_symlinkat,
    libc::SYS_mknodat, libc::SYS_truncate, libc::SYS_ftruncate, libc::SYS_fallocate,
    libc::SYS_fchmod, libc::SYS_fchmodat, libc::SYS_fchown, libc::SYS_fchownat,
    libc::SYS_utimensat, libc::SYS_umask, libc::SYS_fsync, libc::SYS_fdatasync,
    libc::SYS_sync_file_range, libc::SYS_fadvise64, libc::SYS_readahead, libc::SYS_flock,
    libc::SYS_fcntl, libc::SYS_dup, libc::SYS_dup3, libc::SYS_pipe2, libc::SYS_splice,
    libc::SYS_tee, libc::SYS_vmsplice, libc::SYS_sendfile, libc::SYS_copy_file_range,
    libc::SYS_getxattr, libc::SYS_lgetxattr, libc::SYS_fgetxattr, libc::SYS_listxattr,
    libc::SYS_llistxattr, libc::SYS_flistxattr, libc::SYS_memfd_create,
    // Waiting. No inotify: a watch on what two cells share would tell one of the other.
    libc::SYS_ppoll, libc::SYS_pselect6, libc::SYS_epoll_create1, libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait, libc::SYS_epoll_pwait2, libc::SYS_eventfd2, libc::SYS_signalfd4,
    libc::SYS_timerfd_create, libc::SYS_timerfd_settime, libc::SYS_timerfd_gettime,
    // Time.
    libc::SYS_clock_gettime, libc::SYS_clock_getres, libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep, libc::SYS_gettimeofday, libc::SYS_times, libc::SYS_getitimer,
    libc::SYS_setitimer, libc::SYS_timer_create, libc::SYS_timer_settime,
    libc::SYS_timer_gettime, libc::SYS_timer_getoverrun, libc::SYS_timer_delete,
    // Processes and threads of its own.
    libc::SYS_execve, libc::SYS_execveat, libc::SYS_exit, libc::SYS_exit_group, libc::SYS_wait4,
    libc::SYS_waitid, libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill, libc::SYS_getpid,
    libc::SYS_getppid, libc::SYS_gettid, libc::SYS_getpgid, libc::SYS_setpgid, libc::SYS_getsid,
    libc::SYS_setsid, libc::SYS_set_tid_address, libc::SYS_set_robust_list,
    libc::SYS_get_robust_list, libc::SYS_rseq, libc::SYS_futex, libc::SYS_futex_waitv,
    libc::SYS_sched_yield, libc::SYS_sched_getaffinity, libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler, libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min, libc::SYS_sched_getattr, libc::SYS_getpriority,
    libc::SYS_getrusage, libc::SYS_prctl, libc::SYS_getcpu,
    libc::SYS_pidfd_open, libc::SYS_pidfd_send_signal, libc::SYS_restart_syscall,
    libc::SYS_getrlimit, libc::SYS_setrlimit, libc::SYS_sysinfo,
    libc::SYS_uname, libc::SYS_getrandom,
    // Signals.
    libc::SYS_rt_sigaction, libc::SYS_rt_sigprocmask, libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigpending, libc::SYS_rt_sigtimedwait, libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo, libc::SYS_sigaltstack,
    // Who it is. The set calls can only repeat what is true already: there is one mapped id.
    libc::SYS_getuid, libc::SYS_geteuid, libc::SYS_getgid, libc::SYS_getegid, libc::SYS_getgroups,
    libc::SYS_getresuid, libc::SYS_getresgid, libc::SYS_setuid, libc::SYS_setgid,
    libc::SYS_setreuid, libc::SYS_setregid, libc::SYS_setresuid, libc::SYS_setresgid,
    libc::SYS_capget,
    // Sockets; families are checked in `conditional`, and there is no network behind them.
    libc::SYS_socketpair, libc::SYS_bind, libc::SYS_connect, libc::SYS_listen, libc::SYS_accept,
    libc::SYS_accept4, libc::SYS_getsockname, libc::SYS_getpeername, libc::SYS_getsockopt,
    libc::SYS_setsockopt, libc::SYS_sendto, libc::SYS_sendmsg, libc::SYS_sendmmsg,
    libc::SYS_recvfrom, libc::SYS_recvmsg, libc::SYS_recvmmsg, libc::SYS_shutdown,
    // System V IPC, in a namespace of its own.
    libc::SYS_shmget, libc::SYS_shmat, libc::SYS_shmdt, libc::SYS_shmctl, libc::SYS_semget,
    libc::SYS_semop, libc::SYS_semtimedop, libc::SYS_semctl, libc::SYS_msgget, libc::SYS_msgsnd,
    libc::SYS_msgrcv, libc::SYS_msgctl, libc::SYS_mq_open, libc::SYS_mq_unlink,
    libc::SYS_mq_timedsend, libc::SYS_mq_timedreceive, libc::SYS_mq_notify,
    libc::SYS_mq_getsetattr,
];

/// The older spellings that only x86_64 has.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const ALLOWED_HERE: &[libc::c_long] = &[
    libc::SYS_open, libc::SYS_creat, libc::SYS_stat, libc::SYS_lstat, libc::SYS_access,
    libc::SYS_readlink, libc::SYS_getdents, libc::SYS_mkdir, libc::SYS_rmdir, libc::SYS_unlink,
    libc::SYS_rename, libc::SYS_link, libc::SYS_symlink, libc::SYS_mknod, libc::SYS_chmod,
    libc::SYS_chown, libc::SYS_lchown, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat,
    libc::SYS_dup2, libc::SYS_pipe, libc::SYS_poll, libc::SYS_select, libc::SYS_epoll_create,
    libc::SYS_epoll_wait, libc::SYS_epoll_ctl_old, libc::SYS_eventfd, libc::SYS_signalfd,
    libc::SYS_fork, libc::SYS_vfork, libc::SYS_getpgrp, libc::SYS_alarm,
    libc::SYS_pause, libc::SYS_time, libc::SYS_arch_prctl, libc::SYS_getrlimit,
];
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_HERE: &[libc::c_long] = &[];

/// Calls that exist, that programs know to be refusable, and that would widen the cell.
#[rustfmt::skip]
const REFUSED: &[libc::c_long] = &[
    // A different view, different namespaces, a different root.
    libc::SYS_mount, libc::SYS_umount2, libc::SYS_pivot_root, libc::SYS_chroot, libc::SYS_unshare,
    libc::SYS_setns, libc::SYS_open_tree, libc::SYS_move_mount, libc::SYS_fsopen,
    libc::SYS_fsconfig, libc::SYS_fsmount, libc::SYS_fspick, libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at, libc::SYS_name_to_handle_at, libc::SYS_quotactl,
    libc::SYS_swapon, libc::SYS_swapoff,
    // Other processes' memory and state.
    libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd, libc::SYS_kcmp, libc::SYS_process_madvise, libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    // Kernel subsystems with a long history of holes and no place in a one-command cell.
    libc::SYS_bpf, libc::SYS_perf_event_open, libc::SYS_userfaultfd, libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter, libc::SYS_io_uring_register, libc::SYS_keyctl, libc::SYS_add_key,
    libc::SYS_request_key, libc::SYS_fanotify_init, libc::SYS_fanotify_mark,
    libc::SYS_memfd_secret, libc::SYS_seccomp, libc::SYS_landlock_create_ruleset,
    libc::SYS_landlock_add_rule, libc::SYS_landlock_restrict_self,
    // The machine.
    libc::SYS_init_module, libc::SYS_finit_module, libc::SYS_delete_module,
    libc::SYS_kexec_load, libc::SYS_reboot, libc::SYS_sethostname, libc::SYS_setdomainname,
    libc::SYS_settimeofday, libc::SYS_clock_settime, libc::SYS_clock_adjtime, libc::SYS_adjtimex,
    libc::SYS_acct, libc::SYS_syslog, libc::SYS_vhangup, libc::SYS_personality,
    // Rights and placement, which are as they are.
    libc::SYS_capset, libc::SYS_setgroups, libc::SYS_setfsuid, libc::SYS_setfsgid,
    libc::SYS_sched_setaffinity, libc::SYS_sched_setscheduler, libc::SYS_sched_setparam,
    libc::SYS_sched_setattr, libc::SYS_ioprio_set, libc::SYS_mlockall, libc::SYS_setxattr,
    libc::SYS_lsetxattr, libc::SYS_fsetxattr, libc::SYS_removexattr, libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
];

/// Memory that no process maps cannot be sampled, so it is not to be had where memory is sampled.
const UNMAPPED_MEMORY: &[libc::c_long] =
    &[libc::SYS_memfd_create, libc::SYS_shmget, libc::SYS_mq_open];

/// How memory is limited decides whether unmapped memory can be allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MemoryWatch {
    Kernel,
    Sampled,
}

/// Loads both programs and returns their digests, in the order they were loaded.
pub(super) fn load(watch: MemoryWatch) -> Result<Vec<[u8; 32]>, Failed> {
    let mut digests = Vec::new();
    for program in
        programs(watch).map_err(Failed::without(Layer::Seccomp, "compile the seccomp filters"))?
    {
        let raw: Vec<libc::sock_filter> = program
            .iter()
            .map(|i| libc::sock_filter { code: i.code, jt: i.jt, jf: i.jf, k: i.k })
            .collect();
        sys::load_seccomp(&raw)
            .map_err(Failed::without(Layer::Seccomp, "load a seccomp filter"))?;
        digests.push(digest(&raw));
    }
    Ok(digests)
}

fn digest(program: &[libc::sock_filter]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for instruction in program {
        hash.update(instruction.code.to_ne_bytes());
        hash.update([instruction.jt, instruction.jf]);
        hash.update(instruction.k.to_ne_bytes());
    }
    hash.finalize().into()
}

fn programs(watch: MemoryWatch) -> io::Result<[BpfProgram; 2]> {
    let compile = |rules, otherwise, then| {
        let filter = SeccompFilter::new(rules, otherwise, then, ARCH);
        filter.and_then(BpfProgram::try_from).map_err(io::Error::other)
    };
    let mut allowed = conditional(watch).map_err(io::Error::other)?;
    for call in ALLOWED.iter().chain(ALLOWED_HERE) {
        if watch == MemoryWatch::Kernel || !UNMAPPED_MEMORY.contains(call) {
            // What has conditions keeps them.
            allowed.entry(*call).or_default();
        }
    }
    let refused = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    Ok([
        compile(allowed, errno(UNKNOWN_WITH), SeccompAction::Allow)?,
        compile(refused, SeccompAction::Allow, errno(REFUSED_WITH))?,
    ])
}

fn errno(code: i32) -> SeccompAction {
    SeccompAction::Errno(code.unsigned_abs())
}

/// Calls whose arguments decide. `clone3` is not here: its flags lie in memory, which a filter cannot
/// read, so it is ENOSYS and libc falls back on `clone`.
fn conditional(
    watch: MemoryWatch,
) -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
    use SeccompCmpArgLen::{Dword, Qword};
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    let word = |value: libc::c_int| u64::from(value.unsigned_abs());
    let family =
        |family| SeccompRule::new(vec![SeccompCondition::new(0, Dword, Eq, word(family))?]);
    let plain_clone =
        SeccompRule::new(vec![SeccompCondition::new(0, Qword, MaskedEq(CLONE_NAMESPACES), 0)?])?;
    // Compared as 32 bits, as the kernel reads them: the upper half would otherwise be a way round.
    let terminal_input = SeccompRule::new(vec![
        SeccompCondition::new(1, Dword, Ne, TIOCSTI)?,
        SeccompCondition::new(1, Dword, Ne, TIOCLINUX)?,
    ])?;
    let itself = SeccompCondition::new(0, Dword, Eq, 0)?;
    // Both ask for nothing but an equal uid, and the cell's init has the tool's.
    let own_limits = SeccompRule::new(vec![itself.clone()])?;
    let own_priority = SeccompRule::new(vec![itself, SeccompCondition::new(1, Dword, Eq, 0)?])?;
    let mut rules = BTreeMap::from([
        (libc::SYS_prlimit64, vec![own_limits]),
        (libc::SYS_setpriority, vec![own_priority]),
        (libc::SYS_clone, vec![plain_clone]),
        (libc::SYS_ioctl, vec![terminal_input]),
        (
            libc::SYS_socket,
            vec![family(libc::AF_UNIX)?, family(libc::AF_INET)?, family(libc::AF_INET6)?],
        ),
    ]);
    if watch == MemoryWatch::Sampled {
        // Anonymous memory that is shared counts as nobody's own, so sampling would not see it.
        let flags = |mask, value| SeccompCondition::new(3, Dword, MaskedEq(mask), word(value));
        let of_a_file = flags(word(libc::MAP_ANONYMOUS), 0)?;
        let private = flags(word(libc::MAP_TYPE), libc::MAP_PRIVATE)?;
        let either = vec![SeccompRule::new(vec![of_a_file])?, SeccompRule::new(vec![private])?];
        rules.insert(libc::SYS_mmap, either);
    }
    Ok(rules)
}

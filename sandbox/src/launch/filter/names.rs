//! The names that the policies use, and their numbers on this architecture. Every call number comes
//! from libc, never from a literal: a call that libc does not name has no name here, and the filter
//! answers ENOSYS to it. This module does not decide what is allowed.

/// Names with their numbers, sorted by name.
type CallTable = &'static [(&'static str, libc::c_long)];

const fn without_prefix(name: &'static str) -> &'static str {
    name.split_at("SYS_".len()).1
}

macro_rules! calls {
    ($($call:ident)*) => { &[$((without_prefix(stringify!($call)), libc::$call)),*] };
}

/// The system calls of every 64-bit architecture.
#[rustfmt::skip]
const COMMON_CALLS: CallTable = calls! {
    SYS_accept SYS_accept4 SYS_acct SYS_add_key SYS_adjtimex SYS_bind SYS_bpf SYS_brk SYS_capget
    SYS_capset SYS_chdir SYS_chroot SYS_clock_adjtime SYS_clock_getres SYS_clock_gettime
    SYS_clock_nanosleep SYS_clock_settime SYS_clone SYS_clone3 SYS_close SYS_close_range SYS_connect
    SYS_copy_file_range SYS_delete_module SYS_dup SYS_dup3 SYS_epoll_create1 SYS_epoll_ctl
    SYS_epoll_pwait SYS_epoll_pwait2 SYS_eventfd2 SYS_execve SYS_execveat SYS_exit SYS_exit_group
    SYS_faccessat SYS_faccessat2 SYS_fadvise64 SYS_fallocate SYS_fanotify_init SYS_fanotify_mark
    SYS_fchdir SYS_fchmod SYS_fchmodat SYS_fchown SYS_fchownat SYS_fcntl SYS_fdatasync SYS_fgetxattr
    SYS_finit_module SYS_flistxattr SYS_flock SYS_fremovexattr SYS_fsconfig SYS_fsetxattr
    SYS_fsmount SYS_fsopen SYS_fspick SYS_fstat SYS_fstatfs SYS_fsync SYS_ftruncate SYS_futex
    SYS_futex_waitv SYS_get_mempolicy SYS_get_robust_list SYS_getcpu SYS_getcwd SYS_getdents64
    SYS_getegid SYS_geteuid SYS_getgid SYS_getgroups SYS_getitimer SYS_getpeername SYS_getpgid
    SYS_getpid SYS_getppid SYS_getpriority SYS_getrandom SYS_getresgid SYS_getresuid SYS_getrlimit
    SYS_getrusage SYS_getsid SYS_getsockname SYS_getsockopt SYS_gettid SYS_gettimeofday SYS_getuid
    SYS_getxattr SYS_init_module SYS_inotify_add_watch SYS_inotify_init1 SYS_inotify_rm_watch
    SYS_io_cancel SYS_io_destroy SYS_io_getevents SYS_io_setup SYS_io_submit SYS_io_uring_enter
    SYS_io_uring_register SYS_io_uring_setup SYS_ioctl SYS_ioprio_get SYS_ioprio_set SYS_kcmp
    SYS_kexec_file_load SYS_kexec_load SYS_keyctl SYS_kill SYS_landlock_add_rule
    SYS_landlock_create_ruleset SYS_landlock_restrict_self SYS_lgetxattr SYS_linkat SYS_listen
    SYS_listxattr SYS_llistxattr SYS_lremovexattr SYS_lseek SYS_lsetxattr SYS_madvise SYS_mbind
    SYS_membarrier SYS_memfd_create SYS_memfd_secret SYS_migrate_pages SYS_mincore SYS_mkdirat
    SYS_mknodat SYS_mlock SYS_mlock2 SYS_mlockall SYS_mmap SYS_mount SYS_mount_setattr
    SYS_move_mount SYS_move_pages SYS_mprotect SYS_mq_getsetattr SYS_mq_notify SYS_mq_open
    SYS_mq_timedreceive SYS_mq_timedsend SYS_mq_unlink SYS_mremap SYS_mseal SYS_msgctl SYS_msgget
    SYS_msgrcv SYS_msgsnd SYS_msync SYS_munlock SYS_munlockall SYS_munmap SYS_name_to_handle_at
    SYS_nanosleep SYS_newfstatat SYS_open_by_handle_at SYS_open_tree SYS_openat SYS_openat2
    SYS_perf_event_open SYS_personality SYS_pidfd_getfd SYS_pidfd_open SYS_pidfd_send_signal
    SYS_pipe2 SYS_pivot_root SYS_pkey_alloc SYS_pkey_free SYS_pkey_mprotect SYS_ppoll SYS_prctl
    SYS_pread64 SYS_preadv SYS_preadv2 SYS_prlimit64 SYS_process_madvise SYS_process_mrelease
    SYS_process_vm_readv SYS_process_vm_writev SYS_pselect6 SYS_ptrace SYS_pwrite64 SYS_pwritev
    SYS_pwritev2 SYS_quotactl SYS_quotactl_fd SYS_read SYS_readahead SYS_readlinkat SYS_readv
    SYS_reboot SYS_recvfrom SYS_recvmmsg SYS_recvmsg SYS_remap_file_pages SYS_removexattr
    SYS_renameat SYS_renameat2 SYS_request_key SYS_restart_syscall SYS_rseq SYS_rt_sigaction
    SYS_rt_sigpending SYS_rt_sigprocmask SYS_rt_sigqueueinfo SYS_rt_sigreturn SYS_rt_sigsuspend
    SYS_rt_sigtimedwait SYS_rt_tgsigqueueinfo SYS_sched_get_priority_max SYS_sched_get_priority_min
    SYS_sched_getaffinity SYS_sched_getattr SYS_sched_getparam SYS_sched_getscheduler
    SYS_sched_rr_get_interval SYS_sched_setaffinity SYS_sched_setattr SYS_sched_setparam
    SYS_sched_setscheduler SYS_sched_yield SYS_seccomp SYS_semctl SYS_semget SYS_semop
    SYS_semtimedop SYS_sendfile SYS_sendmmsg SYS_sendmsg SYS_sendto SYS_set_mempolicy
    SYS_set_mempolicy_home_node SYS_set_robust_list SYS_set_tid_address SYS_setdomainname
    SYS_setfsgid SYS_setfsuid SYS_setgid SYS_setgroups SYS_sethostname SYS_setitimer SYS_setns
    SYS_setpgid SYS_setpriority SYS_setregid SYS_setresgid SYS_setresuid SYS_setreuid SYS_setrlimit
    SYS_setsid SYS_setsockopt SYS_settimeofday SYS_setuid SYS_setxattr SYS_shmat SYS_shmctl
    SYS_shmdt SYS_shmget SYS_shutdown SYS_sigaltstack SYS_signalfd4 SYS_socket SYS_socketpair
    SYS_splice SYS_statfs SYS_statx SYS_swapoff SYS_swapon SYS_symlinkat SYS_sync
    SYS_sync_file_range SYS_syncfs SYS_sysinfo SYS_syslog SYS_tee SYS_tgkill SYS_timer_create
    SYS_timer_delete SYS_timer_getoverrun SYS_timer_gettime SYS_timer_settime SYS_timerfd_create
    SYS_timerfd_gettime SYS_timerfd_settime SYS_times SYS_tkill SYS_truncate SYS_umask SYS_umount2
    SYS_uname SYS_unlinkat SYS_unshare SYS_userfaultfd SYS_utimensat SYS_vhangup SYS_vmsplice
    SYS_wait4 SYS_waitid SYS_write SYS_writev
};

/// The system calls that only x86_64 has.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const HERE: CallTable = calls! {
    SYS_access SYS_alarm SYS_arch_prctl SYS_chmod SYS_chown SYS_creat SYS_dup2 SYS_epoll_create
    SYS_epoll_wait SYS_eventfd SYS_fchmodat2 SYS_fork SYS_futimesat SYS_getdents SYS_getpgrp
    SYS_inotify_init SYS_ioperm SYS_iopl SYS_lchown SYS_link SYS_lstat SYS_mkdir SYS_mknod
    SYS_modify_ldt SYS_open SYS_pause SYS_pipe SYS_poll SYS_readlink SYS_rename SYS_rmdir SYS_select
    SYS_signalfd SYS_stat SYS_symlink SYS_time SYS_unlink SYS_utime SYS_utimes SYS_vfork
};
#[cfg(not(target_arch = "x86_64"))]
const HERE: CallTable = &[];

/// Returns the number of a system call that every architecture has.
pub(super) fn common_number(name: &str) -> Option<u32> {
    find(COMMON_CALLS, name)
}

/// Returns the number of a system call, or `None` if this architecture does not have it.
pub(super) fn number(name: &str) -> Option<u32> {
    common_number(name).or_else(|| find(HERE, name))
}

fn find(calls: CallTable, name: &str) -> Option<u32> {
    let at = calls.binary_search_by_key(&name, |(name, _)| name).ok()?;
    u32::try_from(calls[at].1).ok()
}

pub(super) fn name(number: u32) -> Option<&'static str> {
    let mut calls = COMMON_CALLS.iter().chain(HERE);
    calls.find(|(_, known)| *known == libc::c_long::from(number)).map(|(name, _)| *name)
}

/// Returns the index of the call's argument with this name, from 0. The kernel reads only the low
/// 32 bits of each argument here: an `int` or `unsigned int`, or flags without higher bits.
pub(super) fn argument(call: &str, name: &str) -> Option<u32> {
    match (call, name) {
        ("clone", "flags") | ("socket" | "socketpair", "domain") => Some(0),
        ("prlimit64", "pid") | ("setpriority", "which") | ("prctl", "option") => Some(0),
        ("ioctl" | "fcntl", "cmd") | ("setpriority", "who") | ("epoll_ctl", "op") => Some(1),
        ("socket", "type") | ("setsockopt", "level") => Some(1),
        ("socket" | "socketpair", "protocol") | ("setsockopt", "optname") => Some(2),
        ("close_range", "flags") | ("madvise", "advice") => Some(2),
        ("mmap", "flags") => Some(3),
        _ => None,
    }
}

pub(super) fn value(word: &str) -> Option<u32> {
    let value = match word {
        "AF_UNIX" => libc::AF_UNIX,
        "AF_INET" => libc::AF_INET,
        "AF_INET6" => libc::AF_INET6,
        "SOCK_STREAM" => libc::SOCK_STREAM,
        // The kernel's own mask (net.h): the bits above it are flags.
        "SOCK_TYPE_MASK" => 0xf,
        "IPPROTO_TCP" => libc::IPPROTO_TCP,
        "MAP_ANONYMOUS" => libc::MAP_ANONYMOUS,
        "MAP_TYPE" => libc::MAP_TYPE,
        "MAP_PRIVATE" => libc::MAP_PRIVATE,
        "PRIO_PROCESS" => 0,
        // prctl(2).
        "PR_SET_SECCOMP" => libc::PR_SET_SECCOMP,
        "PR_SET_SYSCALL_USER_DISPATCH" => 59,
        "PR_SET_MEMORY_MERGE" => 67,
        "MADV_MERGEABLE" => libc::MADV_MERGEABLE,
        "SOL_SOCKET" => libc::SOL_SOCKET,
        "SO_SNDBUF" => libc::SO_SNDBUF,
        "SO_RCVBUF" => libc::SO_RCVBUF,
        "SO_SNDBUFFORCE" => libc::SO_SNDBUFFORCE,
        "SO_RCVBUFFORCE" => libc::SO_RCVBUFFORCE,
        "SO_ATTACH_FILTER" => libc::SO_ATTACH_FILTER,
        "SO_ATTACH_BPF" => libc::SO_ATTACH_BPF,
        "SO_ATTACH_REUSEPORT_CBPF" => libc::SO_ATTACH_REUSEPORT_CBPF,
        "SO_ATTACH_REUSEPORT_EBPF" => libc::SO_ATTACH_REUSEPORT_EBPF,
        "EPOLL_CTL_DEL" => libc::EPOLL_CTL_DEL,
        "EPOLL_CTL_MOD" => libc::EPOLL_CTL_MOD,
        // linux/close_range.h.
        "CLOSE_RANGE_UNSHARE" => 2,
        // fcntl(2), the same on both architectures.
        "F_SETLEASE" => 1024,
        "F_NOTIFY" => 1026,
        "F_SETPIPE_SZ" => 1031,
        _ => return ioctl(word).or_else(|| number_of(word)),
    };
    Some(value.unsigned_abs())
}

/// ioctl_tty(2), netdevice(7), ioctl_ficlone(2): the same on both architectures.
fn ioctl(word: &str) -> Option<u32> {
    let value = match word {
        "TCGETS" => 0x5401,
        "TCSETS" => 0x5402,
        "TCSETSW" => 0x5403,
        "TCSETSF" => 0x5404,
        "TIOCGPGRP" => 0x540F,
        "TIOCSPGRP" => 0x5410,
        "TIOCOUTQ" => 0x5411,
        "TIOCSTI" => 0x5412,
        "TIOCGWINSZ" => 0x5413,
        "FIONREAD" => 0x541B,
        "TIOCLINUX" => 0x541C,
        "FIONBIO" => 0x5421,
        "FIONCLEX" => 0x5450,
        "FIOCLEX" => 0x5451,
        "FIOASYNC" => 0x5452,
        "TCGETS2" => 0x802C_542A,
        "SIOCATMARK" => 0x8905,
        "SIOCGIFNAME" => 0x8910,
        "SIOCGIFFLAGS" => 0x8913,
        "FICLONE" => 0x4004_9409,
        "FICLONERANGE" => 0x4020_940D,
        _ => return None,
    };
    Some(value)
}

fn number_of(word: &str) -> Option<u32> {
    match word.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

/// Returns an errno that a policy may use as an answer.
pub(super) fn errno(word: &str) -> Option<i32> {
    match word {
        "EPERM" => Some(libc::EPERM),
        "EINVAL" => Some(libc::EINVAL),
        "ENOSPC" => Some(libc::ENOSPC),
        "ENOSYS" => Some(libc::ENOSYS),
        "EAFNOSUPPORT" => Some(libc::EAFNOSUPPORT),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_and_every_number_has_one_name() {
        for (name_, number_) in COMMON_CALLS.iter().chain(HERE) {
            let known = number(name_);
            assert_eq!(known.map(libc::c_long::from), Some(*number_), "{name_} is out of order");
            assert_eq!(known.and_then(name), Some(*name_));
        }
        assert_eq!(number("read"), u32::try_from(libc::SYS_read).ok());
        assert_eq!((number("no_such_call"), name(9999)), (None, None));
    }
}

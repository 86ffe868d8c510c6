//! The answers to the most important single calls, in the program of a Python sandbox.

use super::programs::{answer, loaded};
use super::*;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const NOTIFY: u32 = libc::SECCOMP_RET_USER_NOTIF;

fn last(access: FilterAccess, memory: MemoryWatch) -> Vec<libc::sock_filter> {
    loaded(&policy().last(Profile::Of(Language::Python), memory, access, DenialMode::ByListener))
}

/// Returns the answer to a call with four arguments.
fn of(
    program: &[libc::sock_filter],
    call: &str,
    first: u64,
    second: u64,
    third: u64,
    fourth: u64,
) -> u32 {
    answer(program, number(call), [first, second, third, fourth, 0, 0])
}

#[test]
fn important_calls_have_the_right_answer() {
    let plain = last(FilterAccess::Nothing, MemoryWatch::Kernel);
    let one = |call, first| of(&plain, call, first, 0, 0, 0);
    let (allow, notify) = (ALLOW, NOTIFY);
    let absent = libc::SECCOMP_RET_ERRNO | 38;
    for call in ["read", "openat", "execve", "futex", "mmap", "exit_group", "kill"] {
        assert_eq!(one(call, 0), allow, "{call}");
    }
    for call in ["mount", "unshare", "setns", "ptrace", "bpf", "seccomp", "io_uring_setup"] {
        assert_eq!(one(call, 0), notify, "{call}");
    }
    assert_eq!(one("clone3", 0), absent);
    assert_eq!(one("pkey_alloc", 0), absent);
    // CLONE_VM and others with SIGCHLD; then NEWUSER, NEWTIME, NEWNS.
    assert_eq!(one("clone", 0x3d0f00 | 17), allow);
    for flag in [0x1000_0000, 0x80, 0x2_0000, 0x4000_0000] {
        assert_eq!(one("clone", 17 | flag), notify, "{flag:#x}");
    }
    // TIOCSTI and TIOCLINUX with any upper half; TCGETS.
    for upper in [0, 1 << 32, 0xffff_ffff_0000_0000] {
        assert_eq!(of(&plain, "ioctl", 0, 0x5412 | upper, 0, 0), notify);
        assert_eq!(of(&plain, "ioctl", 0, 0x541c | upper, 0, 0), notify);
        assert_eq!(of(&plain, "ioctl", 0, 0x5401 | upper, 0, 0), allow);
    }
    // FS_IOC_FIEMAP, FS_IOC_GETFSUUID, FS_IOC_GETFSSYSFSPATH, FS_IOC_GETFLAGS, TIOCSWINSZ;
    // FIONREAD, FIONBIO.
    for cmd in [0xc020_660b, 0x8011_1500, 0x8081_1501, 0x8008_6601, 0x5414] {
        assert_eq!(of(&plain, "ioctl", 0, cmd, 0, 0), notify, "{cmd:#x}");
    }
    assert_eq!([0x541b, 0x5421].map(|cmd| of(&plain, "ioctl", 0, cmd, 0, 0)), [allow, allow]);
    // PR_SET_SECCOMP, strict or a filter, with an upper half; PR_SET_NAME.
    for option in [22, 22 | 1 << 32] {
        assert_eq!(of(&plain, "prctl", option, 2, 0, 0), notify);
    }
    assert_eq!(one("prctl", 15), allow);
    // A tool may set its own limits and priority, but not another process's.
    assert_eq!((one("prlimit64", 0), one("prlimit64", 2)), (allow, notify));
    assert_eq!(of(&plain, "setpriority", 0, 0, 5, 0), allow);
    assert_eq!(of(&plain, "setpriority", 0, 2, 5, 0), notify);
    assert_eq!(of(&plain, "setpriority", 1, 0, 5, 0), notify);
    // The options for KSM and for system call user dispatch.
    for option in [59, 67] {
        assert_eq!(one("prctl", option), notify, "{option}");
    }
    assert_eq!([12, 4].map(|advice| of(&plain, "madvise", 0, 0, advice, 0)), [notify, allow]);
}

#[test]
fn only_a_sandbox_with_kvm_may_make_its_requests() {
    let kvm = last(FilterAccess::Kvm, MemoryWatch::Kernel);
    let others = [
        last(FilterAccess::Nothing, MemoryWatch::Kernel),
        last(FilterAccess::Nothing, MemoryWatch::Sampled),
        last(FilterAccess::Hosts, MemoryWatch::Kernel),
    ];
    // KVM_GET_API_VERSION, KVM_CREATE_VM, KVM_RUN, KVM_SET_USER_MEMORY_REGION, and an upper half.
    for cmd in [0xae00, 0xae01, 0xae80, 0x4020_ae46, 0xae01 | 1 << 32] {
        assert_eq!(of(&kvm, "ioctl", 0, cmd, 0, 0), ALLOW, "{cmd:#x}");
        for other in &others {
            assert_eq!(of(other, "ioctl", 0, cmd, 0, 0), NOTIFY, "{cmd:#x}");
        }
    }
    // TIOCSTI, VFIO_GET_API_VERSION, VHOST_SET_OWNER, FS_IOC_FIEMAP; then TCGETS.
    for cmd in [0x5412, 0x3b64, 0xaf01, 0xc020_660b] {
        assert_eq!(of(&kvm, "ioctl", 0, cmd, 0, 0), NOTIFY, "{cmd:#x}");
    }
    assert_eq!(of(&kvm, "ioctl", 0, 0x5401, 0, 0), ALLOW);
}

#[test]
fn a_filter_for_kvm_changes_the_rule_of_one_call() {
    let policy = policy();
    let rules = |access| policy.rules(Profile::Of(Language::Python), MemoryWatch::Kernel, access);
    let (plain, kvm) = (rules(FilterAccess::Nothing), rules(FilterAccess::Kvm));
    assert!(plain.keys().eq(kvm.keys()));
    let changed = plain.iter().filter(|(call, rule)| kvm.get(call) != Some(rule));
    assert_eq!(changed.map(|(call, _)| *call).collect::<Vec<_>>(), [number("ioctl")]);
}

/// A request that base no longer permits must not remain permitted with KVM.
#[test]
fn the_rule_of_kvm_is_that_of_base_with_its_requests() {
    let rule = |text: &str| {
        text.lines().find(|line| line.starts_with("ioctl: ")).map(str::to_owned).unwrap()
    };
    let base = rule(crate::seccomp::BASE.text);
    let with_requests = base.replace(" else ", " or cmd & 0xff00 == 0xae00 else ");
    assert_eq!(rule(crate::seccomp::KVM.text), with_requests);
}

#[test]
fn few_socket_families_are_allowed() {
    let plain = last(FilterAccess::Nothing, MemoryWatch::Kernel);
    let hosts = last(FilterAccess::Hosts, MemoryWatch::Kernel);
    let one = |call, first| of(&plain, call, first, 0, 0, 0);
    let (allow, notify) = (ALLOW, NOTIFY);
    // AF_UNIX, AF_INET, AF_INET6; then AF_NETLINK, AF_PACKET, AF_ALG, AF_VSOCK.
    for family in [1, 2, 10] {
        assert_eq!(one("socket", family), allow, "{family}");
    }
    for family in [0, 16, 17, 38, 40] {
        assert_eq!(one("socket", family), notify, "{family}");
        assert_eq!(one("socketpair", family), notify, "{family}");
    }
    // With SOCK_CLOEXEC and SOCK_NONBLOCK, as TCP by name and MPTCP, with upper halves; then
    // datagram, raw and no type, and NETLINK_ROUTE.
    for family in [2, 10] {
        for (kind, protocol) in [(1, 0), (1 | 0x8_0800, 6), (1 | 1 << 32, 1 << 32)] {
            assert_eq!(of(&hosts, "socket", family, kind, protocol, 0), allow, "{kind:#x}");
        }
        for (kind, protocol) in [(1, 262), (2, 0), (2 | 0x8_0800, 17), (3, 1), (0, 0), (17, 132)] {
            assert_eq!(of(&hosts, "socket", family, kind, protocol, 0), notify, "{kind:#x}");
        }
        assert_eq!(of(&plain, "socket", family, 2, 17, 0), allow);
    }
    assert_eq!(of(&hosts, "socket", 1, 2, 0, 0), allow);
    assert_eq!(of(&hosts, "socket", 16, 3, 0, 0), notify);
    assert_eq!(of(&hosts, "socket", 40, 1, 0, 0), notify);
}

#[test]
fn few_socket_options_are_allowed() {
    let plain = last(FilterAccess::Nothing, MemoryWatch::Kernel);
    let sampled = last(FilterAccess::Nothing, MemoryWatch::Sampled);
    let (allow, notify) = (ALLOW, NOTIFY);
    // SO_SNDBUF and SO_RCVBUF of SOL_SOCKET, one with an upper half, and not of TCP.
    for option in [7, 8, 32, 33 | 1 << 32] {
        assert_eq!(of(&sampled, "setsockopt", 3, 1, option, 0), notify, "{option}");
        assert_eq!(of(&plain, "setsockopt", 3, 1, option, 0), allow, "{option}");
        assert_eq!(of(&sampled, "setsockopt", 3, 6, option, 0), allow, "{option}");
    }
    // Socket filters, denied in every sandbox; SO_KEEPALIVE.
    for option in [26, 50, 51, 52] {
        assert_eq!(of(&plain, "setsockopt", 3, 1, option, 0), notify, "{option}");
        assert_eq!(of(&sampled, "setsockopt", 3, 1, option, 0), notify, "{option}");
    }
    assert_eq!(of(&sampled, "setsockopt", 3, 1, 9, 0), allow);
}

#[test]
fn memory_that_cannot_be_sampled_is_denied() {
    let plain = last(FilterAccess::Nothing, MemoryWatch::Kernel);
    let sampled = last(FilterAccess::Nothing, MemoryWatch::Sampled);
    let (allow, notify) = (ALLOW, NOTIFY);
    // Shared anonymous memory (0x21) cannot be sampled; private memory or a file can.
    for (flags, when_sampled) in [(0x21, notify), (0x23, notify), (0x22, allow), (0x01, allow)] {
        assert_eq!(of(&sampled, "mmap", 0, 0, 3, flags), when_sampled, "{flags:#x}");
        assert_eq!(of(&plain, "mmap", 0, 0, 3, flags), allow, "{flags:#x}");
    }
    assert_eq!(of(&sampled, "memfd_create", 0, 0, 0, 0), notify);
    for call in ["splice", "tee", "vmsplice", "sendfile"] {
        assert_eq!((of(&plain, call, 0, 0, 0, 0), of(&sampled, call, 0, 0, 0, 0)), (allow, notify));
    }
    assert_eq!(of(&sampled, "fcntl", 3, 1031, 1 << 20, 0), notify);
    // A thread by pthread_create, a fork; then a thread with its own descriptor table, namespaces.
    assert_eq!(of(&sampled, "clone", 0x3d_0f00, 0, 0, 0), allow);
    assert_eq!(of(&sampled, "clone", 17, 0, 0, 0), allow);
    for flags in [0x3d_0b00, 17 | 0x80, 0x3d_0f00 | 0x1000_0000] {
        assert_eq!(of(&sampled, "clone", flags, 0, 0, 0), notify, "{flags:#x}");
    }
    assert_eq!(of(&sampled, "close_range", 3, 4, 0, 0), allow);
    assert_eq!(of(&sampled, "close_range", 3, 4, 2, 0), notify);
    // EPOLL_CTL_ADD is rationed, DEL and MOD are not.
    assert_eq!([1, 2, 3].map(|op| of(&sampled, "epoll_ctl", 3, op, 4, 0)), [notify, allow, allow]);
    assert_eq!(of(&plain, "epoll_ctl", 3, 1, 4, 0), allow);
}

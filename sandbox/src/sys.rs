//! The system calls that no safe crate offers: the only file of the workspace with `unsafe`.
//!
//! Each function makes one call, which its errors name, and decides nothing. A program with more
//! than one thread must not use a function here unless its documentation allows it.

#![allow(unsafe_code, reason = "the one file that may")]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicI32, Ordering};

pub(crate) enum Fork<P> {
    Child,
    Parent(P),
}

/// A child made by [`clone_process`]: its pid in our namespace and a pidfd.
pub(crate) struct ClonedChild {
    pub(crate) pid: libc::pid_t,
    pub(crate) pidfd: OwnedFd,
}

fn check(call: &'static str, result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 {
        let error = io::Error::last_os_error();
        return Err(io::Error::new(error.kind(), CallFailed { call, error }));
    }
    Ok(result)
}

/// A failed call with its name. [`errno_of`] reads the errno from it.
#[derive(Debug)]
struct CallFailed {
    call: &'static str,
    error: io::Error,
}

impl std::fmt::Display for CallFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.call, self.error)
    }
}

impl std::error::Error for CallFailed {}

/// Returns the errno behind an error of this module or the standard library; 0 if it has none.
pub(crate) fn errno_of(error: &io::Error) -> i32 {
    if let Some(code) = error.raw_os_error() {
        return code;
    }
    let inner = error.get_ref().and_then(|e| e.downcast_ref::<CallFailed>());
    inner.and_then(|failed| failed.error.raw_os_error()).unwrap_or(0)
}

fn owned(raw: libc::c_long, call: &'static str) -> io::Result<OwnedFd> {
    let raw = RawFd::try_from(raw).map_err(|_| io::Error::other(call))?;
    // SAFETY: the kernel has just returned this descriptor to us; nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// Forks by clone(2): the child runs on with a copy of this process's memory, in the new namespaces
/// that `namespaces` (`CLONE_NEW*`) names. The program must be single-threaded.
pub(crate) fn clone_process(namespaces: libc::c_int) -> io::Result<Fork<ClonedChild>> {
    let mut pidfd: libc::c_int = -1;
    let flags = libc::c_long::from(namespaces | libc::CLONE_PIDFD | libc::SIGCHLD);
    // SAFETY: without CLONE_VM the child has its own copy of everything; with a null stack it keeps
    // the copied one. This program has one thread, so the copy contains no lock held by another
    // thread. CLONE_PIDFD makes the third argument the location of the descriptor, which outlives
    // the call.
    let pid = unsafe {
        libc::syscall(
            libc::SYS_clone,
            flags,
            std::ptr::null_mut::<libc::c_void>(),
            &raw mut pidfd,
            std::ptr::null_mut::<libc::c_void>(),
            std::ptr::null_mut::<libc::c_void>(),
        )
    };
    fork_side("clone", pid, pidfd)
}

fn fork_side(
    call: &'static str,
    pid: libc::c_long,
    pidfd: libc::c_int,
) -> io::Result<Fork<ClonedChild>> {
    match check(call, pid)? {
        0 => Ok(Fork::Child),
        pid => {
            let pid = libc::pid_t::try_from(pid).map_err(|_| io::Error::other(call))?;
            Ok(Fork::Parent(ClonedChild { pid, pidfd: owned(pidfd.into(), call)? }))
        }
    }
}

/// Forks by clone3(2) into a cgroup v2 group (`CLONE_INTO_CGROUP`, Linux 5.7), whose open directory
/// is `group`. The program must be single-threaded.
pub(crate) fn clone_process_into(
    namespaces: libc::c_int,
    group: BorrowedFd<'_>,
) -> io::Result<Fork<ClonedChild>> {
    let wide = |number: libc::c_int| u64::from(number.unsigned_abs());
    let mut pidfd: libc::c_int = -1;
    // SAFETY: a clone_args is plain integers; zero is valid for each and means "not requested".
    let mut args = unsafe { std::mem::zeroed::<libc::clone_args>() };
    args.flags = wide(namespaces) | wide(libc::CLONE_PIDFD) | INTO_CGROUP;
    args.pidfd = (&raw mut pidfd).expose_provenance() as u64;
    args.exit_signal = wide(libc::SIGCHLD);
    args.cgroup = wide(group.as_raw_fd());
    // SAFETY: as in `clone_process`, the child has its own copy of everything and runs on with the
    // copied stack, and this program has one thread. The kernel reads exactly the given size from
    // `args` and writes the descriptor to `pidfd`; both outlive the call.
    let pid =
        unsafe { libc::syscall(libc::SYS_clone3, &raw const args, size_of::<libc::clone_args>()) };
    fork_side("clone3", pid, pidfd)
}

/// `CLONE_INTO_CGROUP`, which does not fit libc's integer type on every architecture.
const INTO_CGROUP: u64 = 0x2_0000_0000;

/// fork(2). The program must be single-threaded.
pub(crate) fn fork() -> io::Result<Fork<libc::pid_t>> {
    // SAFETY: single-threaded by this module's contract, so the child may run on in Rust code.
    let pid = unsafe { libc::fork() };
    match check("fork", pid.into())? {
        0 => Ok(Fork::Child),
        _ => Ok(Fork::Parent(pid)),
    }
}

/// The inputs of [`vfork_exec`]'s child, all in the parent's memory.
struct ChildArgs<'a> {
    prepare: &'a dyn Fn() -> io::Result<()>,
    path: &'a CStr,
    argv: *const *const libc::c_char,
    env: *const *const libc::c_char,
    /// The errno of the step that failed; 0 if none failed.
    failed: AtomicI32,
}

/// Stack size for the few calls between clone and exec.
const CHILD_STACK_BYTES: usize = 64 * 1024;

/// Executes a program in a new process as vfork(2) does: no memory is copied, and this process is
/// suspended until the program runs. `prepare` runs in the new process first: it must not end the
/// process, and its changes to memory stay. The program must be single-threaded.
///
/// # Errors
/// An error of `clone`, of `prepare` or of execve(2); no new process exists then.
pub(crate) fn vfork_exec(
    prepare: &dyn Fn() -> io::Result<()>,
    path: &CStr,
    argv: &[CString],
    env: &[CString],
) -> io::Result<libc::pid_t> {
    let pointers = |words: &[CString]| {
        let words = words.iter().map(|word| word.as_ptr());
        words.chain(std::iter::once(std::ptr::null())).collect::<Vec<_>>()
    };
    let (argv, env) = (pointers(argv), pointers(env));
    let child_args = ChildArgs {
        prepare,
        path,
        argv: argv.as_ptr(),
        env: env.as_ptr(),
        failed: AtomicI32::new(0),
    };
    // Of u128, because the ABIs require a stack top aligned to 16 bytes.
    let mut stack = Vec::<u128>::with_capacity(CHILD_STACK_BYTES / size_of::<u128>());
    // SAFETY: the child runs `become_program` on a stack of its own whose top is one past the end of
    // `stack`, and reads of it only what it has written. It shares our memory, and CLONE_VFORK
    // suspends us until the child has executed or ended; so `stack`, `child_args` and all that it
    // points to outlive the child's use of them. Nothing else runs in this memory meanwhile: this
    // program has one thread.
    let pid = unsafe {
        let top = stack.as_mut_ptr().add(stack.capacity());
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        libc::clone(become_program, top.cast(), flags, (&raw const child_args).cast_mut().cast())
    };
    let pid = check("clone", pid.into())?;
    let pid = libc::pid_t::try_from(pid).map_err(|_| io::Error::other("clone: invalid pid"))?;
    match child_args.failed.load(Ordering::SeqCst) {
        0 => Ok(pid),
        errno => {
            // SAFETY: waits for our own child, which has ended or will soon; the status is unused.
            unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::__WALL) };
            Err(io::Error::from_raw_os_error(errno))
        }
    }
}

extern "C" fn become_program(child_args: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `vfork_exec` passes a pointer to its own `ChildArgs`, which lives until we are done.
    let child_args = unsafe { &*child_args.cast::<ChildArgs<'_>>() };
    let error = match (child_args.prepare)() {
        Err(error) => error,
        Ok(()) => {
            // SAFETY: the path is a C string, and both arrays hold C strings and end with null.
            unsafe { libc::execve(child_args.path.as_ptr(), child_args.argv, child_args.env) };
            io::Error::last_os_error()
        }
    };
    // 0 means success, so a failure without an errno is reported as EPROTO.
    let errno = match errno_of(&error) {
        0 => libc::EPROTO,
        errno => errno,
    };
    child_args.failed.store(errno, Ordering::SeqCst);
    // SAFETY: ends this process at once and runs none of the parent's exit handlers and flushes
    // none of its buffers. Returning would do the same through libc's `exit`.
    unsafe { libc::_exit(127) }
}

/// Adds `attributes` (`MOUNT_ATTR_*`) to the whole tree below an open mount, by mount_setattr(2).
pub(crate) fn mount_setattr_tree(tree: BorrowedFd<'_>, attributes: u64) -> io::Result<()> {
    let attr = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: the path is an empty C string, as AT_EMPTY_PATH requires, and the kernel reads
    // exactly the given size from `attr`, which lives until the call returns.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const attr,
            size_of::<libc::mount_attr>(),
        )
    };
    check("mount_setattr", result).map(drop)
}

/// Brings up loopback in the network namespace of this socket (netdevice(7), `SIOCSIFFLAGS`).
pub(crate) fn bring_loopback_up(socket: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: an ifreq is a name and a union of plain data; zero is valid for all of it.
    let mut request = unsafe { std::mem::zeroed::<libc::ifreq>() };
    for (place, byte) in request.ifr_name.iter_mut().zip(c"lo".to_bytes()) {
        *place = libc::c_char::from_ne_bytes([*byte]);
    }
    request.ifr_ifru.ifru_flags = UP;
    // SAFETY: the kernel reads one `ifreq` from `request`, which lives until the call returns.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), SET_FLAGS, &raw const request) };
    check("ioctl SIOCSIFFLAGS", result.into()).map(drop)
}

/// `SIOCSIFFLAGS`. The type of libc's own constant differs from that of musl's `ioctl`.
const SET_FLAGS: libc::Ioctl = 0x8914;

/// `IFF_UP` and `IFF_RUNNING`, in the integer type of `ifreq`.
const UP: libc::c_short = 0x1 | 0x40;

/// Marks every descriptor from `first` on as close-on-exec (close_range(2), Linux 5.11).
pub(crate) fn close_on_exec_from(first: u32) -> io::Result<()> {
    // SAFETY: no memory is involved, and with CLOSE_RANGE_CLOEXEC no descriptor is closed here.
    let result =
        unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    check("close_range", result).map(drop)
}

/// Closes every descriptor from 3 on except these (close_range(2), Linux 5.9). Owners of the closed
/// descriptors must never use them again: call this only in a fresh fork that ends in exec or exit.
pub(crate) fn close_all_but(kept: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut kept: Vec<u32> = kept.iter().map(|fd| fd.as_raw_fd().unsigned_abs()).collect();
    kept.sort_unstable();
    let mut first = 3;
    for last in kept.into_iter().chain([u32::MAX]) {
        if first < last {
            let end = if last == u32::MAX { last } else { last - 1 };
            // SAFETY: no memory is involved; the caller's contract covers the descriptors.
            let result = unsafe { libc::syscall(libc::SYS_close_range, first, end, 0) };
            check("close_range", result)?;
        }
        first = last.saturating_add(1).max(first);
    }
    Ok(())
}

pub(crate) fn default_sigchld() {
    // SAFETY: SIG_DFL installs no handler, and the signal number is valid.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Returns the signals that this process ignores. Rust's runtime ignores SIGPIPE, and a parent may
/// have ignored others.
pub(crate) fn ignored_signals() -> Vec<libc::c_int> {
    let is_ignored = |signal: &libc::c_int| {
        // SAFETY: all zeroes are a `sigaction`. A null new action changes nothing, and the kernel
        // writes the present one to `present`, or nothing for a number that it does not know.
        unsafe {
            let mut present = std::mem::zeroed::<libc::sigaction>();
            libc::sigaction(*signal, std::ptr::null(), &raw mut present) == 0
                && present.sa_sigaction == libc::SIG_IGN
        }
    };
    (1..=64).filter(is_ignored).collect()
}

/// Sets these ignored signals to their default and unblocks all signals, because exec preserves
/// both, which would change the behavior of tools. exec itself resets signals with a handler.
pub(crate) fn reset_signals(ignored: &[libc::c_int]) {
    for signal in ignored {
        // SAFETY: SIG_DFL installs no handler.
        unsafe { libc::signal(*signal, libc::SIG_DFL) };
    }
    // SAFETY: `none` is filled by sigemptyset before it is read.
    unsafe {
        let mut none = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

model::closed_set! {
    /// A call that must be refused in a finished sandbox. The arguments are fixed here and name no
    /// memory and no other process, so that an attempt does no harm even if it is not refused.
    pub(crate) enum Attempt {
        Netlink = "make a netlink socket",
        Vsock = "make a vsock socket",
        Ptrace = "call ptrace",
        Mount = "call mount",
        Keyctl = "call keyctl",
        IoUring = "call io_uring_setup",
        UserNamespace = "unshare the user namespace",
    }
}

/// Makes this call, with `sixth` in the argument that none of them uses. It could only change this
/// process, which is about to end or to exec.
pub(crate) fn attempt(attempt: Attempt, sixth: u64) -> io::Result<()> {
    let raw = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    let (number, [first, second, third]) = match attempt {
        Attempt::Netlink => {
            (libc::SYS_socket, [libc::AF_NETLINK, raw, libc::NETLINK_SOCK_DIAG].map(i64::from))
        }
        Attempt::Vsock => (libc::SYS_socket, [libc::AF_VSOCK, raw, 0].map(i64::from)),
        // An invalid request for an invalid pid.
        Attempt::Ptrace => (libc::SYS_ptrace, [-1, 0, 0]),
        // A null target: EFAULT before anything is mounted.
        Attempt::Mount => (libc::SYS_mount, [0; 3]),
        // An invalid operation.
        Attempt::Keyctl => (libc::SYS_keyctl, [-1, 0, 0]),
        // No entries and no parameters.
        Attempt::IoUring => (libc::SYS_io_uring_setup, [0; 3]),
        Attempt::UserNamespace => (libc::SYS_unshare, [libc::CLONE_NEWUSER.into(), 0, 0]),
    };
    // SAFETY: the pointers among the arguments are null, for which these calls return EFAULT; none
    // of them reads or writes memory of this process.
    let result = unsafe { libc::syscall(number, first, second, third, 0, 0, sixth) };
    let made = check("self-test attempt", result)?;
    match attempt {
        Attempt::Netlink | Attempt::Vsock => owned(made, "socket").map(drop),
        _ => Ok(()),
    }
}

/// Loads one seccomp program into this thread, by prctl(2), which every tool may call.
pub(crate) fn load_seccomp(program: &[libc::sock_filter]) -> io::Result<()> {
    let len = u16::try_from(program.len()).map_err(|_| io::Error::other("seccomp: too long"))?;
    let fprog = libc::sock_fprog { len, filter: program.as_ptr().cast_mut() };
    // SAFETY: `fprog` points at `len` instructions that live until the call returns; the kernel
    // copies and checks them before it uses them.
    let result =
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const fprog) };
    check("prctl PR_SET_SECCOMP", result.into()).map(drop)
}

/// Loads one seccomp program and returns the listener for the calls that it notifies (seccomp(2),
/// `SECCOMP_FILTER_FLAG_NEW_LISTENER`). A process and its ancestors may have only one listener: a
/// second one fails with EBUSY. After the listener is closed, a notified call returns ENOSYS.
pub(crate) fn load_seccomp_listening(program: &[libc::sock_filter]) -> io::Result<OwnedFd> {
    // Without the flag (Linux 5.19), a signal makes the caller repeat the call, which is then
    // counted twice. An older kernel counts too many calls and lets none through.
    let killable = libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    match seccomp_listening(program, killable) {
        Err(error) if errno_of(&error) == libc::EINVAL => seccomp_listening(program, 0),
        loaded => loaded,
    }
}

fn seccomp_listening(program: &[libc::sock_filter], flags: libc::c_ulong) -> io::Result<OwnedFd> {
    let len = u16::try_from(program.len()).map_err(|_| io::Error::other("seccomp: too long"))?;
    let fprog = libc::sock_fprog { len, filter: program.as_ptr().cast_mut() };
    // SAFETY: `fprog` points at `len` instructions that live until the call returns; the kernel
    // copies and checks them before it uses them.
    let listener = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | flags,
            &raw const fprog,
        )
    };
    owned(check("seccomp", listener)?, "seccomp")
}

/// A call that waits for its answer. Its arguments are not kept: memory behind a pointer could
/// change after a check, and no answer here depends on arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Notification {
    pub(crate) id: u64,
    /// The calling thread in our pid namespace; 0 if it is in another one.
    pub(crate) thread: u32,
    /// The call's number on this architecture: the filter kills calls of every other.
    pub(crate) call: u32,
}

/// Receives the next notification; blocks until there is one. Returns `None` if its caller was
/// killed meanwhile. A listener whose processes have all ended reports POLLHUP.
pub(crate) fn receive_notification(listener: BorrowedFd<'_>) -> io::Result<Option<Notification>> {
    // SAFETY: a notification is plain integers; zero is valid, and the kernel requires it.
    let mut notif = unsafe { std::mem::zeroed::<libc::seccomp_notif>() };
    // SAFETY: the kernel writes one `seccomp_notif`, whose size is part of the request's number, to
    // `notif`, which lives until the call returns.
    let result = unsafe {
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notif)
    };
    match check("ioctl SECCOMP_IOCTL_NOTIF_RECV", result.into()) {
        Ok(_) => Ok(Some(Notification {
            id: notif.id,
            thread: notif.pid,
            call: notif.data.nr.cast_unsigned(),
        })),
        Err(error) if errno_of(&error) == libc::ENOENT => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes the call return -1 with this errno, which must not be 0; the kernel never executes it. It
/// is not an error if the caller was killed meanwhile.
pub(crate) fn answer_notification(listener: BorrowedFd<'_>, id: u64, errno: i32) -> io::Result<()> {
    if errno <= 0 {
        return Err(io::Error::other("seccomp: errno 0 would report success to the caller"));
    }
    respond(listener, libc::seccomp_notif_resp { id, val: 0, error: -errno, flags: 0 })
}

/// Lets the kernel execute the call (`SECCOMP_USER_NOTIF_FLAG_CONTINUE`, Linux 5.5). Only for a
/// call without pointer arguments: otherwise its arguments could have changed.
pub(crate) fn allow_notified(listener: BorrowedFd<'_>, id: u64) -> io::Result<()> {
    let flags = u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).map_err(io::Error::other)?;
    respond(listener, libc::seccomp_notif_resp { id, val: 0, error: 0, flags })
}

fn respond(listener: BorrowedFd<'_>, answer: libc::seccomp_notif_resp) -> io::Result<()> {
    // SAFETY: the kernel reads one `seccomp_notif_resp`, whose size is part of the request's
    // number, from `answer`, which lives until the call returns.
    let result = unsafe {
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const answer)
    };
    match check("ioctl SECCOMP_IOCTL_NOTIF_SEND", result.into()) {
        Err(error) if errno_of(&error) != libc::ENOENT => Err(error),
        _ => Ok(()),
    }
}

/// Returns the kernel's Landlock ABI version; landlock_create_ruleset(2) creates nothing here.
pub(crate) fn landlock_version() -> io::Result<u32> {
    const VERSION: libc::c_uint = 1;
    // SAFETY: this flag requires a null pointer and a size of zero, and no ruleset is read.
    let result = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            VERSION,
        )
    };
    let version = check("landlock_create_ruleset", result)?;
    u32::try_from(version).map_err(|_| io::Error::other("landlock_create_ruleset"))
}

/// Returns whether the wall clock is synchronized; adjtimex(2) sets nothing. Threads may use it.
pub(crate) fn clock_is_synchronized() -> io::Result<bool> {
    // SAFETY: a timex is plain integers; zero is valid for all of them, and zero modes set nothing.
    let mut clock = unsafe { std::mem::zeroed::<libc::timex>() };
    // SAFETY: the kernel reads and writes this one structure, which outlives the call.
    let result = unsafe { libc::adjtimex(&raw mut clock) };
    check("adjtimex", result.into())?;
    Ok(clock.status & libc::STA_UNSYNC == 0)
}

/// A system call entry other than this architecture's own. Every filter must kill the caller.
#[cfg(all(test, target_arch = "x86_64"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyscallEntry {
    X32,
    I386,
}

/// Calls getpid by this entry. Returns the kernel's result, if there is one.
#[cfg(all(test, target_arch = "x86_64"))]
pub(crate) fn pid_by_entry(way: SyscallEntry) -> i64 {
    match way {
        // SAFETY: getpid takes no argument and touches no memory, under either number.
        SyscallEntry::X32 => unsafe { libc::syscall(0x4000_0000 | libc::SYS_getpid) },
        SyscallEntry::I386 => {
            let mut register: i64 = 20;
            // SAFETY: 20 is getpid in the 32-bit table, which takes no argument and touches no
            // memory; the registers that the kernel clears on this entry are declared as clobbered.
            unsafe {
                std::arch::asm!(
                    "int 0x80", inlateout("rax") register,
                    out("r8") _, out("r9") _, out("r10") _, out("r11") _,
                );
            }
            register
        }
    }
}

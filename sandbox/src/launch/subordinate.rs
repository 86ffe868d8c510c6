//! The user namespace of all sandboxes of an ordinary user, with that user's subordinate ids if
//! there are any. Each worker slot then has a uid of its own, and the kernel's per-user counts
//! apply to each run. Without subordinate ids the namespace maps only the user's own ids.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use model::Layer;
use nix::sched::{CloneFlags, unshare};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use rustix::fs::{Mode as FileMode, OFlags, open};
use rustix::process::{Signal, pidfd_send_signal};

use super::Failed;
use super::identity::{ToolIdentity, UidPool};
use super::options::Options;
use crate::process::ends_within;
use crate::subordinate::{self, SubordinateIds};
use crate::sys::{self, ClonedChild, Fork};

/// The most time that `newuidmap` and `newgidmap` may take together.
const MAP_TIME_MAX: Duration = Duration::from_secs(10);
/// The most time that the process that starts them may take to end after it is killed.
const KILL_TIME_MAX: Duration = Duration::from_secs(2);
/// Help for the case that the ids cannot be mapped.
const HELP: &str =
    "check that setuid programs work here (no `NoNewPrivileges=`), and /etc/subuid and /etc/subgid";
/// Permission of others to enter a directory and to list it.
const OTHERS_READ: u32 = 0o005;

/// Returns the uids of this user's worker slots, or `None` without usable subordinate ids.
pub(super) fn uids(options: &Options) -> Option<UidPool> {
    // Most hosts have none; `toolexec doctor` reports that.
    let ids = subordinate::of_this_user().ok()?;
    if let Some(path) = options.mounts_allowed.iter().find(|path| is_private(path)) {
        let path = path.display();
        let why = format!("{path}: not readable by the uids of sandboxes");
        warn(&why, &format!("run `chmod -R o+rX {path}`"));
        return None;
    }
    let path = lock_directory();
    match locks(&path) {
        Ok(locks) => Some(UidPool::of_user(locks, ids)),
        Err(error) => {
            let help = "make it a directory of this user with mode 0700, or remove it";
            warn(&format!("{}: uid lock directory: {error}", path.display()), help);
            None
        }
    }
}

fn warn(why: &str, help: &str) {
    eprintln!(
        "toolexec-launch: warning: {why}; all sandboxes of this user share one uid; help: {help}"
    );
}

/// Returns whether only the owner can read the directory, so that no other uid can use it.
fn is_private(path: &Path) -> bool {
    let found = fs::metadata(path).ok().filter(fs::Metadata::is_dir);
    found.is_some_and(|it| it.permissions().mode() & OTHERS_READ != OTHERS_READ)
}

/// Returns the path of this user's uid locks, which all launchers of the user share.
fn lock_directory() -> PathBuf {
    let uid = rustix::process::geteuid().as_raw();
    let session = PathBuf::from(format!("/run/user/{uid}"));
    match fs::symlink_metadata(&session) {
        Ok(found) if found.is_dir() && found.uid() == uid => session.join("toolexec-uids"),
        _ => PathBuf::from(format!("/tmp/toolexec-uids-{uid}")),
    }
}

/// Opens the directory of uid locks; creates it if it is missing.
fn locks(path: &Path) -> io::Result<OwnedFd> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = open(path, flags, FileMode::empty())?;
    let found = rustix::fs::fstat(&opened)?;
    if found.st_uid != rustix::process::geteuid().as_raw() || found.st_mode & 0o077 != 0 {
        return Err(io::Error::other("owned by another user, or accessible to others"));
    }
    Ok(opened)
}

/// Enters a new user namespace, which maps this process's own ids to themselves and the subordinate
/// ids of `uids`. Returns false if only the own ids could be mapped.
pub(super) fn enter(own: ToolIdentity, uids: Option<&UidPool>) -> Result<bool, Failed> {
    let mapper = match uids.and_then(UidPool::subordinate) {
        Some(ids) => Some(Mapper::start(own, ids)?),
        None => None,
    };
    unshare(CloneFlags::CLONE_NEWUSER)
        .map_err(Failed::without(Layer::UserNamespace, "unshare the user namespace"))?;
    // The supplementary groups stay: they may exist to deny access.
    write("setgroups", "deny")?;
    let mapped = mapper.is_some_and(Mapper::map);
    // A map can be written only once; one that is already written is correct and stays.
    for (map, id) in [("uid_map", own.uid), ("gid_map", own.gid)] {
        if !is_written(map)? {
            write(map, &format!("{id} {id} 1"))?;
        }
    }
    Ok(mapped)
}

fn is_written(map: &str) -> Result<bool, Failed> {
    let text = fs::read_to_string(format!("/proc/self/{map}"));
    Ok(!text.map_err(Failed::at(&format!("read {map}")))?.trim().is_empty())
}

fn write(name: &str, text: &str) -> Result<(), Failed> {
    let file = OpenOptions::new().write(true).open(format!("/proc/self/{name}"));
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(Failed::without(Layer::UserNamespace, &format!("write {name}")))
}

/// A process outside the new namespace, which runs the mapping programs on request.
struct Mapper {
    process: ClonedChild,
    go: OwnedFd,
}

impl Mapper {
    fn start(own: ToolIdentity, ids: &SubordinateIds) -> Result<Self, Failed> {
        let (request, go) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
            .map_err(Failed::at("create a pipe"))?;
        let target = std::process::id();
        match sys::clone_process(0).map_err(Failed::at("fork the id mapper"))? {
            Fork::Child => {
                drop(go);
                std::process::exit(i32::from(!map_on_request(&request, target, own, ids)))
            }
            Fork::Parent(process) => Ok(Self { process, go }),
        }
    }

    /// Maps the ids in this process's user namespace. Returns false on failure or timeout.
    fn map(self) -> bool {
        if let Err(errno) = rustix::io::write(&self.go, b"m") {
            eprintln!("toolexec-launch: id mapper: cannot be started: {errno}");
        }
        if !ends_within(&self.process.pidfd, MAP_TIME_MAX) {
            warn("newuidmap or newgidmap: takes too long", HELP);
            match pidfd_send_signal(self.process.pidfd.as_fd(), Signal::KILL) {
                // It may have ended meanwhile.
                Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                Err(errno) => eprintln!("toolexec-launch: id mapper: cannot be killed: {errno}"),
            }
            if !ends_within(&self.process.pidfd, KILL_TIME_MAX) {
                return false;
            }
        }
        let ended = waitpid(Pid::from_raw(self.process.pid), Some(WaitPidFlag::__WALL));
        matches!(ended, Ok(WaitStatus::Exited(_, 0)))
    }
}

/// Maps the ids on request, group ids first: if the rest fails, the uid stays the user's own.
fn map_on_request(request: &OwnedFd, target: u32, own: ToolIdentity, ids: &SubordinateIds) -> bool {
    // The pipe was closed without a request: the namespace does not exist.
    if rustix::io::read(request, &mut [0; 1]) != Ok(1) {
        return false;
    }
    let maps = [(&ids.newgidmap, own.gid, ids.gid_first), (&ids.newuidmap, own.uid, ids.uid_first)];
    for (program, own, first) in maps {
        let words = [target, own, own, 1, first, first, ids.count].map(|word| word.to_string());
        if let Err(why) = run(program, &words) {
            warn(&why, HELP);
            return false;
        }
    }
    true
}

fn run(program: &Path, words: &[String]) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(words).env_clear().current_dir("/").stdin(Stdio::null());
    let name = program.display();
    let ended = command.output().map_err(|error| format!("{name}: {error}"))?;
    if ended.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&ended.stderr);
    let line = stderr.lines().next().unwrap_or("no message");
    Err(format!("{name}: {}: {}", ended.status, line.escape_default()))
}

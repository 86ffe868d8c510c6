//! The launcher's command-line options, and the limits it enforces on every request. Options come
//! from the unit file or the parent process, never from a message: a daemon that was taken over
//! still gets no more than they allow.

use std::ffi::OsString;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Component, Path, PathBuf};

use model::LauncherMode;
use rustix::net::sockopt::socket_peercred;

use super::Failed;
use crate::plan::{
    CACHES, ExecSpec, MOUNTS_BY_DEFAULT, OUT_INODES_MAX, RuntimeSpec, SandboxDevice,
    SandboxNetwork, SandboxSpec,
};

pub(super) const USAGE: &str = "\
usage: toolexec-launch --staging DIR [options]    (the control socket is standard input)
       toolexec-launch --help | --version

Builds one sandbox for each session, runs one command in it and reports the result. The control
socket is a listening socket (toolexec-launch.socket) or a connection to the parent, which passes
the sockets of sessions over it. The launcher exits when the parent closes it. It is started by
systemd or by toolexec, not by hand.

  --staging DIR          Take inputs only from slots in this directory
  --mode system|user     Give each sandbox a uid of its own (system), or use a user namespace (user)
                         [default: system for root, user for other users]
  --client-user NAME     Accept sessions from this user only: name or uid
                         [default: the user of the launcher]
  --allow-mount DIR      Let sandboxes mount this directory and everything below it; can be repeated
                         [default: /usr, /bin, /sbin, /lib, /lib32, /lib64, /libx32, /opt,
                         /var/cache/toolexec, /var/lib/toolexec/environments]
  --cgroup root|unit     Create the cgroups of sandboxes, on cgroup v2, in the group `toolexec` of
                         the root or in the delegated group of this unit [default: root]
  --sandboxes-max N      Run at most N sandboxes at one time [default: 64]
  --memory-mib-max N     Refuse commands with more memory than N MiB [default: no limit]
  --wall-sec-max N       Refuse commands with more time than N seconds [default: no limit]
  --pids-max N           Refuse commands with more than N processes [default: 4096]
  --cores-max N          Refuse commands with more than N cores [default: 1024]
";

/// The remedy for a wrong option.
const SEE_HELP: &str = "help: run `toolexec-launch --help`";

/// Directories that no option can allow: they would show the host, or users' files, to a tool.
const NEVER_BOUND: [&str; 3] = ["/", "/home", "/root"];

model::closed_set! {
    /// The parent group of the sandboxes' groups on cgroup v2.
    pub(super) enum CgroupParent {
        /// The root of the tree.
        Root = "root",
        /// The group of the launcher's own unit.
        Unit = "unit",
    }
}

pub(super) struct Options {
    pub(super) staging: PathBuf,
    pub(super) mode: LauncherMode,
    pub(super) cgroup_parent: CgroupParent,
    pub(super) mounts_allowed: Vec<PathBuf>,
    pub(super) max_sandboxes: usize,
    client_uid: Option<u32>,
    memory_bytes_max: u64,
    wall_ms_max: u64,
    pids_max: u32,
    cores_max: u32,
}

impl Options {
    /// Parses the arguments. Returns `None` if they request the usage text.
    pub(super) fn from_words(
        words: impl Iterator<Item = OsString>,
    ) -> Result<Option<Self>, String> {
        let root = rustix::process::geteuid().is_root();
        let mut staging = None;
        let mut options = Self {
            staging: PathBuf::new(),
            mode: if root { LauncherMode::System } else { LauncherMode::User },
            cgroup_parent: CgroupParent::Root,
            mounts_allowed: Vec::new(),
            max_sandboxes: 64,
            client_uid: None,
            memory_bytes_max: u64::MAX,
            wall_ms_max: u64::MAX,
            pids_max: 4096,
            cores_max: 1024,
        };
        let mut words = words;
        while let Some(word) = words.next() {
            let name = word.to_str().unwrap_or_default().to_owned();
            if name == "--help" {
                return Ok(None);
            }
            let wrong = || format!("{name}: unknown option, or its value is missing; {SEE_HELP}");
            let value = words.next().ok_or_else(wrong)?;
            if name == "--staging" {
                staging = Some(absolute(&name, &value)?);
            } else if name == "--allow-mount" {
                options.mounts_allowed.push(absolute(&name, &value)?);
            } else {
                let wrong = || format!("{name}: value is not UTF-8; {SEE_HELP}");
                options.set(&name, value.to_str().ok_or_else(wrong)?)?;
            }
        }
        if root && options.mode == LauncherMode::User {
            let wrong = "--mode: 'user' gives the tool root's uid; help: pass --mode system";
            return Err(wrong.into());
        }
        options.staging = staging.ok_or("--staging: missing; help: pass the staging directory")?;
        if options.mounts_allowed.is_empty() {
            options.mounts_allowed = MOUNTS_BY_DEFAULT.iter().map(PathBuf::from).collect();
        }
        Ok(Some(options))
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number = || {
            let parsed = value.parse::<u32>().ok().filter(|n| *n > 0);
            parsed.ok_or_else(|| format!("{name}: '{value}' is not a number; help: pass 1 or more"))
        };
        match name {
            "--mode" => {
                let wrong =
                    || format!("--mode: invalid value '{value}'; help: pass system or user");
                self.mode = LauncherMode::named(value).ok_or_else(wrong)?;
            }
            "--cgroup" => {
                let wrong =
                    || format!("--cgroup: invalid value '{value}'; help: pass root or unit");
                self.cgroup_parent = CgroupParent::named(value).ok_or_else(wrong)?;
            }
            "--client-user" => self.client_uid = Some(uid_of(value)?),
            "--sandboxes-max" => self.max_sandboxes = usize::try_from(number()?).unwrap_or(1),
            "--memory-mib-max" => self.memory_bytes_max = u64::from(number()?) * 1024 * 1024,
            "--wall-sec-max" => self.wall_ms_max = u64::from(number()?) * 1000,
            "--pids-max" => self.pids_max = number()?,
            "--cores-max" => self.cores_max = number()?,
            _ => return Err(format!("{name}: unknown option; {SEE_HELP}")),
        }
        Ok(())
    }

    /// Checks that the peer is the unit's named user, or the launcher's own if it names none.
    pub(super) fn check_client(&self, control: BorrowedFd<'_>) -> io::Result<()> {
        let peer = socket_peercred(control)?.uid.as_raw();
        let expected = self.client_uid.unwrap_or(rustix::process::geteuid().as_raw());
        if peer == expected {
            Ok(())
        } else {
            let wrong = format!("client: uid {peer} is not allowed, only uid {expected}");
            Err(io::Error::other(format!("{wrong}; help: name it with --client-user")))
        }
    }

    /// Returns the control group's files, or `None` without a group, if the policy names the
    /// exception. The exception is for users without root on their own machine. Behind a unit,
    /// cgroups exist, and a daemon that was taken over must not be able to disable them.
    pub(super) fn without_cgroup<K>(
        &self,
        plan: &SandboxSpec,
        knobs: Result<K, Failed>,
    ) -> Result<Option<K>, Failed> {
        let may_do_without = plan.requirements.cgroup_exception && self.client_uid.is_none();
        match knobs {
            Ok(knobs) => Ok(Some(knobs)),
            Err(failed) if failed.layer.is_some() && may_do_without => Ok(None),
            Err(failed) => Err(failed),
        }
    }

    pub(super) fn check_sandbox(&self, plan: &SandboxSpec) -> Result<(), Failed> {
        let refused = match self.check_runtime(&plan.runtime) {
            Err(refused) => refused,
            Ok(()) if plan.requirements.landlock_abi_min == 0 => {
                "landlock_abi_min: 0 is invalid".into()
            }
            Ok(())
                if plan.network != SandboxNetwork::Nothing
                    && plan.device != SandboxDevice::Nothing =>
            {
                "a sandbox with a network has no further device".into()
            }
            Ok(()) => return Ok(()),
        };
        Err(Failed::here(&format!("sandbox spec: {refused}")))
    }

    fn check_runtime(&self, runtime: &RuntimeSpec) -> Result<(), String> {
        let allowed = |path: &Path| {
            plain_absolute(path)
                && NEVER_BOUND.iter().all(|never| path != Path::new(never))
                && self.mounts_allowed.iter().any(|top| path.starts_with(top))
        };
        let caches = runtime.caches.iter().map(|cache| &cache.source);
        let mut bound = runtime.mounts.iter().chain(&runtime.root).chain(caches);
        let in_place = |target: &Path| {
            plain_absolute(target) && target.starts_with(CACHES) && target != Path::new(CACHES)
        };
        let misplaced = runtime.caches.iter().find(|cache| !in_place(&cache.target));
        if let Some(path) = bound.find(|path| !allowed(path)) {
            Err(format!("{}: not allowed by --allow-mount", path.display()))
        } else if let Some(cache) = misplaced {
            Err(format!("{}: cache is not below {CACHES}", cache.target.display()))
        } else if !plain_absolute(&runtime.binary) {
            Err(format!("{}: path is not absolute", runtime.binary.display()))
        } else {
            Ok(())
        }
    }

    pub(super) fn check_exec(&self, order: &ExecSpec) -> Result<(), Failed> {
        let limits = &order.limits;
        let within = limits.memory_bytes_max <= self.memory_bytes_max
            && limits.wall_ms_max <= self.wall_ms_max
            && limits.pids_max <= self.pids_max
            && u64::from(limits.cpu_milli) <= u64::from(self.cores_max) * 1000;
        let whole = limits.wall_ms_max > 0
            && limits.cpu_ms_max > 0
            && limits.cpu_milli > 0
            && limits.memory_bytes_max > 0
            && limits.pids_max > 0
            && limits.open_files_max > 2
            && limits.file_bytes_max > 0
            // tmpfs treats 0 as no limit.
            && limits.out_bytes_max.min(limits.tmp_bytes_max).min(limits.shm_bytes_max) > 0
            && (1..=OUT_INODES_MAX).contains(&limits.out_inodes_max)
            && limits.stream_bytes_max > 0
            && limits.out_bytes_max <= limits.memory_bytes_max
            && limits.tmp_bytes_max <= limits.memory_bytes_max
            && limits.shm_bytes_max <= limits.memory_bytes_max;
        let refused = if !within {
            "a limit is above --memory-mib-max, --wall-sec-max, --pids-max or --cores-max of the \
             launcher; help: lower it in the policy, or raise the option in the launcher's unit"
        } else if !whole {
            "a limit is missing, or above what can be enforced"
        } else if order.argv.is_empty() {
            "argv is empty"
        } else {
            return Ok(());
        };
        Err(Failed { layer: None, step: format!("command: {refused}"), errno: 0 })
    }
}

fn plain_absolute(path: &Path) -> bool {
    path.is_absolute() && path.components().all(|c| !matches!(c, Component::ParentDir))
}

fn absolute(name: &str, value: &OsString) -> Result<PathBuf, String> {
    let path = PathBuf::from(value);
    if plain_absolute(&path) {
        Ok(path)
    } else {
        let path = path.display();
        let help = "pass an absolute path without `..`";
        Err(format!("{name}: '{path}' is not allowed; help: {help}"))
    }
}

fn uid_of(value: &str) -> Result<u32, String> {
    if let Ok(uid) = value.parse() {
        return Ok(uid);
    }
    match nix::unistd::User::from_name(value) {
        Ok(Some(user)) => Ok(user.uid.as_raw()),
        Ok(None) => Err(format!("--client-user: no user '{value}'; help: pass a name or a uid")),
        Err(errno) => {
            Err(format!("--client-user: cannot look up '{value}': {errno}; help: pass a uid"))
        }
    }
}

//! The launcher's command-line options, and the limits it enforces on every request.
//!
//! Options come from the unit file or from the parent process, never from a message: a daemon that
//! has been taken over still gets no more than they allow.

use std::ffi::OsString;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Component, Path, PathBuf};

use model::Mode;
use rustix::net::sockopt::socket_peercred;

use super::Failed;
use crate::plan::{CACHES, CellPlan, MOUNTS_BY_DEFAULT, OUT_INODES_MAX, Order, Runtime};

pub(super) const USAGE: &str = "\
usage: toolexec-launch --staging DIR [options]    (its door is standard input)
       toolexec-launch --help | --version

Builds one cell for each conversation at its door, runs the one command ordered and reports. The door
is a listening socket (of toolexec-launch.socket) or a connection to the parent, which sends the ends of
others through it; when the parent closes it, the launcher ends. There is nothing to type here by hand.

  --staging DIR          the one directory that orders may name slots of
  --mode system|user     with a uid of its own per cell (root), or in a user namespace;
                         by default system for root and user for everybody else
  --client-user NAME     accept orders from this user only (name or uid)
  --allow-mount DIR      a directory that orders may bind, and all below it; may be repeated;
                         by default /usr, /bin, /sbin, /lib, /lib32, /lib64, /libx32, /opt
                         and /var/cache/toolexec
  --cgroup root|unit     where on cgroup v2 cells' groups go: in a group of ours below the
                         root, or in this unit's own group (it must be delegated)
  --seats-waiting N      processes that wait ready for the next conversation (by default 2)
  --seats-max N          cells at one time (by default 64)
  --memory-mib-max N     ceilings that no order may exceed
  --wall-sec-max N
  --pids-max N
  --cores-max N          (by default 1024)
";

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
    pub(super) mode: Mode,
    pub(super) cgroup_parent: CgroupParent,
    pub(super) mounts_allowed: Vec<PathBuf>,
    pub(super) seats_waiting: usize,
    pub(super) seats_max: usize,
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
            mode: if root { Mode::System } else { Mode::User },
            cgroup_parent: CgroupParent::Root,
            mounts_allowed: Vec::new(),
            seats_waiting: 2,
            seats_max: 64,
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
            let value = words.next().ok_or_else(|| format!("{name}: needs a value; see --help"))?;
            if name == "--staging" {
                staging = Some(absolute(&name, &value)?);
            } else if name == "--allow-mount" {
                options.mounts_allowed.push(absolute(&name, &value)?);
            } else {
                let value = value.to_str().ok_or_else(|| format!("{name}: not UTF-8"))?;
                options.set(&name, value)?;
            }
        }
        if root && options.mode == Mode::User {
            return Err("--mode user: not for root: the tool would have root's uid".into());
        }
        options.staging = staging.ok_or("--staging: missing; see --help")?;
        if options.mounts_allowed.is_empty() {
            options.mounts_allowed = MOUNTS_BY_DEFAULT.iter().map(PathBuf::from).collect();
        }
        Ok(Some(options))
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number = || {
            let parsed = value.parse::<u32>().ok().filter(|n| *n > 0);
            parsed.ok_or_else(|| format!("{name}: '{value}' is no positive number"))
        };
        match name {
            "--mode" => {
                let wrong = || format!("--mode: '{value}' is neither system nor user");
                self.mode = Mode::named(value).ok_or_else(wrong)?;
            }
            "--cgroup" => {
                let wrong = || format!("--cgroup: '{value}' is neither root nor unit");
                self.cgroup_parent = CgroupParent::named(value).ok_or_else(wrong)?;
            }
            "--client-user" => self.client_uid = Some(uid_of(value)?),
            "--seats-waiting" => self.seats_waiting = usize::try_from(number()?).unwrap_or(1),
            "--seats-max" => self.seats_max = usize::try_from(number()?).unwrap_or(1),
            "--memory-mib-max" => self.memory_bytes_max = u64::from(number()?) * 1024 * 1024,
            "--wall-sec-max" => self.wall_ms_max = u64::from(number()?) * 1000,
            "--pids-max" => self.pids_max = number()?,
            "--cores-max" => self.cores_max = number()?,
            _ => return Err(format!("{name}: unknown option; see --help")),
        }
        Ok(())
    }

    /// Checks that the peer is the user that the unit names, or the launcher's own user if it names
    /// none.
    pub(super) fn check_client(&self, control: BorrowedFd<'_>) -> io::Result<()> {
        let peer = socket_peercred(control)?.uid.as_raw();
        let expected = self.client_uid.unwrap_or(rustix::process::geteuid().as_raw());
        if peer == expected {
            Ok(())
        } else {
            Err(io::Error::other(format!("client: uid {peer} may not give orders here")))
        }
    }

    /// Returns the control group's files, or `None` without a group, if the policy names the
    /// exception. The exception is for users without root on their own machine. Behind a unit,
    /// cgroups exist, and a daemon that was taken over must not be able to disable them.
    pub(super) fn without_cgroup<K>(
        &self,
        plan: &CellPlan,
        knobs: Result<K, Failed>,
    ) -> Result<Option<K>, Failed> {
        let may_do_without = plan.demands.cgroup_exception && self.client_uid.is_none();
        match knobs {
            Ok(knobs) => Ok(Some(knobs)),
            Err(failed) if failed.layer.is_some() && may_do_without => Ok(None),
            Err(failed) => Err(failed),
        }
    }

    pub(super) fn check_cell(&self, plan: &CellPlan) -> Result<(), Failed> {
        let refused = match self.check_runtime(&plan.runtime) {
            Err(refused) => refused,
            Ok(()) if plan.demands.landlock_abi_min == 0 => "Landlock may not be left out".into(),
            Ok(()) => return Ok(()),
        };
        Err(Failed::here(&format!("plan of a cell: {refused}")))
    }

    fn check_runtime(&self, runtime: &Runtime) -> Result<(), String> {
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
            Err(format!("{} may not be bound; see --allow-mount", path.display()))
        } else if let Some(cache) = misplaced {
            Err(format!("{} is no place for a cache", cache.target.display()))
        } else if !plain_absolute(&runtime.binary) {
            Err(format!("{} is no absolute path", runtime.binary.display()))
        } else {
            Ok(())
        }
    }

    pub(super) fn check_order(&self, order: &Order) -> Result<(), Failed> {
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
            "a limit is above the launcher's own ceiling"
        } else if !whole {
            "a limit is missing, or more than can be kept"
        } else if order.argv.is_empty() {
            "no command"
        } else {
            return Ok(());
        };
        Err(Failed { layer: None, step: format!("order: {refused}"), errno: 0 })
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
        Err(format!("{name}: '{}' is no absolute path", path.display()))
    }
}

fn uid_of(value: &str) -> Result<u32, String> {
    if let Ok(uid) = value.parse() {
        return Ok(uid);
    }
    match nix::unistd::User::from_name(value) {
        Ok(Some(user)) => Ok(user.uid.as_raw()),
        Ok(None) => Err(format!("--client-user: no user '{value}' on this host")),
        Err(errno) => Err(format!("--client-user: {value}: {errno}")),
    }
}

//! The control groups of one sandbox: one on v2; on v1 one for each controller, and one on a v2
//! tree beside them. They are created with the sandbox and removed with it, so that no earlier
//! charge counts. A directory that already exists belongs to another process and must never be
//! used.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use cgroups_rs::Cgroup;
use cgroups_rs::hierarchies::V2;
use model::{Layer, Mechanism};

use super::leftovers::{remove, sweep_beside};
use super::model::V1Dirs;
use super::{GroupJoin, Knobs, V2_ROOT, if_exists, knobs};
use crate::launch::Failed;

const PROCS: &str = "cgroup.procs";

/// A group of the v2 tree, with or without controllers.
pub(super) struct V2Group {
    directory: File,
    /// Kills every process of the group at once (Linux 5.14).
    kill: Option<File>,
}

impl V2Group {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let kill = OpenOptions::new().write(true).open(path.join("cgroup.kill"));
        Ok(Self { directory: File::open(path)?, kill: if_exists(kill)? })
    }

    pub(super) fn can_be_killed(&self) -> bool {
        self.kill.is_some()
    }

    pub(super) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

/// Directories that were created here; dropping removes them.
enum GroupDirs {
    V1 { controllers: V1Dirs, bare: Option<PathBuf> },
    V2(PathBuf),
}

impl GroupDirs {
    fn all(&self) -> Vec<&PathBuf> {
        match self {
            Self::V1 { controllers, bare } => controllers.all().into_iter().chain(bare).collect(),
            Self::V2(directory) => vec![directory],
        }
    }

    fn pids(&self) -> &Path {
        match self {
            Self::V1 { controllers, .. } => &controllers.pids,
            Self::V2(directory) => directory,
        }
    }
}

impl Drop for GroupDirs {
    fn drop(&mut self) {
        for directory in self.all() {
            if let Err(error) = remove(directory) {
                eprintln!("toolexec-launch: {}: cannot be removed: {error}", directory.display());
            }
        }
    }
}

pub(in crate::launch) struct ControlGroup {
    places: GroupDirs,
    tree: Option<V2Group>,
    joining: GroupJoin,
    /// The file with the tasks of the group, including dead ones that are not reaped.
    tasks: File,
}

impl ControlGroup {
    /// Creates the groups on v1. `bare` is a group on a v2 tree into which processes can be cloned.
    pub(super) fn make_v1(controllers: V1Dirs, bare: Option<PathBuf>) -> Result<Self, Failed> {
        let wanted: Vec<_> = controllers.all().into_iter().chain(&bare).collect();
        for directory in wanted {
            require_new(directory)?;
        }
        let places = GroupDirs::V1 { controllers, bare };
        // Two controllers may be one hierarchy, with one directory for both.
        for directory in places.all() {
            make(directory)?;
        }
        Self::open(places, GroupJoin::ByClone)
    }

    /// Creates the group on v2. `path` is relative to the root of the tree.
    pub(super) fn make_v2(path: &Path, joining: GroupJoin) -> Result<Self, Failed> {
        let directory = Path::new(V2_ROOT).join(path);
        require_new(&directory)?;
        let places = GroupDirs::V2(directory);
        // Below the root of the tree, the parent is ours, too.
        places.all().into_iter().try_for_each(|directory| make(directory))?;
        let wanted = ["memory", "cpu", "pids"].map(str::to_owned).to_vec();
        Cgroup::new_with_specified_controllers(Box::new(V2::new()), path, Some(wanted))
            .map_err(io::Error::other)
            .map_err(Failed::without(Layer::Cgroup, "enable the cgroup's controllers"))?;
        Self::open(places, joining)
    }

    fn open(places: GroupDirs, joining: GroupJoin) -> Result<Self, Failed> {
        let opened = Self::open_files(places, joining);
        opened.map_err(Failed::without(Layer::Cgroup, "open the new cgroup"))
    }

    fn open_files(places: GroupDirs, joining: GroupJoin) -> io::Result<Self> {
        let tree = match &places {
            GroupDirs::V1 { bare, .. } => bare.as_deref(),
            GroupDirs::V2(directory) => Some(directory.as_path()),
        };
        let tree = tree.map(V2Group::open).transpose()?;
        let tasks = File::open(places.pids().join("pids.current"))?;
        Ok(Self { places, tree, joining, tasks })
    }

    pub(in crate::launch) fn knobs(&self) -> io::Result<Knobs> {
        match &self.places {
            GroupDirs::V1 { controllers, bare: None } => {
                Knobs::open_v1(controllers, Mechanism::CgroupV1)
            }
            GroupDirs::V1 { controllers, bare: Some(_) } => {
                Knobs::open_v1(controllers, Mechanism::CgroupV1AndV2)
            }
            GroupDirs::V2(directory) => Knobs::open_v2(directory),
        }
    }

    /// Returns the directory of the group into which init is cloned, if that is possible.
    pub(in crate::launch) fn clone_target(&self) -> Option<BorrowedFd<'_>> {
        let born = self.joining == GroupJoin::ByClone;
        self.tree.as_ref().filter(|_| born).map(V2Group::directory)
    }

    /// Opens the files into which a process writes `0` to join the groups that it was not cloned
    /// into, because the sandbox's init sees other files and may have another uid.
    pub(in crate::launch) fn procs_files(&self) -> Result<Vec<File>, Failed> {
        let opened: io::Result<_> = match &self.places {
            // Init has one thread. Moving a thread needs no lock that stops every fork of the host.
            GroupDirs::V1 { controllers, .. } => {
                controllers.all().into_iter().map(|group| file_to_join(group, "tasks")).collect()
            }
            GroupDirs::V2(_) if self.joining == GroupJoin::ByClone => Ok(Vec::new()),
            GroupDirs::V2(directory) => file_to_join(directory, PROCS).map(|file| vec![file]),
        };
        opened.map_err(Failed::without(Layer::Cgroup, "open the sandbox's cgroup"))
    }

    /// Kills the whole group at once, with processes being forked, if `cgroup.kill` exists.
    pub(in crate::launch) fn kill(&self) -> io::Result<()> {
        let kill = self.tree.as_ref().and_then(|tree| tree.kill.as_ref());
        kill.map_or(Ok(()), |kill| kill.write_all_at(b"1", 0))
    }

    #[cfg(test)]
    pub(super) fn can_be_killed(&self) -> bool {
        self.tree.as_ref().is_some_and(V2Group::can_be_killed)
    }

    /// Also opens the files of groups that processes are cloned into.
    #[cfg(test)]
    pub(super) fn all_procs_files(&self) -> io::Result<Vec<File>> {
        self.places.all().into_iter().map(|group| file_to_join(group, PROCS)).collect()
    }

    pub(in crate::launch) fn tasks(&self) -> io::Result<u64> {
        knobs::number(&self.tasks)
    }
}

fn file_to_join(directory: &Path, name: &str) -> io::Result<File> {
    OpenOptions::new().write(true).open(directory.join(name))
}

/// Fails if the directory exists: it counts the tasks and memory of another process.
fn require_new(directory: &Path) -> Result<(), Failed> {
    if is_free(directory)? {
        return Ok(());
    }
    // In a container, a killed launcher may have had our pid.
    sweep_beside(directory);
    if is_free(directory)? {
        return Ok(());
    }
    Err(not_made(directory)(io::Error::other("its directory already exists")))
}

fn is_free(directory: &Path) -> Result<bool, Failed> {
    match directory.symlink_metadata() {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(not_made(directory)(error)),
    }
}

/// Creates the directory of a group. cgroups-rs would drop the reason of a failure.
fn make(directory: &Path) -> Result<(), Failed> {
    match fs::create_dir_all(directory) {
        Ok(()) => Ok(()),
        Err(error) => Err(not_made(directory)(error)),
    }
}

/// Builds an error that names the parent: the group's own name differs for every sandbox.
fn not_made(directory: &Path) -> impl FnOnce(io::Error) -> Failed {
    let parent = directory.parent().unwrap_or(directory).display();
    let step = format!("create a control group in {parent}");
    move |error| Failed::without(Layer::Cgroup, &step)(error)
}

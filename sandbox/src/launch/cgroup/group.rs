//! One cell's groups: one on v2; on v1 one for each controller, and one more on the v2 tree beside them.
//!
//! They are new when the cell is made, and go with it: nothing that an earlier cell was charged for can
//! count against this one. A directory that is there already is somebody else's and must never be used.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use cgroups_rs::Cgroup;
use cgroups_rs::Controller;
use cgroups_rs::cpu::CpuController;
use cgroups_rs::cpuacct::CpuAcctController;
use cgroups_rs::hierarchies::V2;
use cgroups_rs::memory::MemController;
use cgroups_rs::pid::PidController;
use model::{Layer, Mechanism};

use super::leftovers::{remove, sweep_beside};
use super::model::V1Places;
use super::{Joining, Knobs, V2_ROOT, if_there, knobs};
use crate::launch::Failed;

/// A group of the v2 tree, with or without controllers.
pub(super) struct Tree {
    directory: File,
    /// Kills everything in it at once (Linux 5.14).
    kill: Option<File>,
}

impl Tree {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let kill = OpenOptions::new().write(true).open(path.join("cgroup.kill"));
        Ok(Self { directory: File::open(path)?, kill: if_there(kill)? })
    }

    pub(super) fn can_be_killed(&self) -> bool {
        self.kill.is_some()
    }

    /// What `CLONE_INTO_CGROUP` wants to be told.
    pub(super) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

/// Directories that were made, and are removed in the end.
enum Places {
    V1 {
        controllers: V1Places,
        bare: Option<PathBuf>,
    },
    /// One for all.
    V2(PathBuf),
}

impl Places {
    fn all(&self) -> Vec<&PathBuf> {
        match self {
            Self::V1 { controllers, bare } => controllers.all().into_iter().chain(bare).collect(),
            Self::V2(directory) => vec![directory],
        }
    }

    /// Who counts tasks.
    fn pids(&self) -> &Path {
        match self {
            Self::V1 { controllers, .. } => &controllers.pids,
            Self::V2(directory) => directory,
        }
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        for directory in self.all() {
            if let Err(error) = remove(directory) {
                eprintln!("toolexec-launch: {}: {error}", directory.display());
            }
        }
    }
}

pub(in crate::launch) struct Group {
    places: Places,
    tree: Option<Tree>,
    joining: Joining,
    /// How many tasks are in it, those included that are dead and not reaped.
    tasks: File,
}

impl Group {
    /// `bare` is on a v2 tree where processes can be born in groups.
    pub(super) fn make_v1(controllers: V1Places, bare: Option<PathBuf>) -> Result<Self, Failed> {
        let wanted: Vec<_> = controllers.all().into_iter().chain(&bare).collect();
        for directory in wanted {
            insist_on_new(directory)?;
        }
        let places = Places::V1 { controllers, bare };
        // Two controllers may be one hierarchy, with one directory for both.
        for directory in places.all() {
            make(directory)?;
        }
        if let Places::V1 { controllers, .. } = &places {
            MemController::new(controllers.memory.clone(), false).create();
            CpuController::new(controllers.cpu.clone(), false).create();
            CpuAcctController::new(controllers.cpuacct.clone()).create();
            PidController::new(controllers.pids.clone(), false).create();
        }
        Self::open(places, Joining::ByClone)
    }

    /// `path` is relative to the root of the tree.
    pub(super) fn make_v2(path: &Path, joining: Joining) -> Result<Self, Failed> {
        let directory = Path::new(V2_ROOT).join(path);
        insist_on_new(&directory)?;
        let places = Places::V2(directory);
        // The parent is ours too below the root of the tree.
        places.all().into_iter().try_for_each(|directory| make(directory))?;
        let wanted = ["memory", "cpu", "pids"].map(str::to_owned).to_vec();
        Cgroup::new_with_specified_controllers(Box::new(V2::new()), path, Some(wanted))
            .map_err(io::Error::other)
            .map_err(Failed::without(Layer::Cgroup, "give the cgroup its controllers"))?;
        Self::open(places, joining)
    }

    fn open(places: Places, joining: Joining) -> Result<Self, Failed> {
        let opened = Self::open_files(places, joining);
        opened.map_err(Failed::without(Layer::Cgroup, "open the new cgroup"))
    }

    fn open_files(places: Places, joining: Joining) -> io::Result<Self> {
        let tree = match &places {
            Places::V1 { bare, .. } => bare.as_deref(),
            Places::V2(directory) => Some(directory.as_path()),
        };
        let tree = tree.map(Tree::open).transpose()?;
        let tasks = File::open(places.pids().join("pids.current"))?;
        Ok(Self { places, tree, joining, tasks })
    }

    /// The files that limit and count.
    pub(in crate::launch) fn knobs(&self) -> io::Result<Knobs> {
        match &self.places {
            Places::V1 { controllers, bare: None } => {
                Knobs::open_v1(controllers, Mechanism::CgroupV1)
            }
            Places::V1 { controllers, bare: Some(_) } => {
                Knobs::open_v1(controllers, Mechanism::CgroupV1AndV2)
            }
            Places::V2(directory) => Knobs::open_v2(directory),
        }
    }

    /// The group that the cell's init is to be born in, where that can be.
    pub(in crate::launch) fn birthplace(&self) -> Option<BorrowedFd<'_>> {
        let born = self.joining == Joining::ByClone;
        self.tree.as_ref().filter(|_| born).map(Tree::directory)
    }

    /// Files into which a process writes `0` to join what it was not born in. Opened here, because the
    /// cell's init has another view of the file system by then, and may have another uid.
    pub(in crate::launch) fn doors(&self) -> Result<Vec<File>, Failed> {
        let opened: io::Result<_> = match &self.places {
            Places::V1 { controllers, .. } => controllers.all().into_iter().map(door).collect(),
            Places::V2(_) if self.joining == Joining::ByClone => Ok(Vec::new()),
            Places::V2(directory) => door(directory).map(|door| vec![door]),
        };
        opened.map_err(Failed::without(Layer::Cgroup, "open the cell's cgroup"))
    }

    /// Kills all that is in it, and what is being forked, at once. Nothing where there is no such thing.
    pub(in crate::launch) fn kill(&self) -> io::Result<()> {
        let kill = self.tree.as_ref().and_then(|tree| tree.kill.as_ref());
        kill.map_or(Ok(()), |kill| kill.write_all_at(b"1", 0))
    }

    #[cfg(test)]
    pub(super) fn can_be_killed(&self) -> bool {
        self.tree.as_ref().is_some_and(Tree::can_be_killed)
    }

    /// Those that nobody is born behind, too.
    #[cfg(test)]
    pub(super) fn every_door(&self) -> io::Result<Vec<File>> {
        self.places.all().into_iter().map(door).collect()
    }

    /// How many tasks are left in it.
    pub(in crate::launch) fn tasks(&self) -> io::Result<u64> {
        knobs::number(&self.tasks)
    }
}

fn door(directory: impl AsRef<Path>) -> io::Result<File> {
    OpenOptions::new().write(true).open(directory.as_ref().join("cgroup.procs"))
}

/// Whatever is there already counts somebody else's tasks and memory.
fn insist_on_new(directory: &Path) -> Result<(), Failed> {
    sweep_beside(directory);
    match directory.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(not_made(directory)(error)),
        Ok(_) => Err(not_made(directory)(io::Error::other("its directory exists already"))),
    }
}

/// Makes a group's directory here, because cgroups-rs drops the reason why it could not.
fn make(directory: &Path) -> Result<(), Failed> {
    match fs::create_dir_all(directory) {
        Ok(()) => Ok(()),
        Err(error) => Err(not_made(directory)(error)),
    }
}

/// Names the parent: the group's own name is another one for every sandbox.
fn not_made(directory: &Path) -> impl FnOnce(io::Error) -> Failed {
    let parent = directory.parent().unwrap_or(directory).display();
    let step = format!("make a control group in {parent}");
    move |error| Failed::without(Layer::Cgroup, &step)(error)
}

//! Opening the log to append to it: the lock, the edge, the draft that was left, the head that was kept.
//! Nothing may be appended to a log that is not what was signed, or not the one that was kept.

use std::collections::HashMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::sync::Arc;
use std::time::Duration;

use model::Sha256;

use crate::log::checkpoint::Checkpoint;
use crate::log::disk::Disk;
use crate::log::edge::Edge;
use crate::log::format::{CHECKPOINT, REMEMBERED};
use crate::log::kept::Kept;
use crate::log::lock::Lock;
use crate::log::merkle::Peaks;
use crate::log::tidy::tidy;
use crate::log::tile::{Kind, Tile, WIDTH};
use crate::log::view::{read_checkpoint, read_hashes};
use crate::log::{LogError, LogKey, LogPlace, PublicLogKey, forward};

/// The log, open for appending. There is one of it at a time.
pub struct Log {
    pub(super) disk: Disk,
    pub(super) key: Arc<LogKey>,
    pub(super) head: Checkpoint,
    pub(super) edge: Edge,
    /// Numbers of the latest entries by their leaf hashes.
    pub(super) latest: HashMap<Sha256, u64>,
    pub(super) state: State,
    pub(super) kept: Option<Kept>,
    /// The number of drafts until now: they have two names in turn.
    pub(super) draft: usize,
    _lock: Lock,
}

/// The operations that an open log allows.
pub(super) enum State {
    /// It takes entries.
    Whole,
    /// It waits for the batch with this root to be adopted.
    Prepared(Sha256),
    /// The files on the disk are not known: it takes nothing.
    Stopped,
}

impl Log {
    /// The newest checkpoint.
    #[must_use]
    pub fn head(&self) -> &Checkpoint {
        &self.head
    }

    /// The key that checks everything that this log says.
    #[must_use]
    pub fn key(&self) -> &PublicLogKey {
        self.key.public()
    }

    /// Opens a log, or makes an empty one (and the directory, mode 0755: it holds nothing secret).
    ///
    /// # Errors
    /// [`LogError`]: another process has it open, the files are not what the checkpoint says, the
    /// checkpoint is not of this key, its key signed a draft that contradicts it, or the log is not
    /// the one whose head was kept.
    pub fn open_or_create(
        place: impl Into<LogPlace>,
        key: impl Into<Arc<LogKey>>,
    ) -> Result<Self, LogError> {
        Self::open_locked(&place.into(), key.into(), Disk::lock)
    }

    /// The same beside others: while another process has it open, waits for so long.
    ///
    /// # Errors
    /// [`LogError`], as [`Self::open_or_create`].
    pub fn open_within(
        wait: Duration,
        place: impl Into<LogPlace>,
        key: impl Into<Arc<LogKey>>,
    ) -> Result<Self, LogError> {
        Self::open_locked(&place.into(), key.into(), |disk| disk.lock_within(wait))
    }

    fn open_locked(
        place: &LogPlace,
        key: Arc<LogKey>,
        lock: impl FnOnce(&Disk) -> Result<Lock, LogError>,
    ) -> Result<Self, LogError> {
        let directory = place.directory();
        let kept = place.kept()?;
        if let Some(kept) = &kept {
            kept.refuse_loss(directory)?;
        }
        let made = DirBuilder::new().recursive(true).mode(0o755).create(directory);
        let failed = |source| LogError::Io { path: directory.to_owned(), act: "making", source };
        made.map_err(failed)?;
        let disk = Disk::open(directory)?;
        let lock = lock(&disk)?;
        let head = first_or_newest(&disk, &key)?;
        // Before the head that was kept is asked for: that may be the one of the draft.
        let (head, edge) = forward::settle(&disk, key.public(), head)?;
        if let Some(kept) = &kept {
            kept.is_of(&disk, &head)?;
        }
        // A crash may have lost them.
        for (tile, bytes) in edge.partials(0) {
            disk.place_if_other(&tile.path(), &bytes)?;
        }
        tidy(&disk, &edge)?;
        let latest = latest(&disk, &edge)?;
        Ok(Self { disk, key, head, edge, latest, state: State::Whole, kept, draft: 0, _lock: lock })
    }
}

fn first_or_newest(disk: &Disk, key: &LogKey) -> Result<Checkpoint, LogError> {
    match read_checkpoint(disk, key.public())? {
        Some(head) => Ok(head),
        // The first checkpoint is there before the first tile.
        None if disk.has_directory("tile")? => {
            Err(LogError::Missing { path: disk.path(CHECKPOINT) })
        }
        None => {
            let empty = Checkpoint::sign(0, Peaks::default().root(), key, None)?;
            disk.place(CHECKPOINT, empty.note().as_bytes())?;
            Ok(empty)
        }
    }
}

/// Numbers of the latest entries by their leaf hashes, [`REMEMBERED`] or more where there are so many.
fn latest(disk: &Disk, edge: &Edge) -> Result<HashMap<Sha256, u64>, LogError> {
    let whole = edge.size() / WIDTH;
    let first = whole.saturating_sub(REMEMBERED / WIDTH);
    let mut leaves = Vec::new();
    for number in first..whole {
        leaves.extend(read_hashes(disk, Tile { kind: Kind::Hashes(0), number, width: WIDTH })?);
    }
    leaves.extend(edge.tiles.first().into_iter().flatten());
    Ok(leaves.into_iter().zip(first * WIDTH..).collect())
}

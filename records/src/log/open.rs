//! Opening the log for appending: takes the lock, reads the edge, settles a draft, and compares the
//! saved head. Nothing may be appended to a log that differs from the signed one or the saved head.

use std::collections::HashMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::sync::Arc;
use std::time::Duration;

use model::Sha256;

use crate::log::checkpoint::Checkpoint;
use crate::log::cleanup::clean_up;
use crate::log::disk::LogDisk;
use crate::log::format::{CHECKPOINT, REMEMBERED_MIN};
use crate::log::frontier::MerkleFrontier;
use crate::log::lock::LogLock;
use crate::log::merkle::Peaks;
use crate::log::persisted_state::PersistedState;
use crate::log::tile::{Tile, TileKind, WIDTH};
use crate::log::view::{read_checkpoint, read_hashes};
use crate::log::{LogError, LogKey, LogLocation, PublicLogKey, roll_forward};

/// The log, open for appending. Only one exists at a time.
pub struct Log {
    pub(super) disk: LogDisk,
    pub(super) key: Arc<LogKey>,
    pub(super) head: Checkpoint,
    pub(super) frontier: MerkleFrontier,
    /// The indexes of the latest entries by their leaf hashes.
    pub(super) latest: HashMap<Sha256, u64>,
    pub(super) state: LogState,
    pub(super) persisted_state: Option<PersistedState>,
    /// The number of drafts so far; they use two names in turn.
    pub(super) drafts_written: usize,
    _lock: LogLock,
}

pub(super) enum LogState {
    /// Accepts entries.
    Ready,
    /// Waits for the batch with this root to be adopted.
    Prepared(Sha256),
    /// Refuses entries, because the state of the files is unknown.
    Stopped,
}

impl Log {
    /// Returns the newest checkpoint.
    #[must_use]
    pub fn head(&self) -> &Checkpoint {
        &self.head
    }

    /// Returns the key that verifies this log.
    #[must_use]
    pub fn key(&self) -> &PublicLogKey {
        self.key.public()
    }

    /// Opens a log, or makes an empty one and its directory (mode 0755: nothing in it is secret).
    ///
    /// # Errors
    /// [`LogError`]: another process has the log open, the files contradict the checkpoint, the
    /// checkpoint is not signed by this key, a draft signed by it contradicts the checkpoint, or
    /// the log did not grow out of its saved head.
    pub fn open_or_create(
        place: impl Into<LogLocation>,
        key: impl Into<Arc<LogKey>>,
    ) -> Result<Self, LogError> {
        Self::open_locked(&place.into(), key.into(), LogDisk::lock)
    }

    /// Opens a log as [`Self::open_or_create`] does, but waits up to `wait` for another process.
    pub fn open_within(
        wait: Duration,
        place: impl Into<LogLocation>,
        key: impl Into<Arc<LogKey>>,
    ) -> Result<Self, LogError> {
        Self::open_locked(&place.into(), key.into(), |disk| disk.lock_within(wait))
    }

    fn open_locked(
        place: &LogLocation,
        key: Arc<LogKey>,
        lock: impl FnOnce(&LogDisk) -> Result<LogLock, LogError>,
    ) -> Result<Self, LogError> {
        let directory = place.directory();
        let kept = place.persisted_state()?;
        if let Some(kept) = &kept {
            kept.check_log_exists(directory)?;
        }
        let made = DirBuilder::new().recursive(true).mode(0o755).create(directory);
        let failed = |source| LogError::Io { path: directory.to_owned(), act: "create", source };
        made.map_err(failed)?;
        let disk = LogDisk::open(directory)?;
        let lock = lock(&disk)?;
        let head = first_or_newest(&disk, &key)?;
        // Before the saved head is compared, because it may be the head of the draft.
        let (head, edge) = roll_forward::recover(&disk, key.public(), head, place)?;
        if let Some(kept) = &kept {
            kept.check_and_store(&disk, &head)?;
        }
        // A crash may have lost partial tiles.
        for (tile, bytes) in edge.partials(0) {
            disk.write_if_changed(&tile.path(), &bytes)?;
        }
        clean_up(&disk, &edge)?;
        let latest = latest(&disk, &edge)?;
        Ok(Self {
            disk,
            key,
            head,
            frontier: edge,
            latest,
            state: LogState::Ready,
            persisted_state: kept,
            drafts_written: 0,
            _lock: lock,
        })
    }
}

fn first_or_newest(disk: &LogDisk, key: &LogKey) -> Result<Checkpoint, LogError> {
    match read_checkpoint(disk, key.public())? {
        Some(head) => Ok(head),
        // The first checkpoint is written before the first tile.
        None if disk.has_directory("tile")? => {
            Err(LogError::Missing { path: disk.path(CHECKPOINT) })
        }
        None => {
            let empty = Checkpoint::sign(0, Peaks::default().root(), key, None)?;
            disk.write_synced(CHECKPOINT, empty.note().as_bytes())?;
            Ok(empty)
        }
    }
}

/// Returns the latest entries' indexes by leaf hash: at least [`REMEMBERED_MIN`], or all.
fn latest(disk: &LogDisk, edge: &MerkleFrontier) -> Result<HashMap<Sha256, u64>, LogError> {
    let whole = edge.size() / WIDTH;
    let first = whole.saturating_sub(REMEMBERED_MIN / WIDTH);
    let mut leaves = Vec::new();
    for number in first..whole {
        leaves.extend(read_hashes(disk, Tile { kind: TileKind::Hashes(0), number, width: WIDTH })?);
    }
    leaves.extend(edge.tiles.first().into_iter().flatten());
    Ok(leaves.into_iter().zip(first * WIDTH..).collect())
}

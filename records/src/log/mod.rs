//! The audit log: an append-only Merkle tree in the files of C2SP tlog-tiles, and its writer. An
//! entry must never be acknowledged before it survives a power cut. A later checkpoint must never
//! contradict a signed one that may have been published.
//!
//! # Order of writes
//!
//! [`Log::append`] appends one entry:
//!
//! 1. It writes the bundle that now ends with the new entry (a new file, whose name states its
//!    width) and completed hash tiles, each synced with its directory. Then it writes the partial
//!    tiles of the right edge, unsynced, because they can be computed from the levels below.
//! 2. It replaces the checkpoint and syncs it with the directory. **At this moment the entry is in
//!    the log**; only then is it acknowledged.
//! 3. It saves the head outside the log, if one is kept (unsynced).
//! 4. It removes partial files whose whole ones exist.
//!
//! [`Log::prepare`] and [`Log::adopt`] append a batch without a sync of their own:
//!
//! 1. They write an empty draft next to the checkpoint, so that opening sees an unfinished batch.
//! 2. They write bundles and tiles, as the log has them after the whole batch; then the caller's
//!    files with the proofs; then the next checkpoint, one for the whole batch, as the draft.
//! 3. The caller's barrier makes the whole file system durable. **At this moment the entries are in
//!    the log**; from now on the proofs may be published.
//! 4. One rename turns the draft into the checkpoint. The caller's next barrier makes it durable.
//! 5. The saved head and the partial files follow, as above.
//!
//! Between 1 and 4 the log refuses other entries. Opening settles a batch that was not adopted.
//! Nothing is ever written under a name that the previous checkpoint covers: each file's name
//! states its width, and only files that grew are written. So a torn batch destroys nothing.
//!
//! # Recovery
//!
//! *After an interrupted append.* Before step 2 the checkpoint is the old one, and everything that
//! it covers exists. Files of another width, or whole files beyond it, belong to entries that were
//! never acknowledged. They may be torn; no checkpoint that covers them was ever published, and
//! later appends replace them. After step 2 the entry is in the log, although the caller does not
//! know: appending the same bytes again finds it among the latest [`BATCH_MAX`] or more entries and
//! returns its proof. After a crash in step 4 some partial files stay until the log is opened.
//!
//! *After an interrupted batch.* Opening finds a draft and settles it before anything else:
//!
//! | draft | meaning | action |
//! |---|---|---|
//! | not signed by this key, or not a note | torn: the barrier was not passed | remove it |
//! | larger, the entries on disk lead from the checkpoint's tree to its root, and the caller's files of these entries are intact ([`BatchCheck`]) | the barrier may have been passed | roll forward to it |
//! | larger, and any of these is lost | torn: the barrier was not passed | remove it |
//! | not larger, and the log has or had that root | already in the log | remove it |
//! | not larger, with another root | this key signed two histories | refuse the log |
//!
//! Rolling forward computes every file of the batch from the entries. It writes and syncs each file
//! before the file replaces the existing one, because after a failed barrier the page cache may
//! differ from the disk. Then it replaces the checkpoint, syncs it, and only then removes the
//! draft. A crash in between therefore leaves the state that it began with. Hash tiles may be torn:
//! their bytes come from the entries, and the signed root proves those.
//!
//! A removed draft was never published, so another head of its size may be signed. The removal is
//! durable before that, so that the two never coexist. A crash cannot cause the last row: such a
//! log was put together from two, or its key is used twice. Continuing it would betray the readers
//! of one history.
//!
//! *After adopting, before the next barrier,* the rename may be lost. Then the previous checkpoint
//! and the durable draft exist, and opening rolls forward again. Nothing is missing even if the
//! rename was lost and the removal of partial files was not: a partial file is the beginning of the
//! whole one, which the barrier made durable, and every reader falls back to the whole one. The
//! next batch's draft has another name, so it cannot replace a draft that is still needed. The
//! saved head may be ahead of the checkpoint by that batch, so it is compared only after rolling
//! forward.
//!
//! The barrier also makes new directories durable. A batch that died before its barrier leaves at
//! least the empty draft, which is written first. Opening syncs the file system before it settles a
//! draft. Otherwise a later append, which syncs only its own files and their directories, could
//! rely on directories that are not on the disk.
//!
//! Readers ignore drafts. Until the writer opens the log, they see it at the checkpoint.
//!
//! Opening reads the checkpoint, the last bundle, and the whole tiles of the right edge. It
//! computes the root and compares it with the signed one, so that a lost or changed edge is found
//! before anything is appended. Then it rewrites missing or wrong partial tiles of the edge, older
//! ones included, and removes partial files beyond it (`cleanup.rs`). It refuses a log that did not
//! grow out of its saved head, because readers of the other log would reject entries of this one.
//!
//! After a failed write or sync nothing more is appended until the log is opened again, because the
//! state of the kernel's pages is unknown.

mod append;
mod checkpoint;
mod cleanup;
mod disk;
pub mod entry;
mod error;
mod export;
mod files;
pub(crate) mod format;
mod frontier;
mod fsck;
mod key;
mod lock;
mod merkle;
mod note_key;
mod open;
mod persisted_state;
mod proof;
mod roll_forward;
mod scan;
mod tile;
mod trusted_root;
mod view;
mod witness;
mod witness_judge;
mod witness_signer;

pub use append::PreparedBatch;
pub use checkpoint::{Checkpoint, CheckpointError};
pub use entry::{KEY_CHANGE_NAMESPACE, KeyChange, KeyChangeError, KeyRole};
pub use error::{LogError, LogLoss};
pub use export::{ExportError, ExportSummary};
pub use format::BATCH_MAX;
pub use fsck::{LogFsckProblem, LogFsckReport, UncheckedLogFile, fsck};
pub use key::{LogKey, LogOrigin, NotAnOrigin, PublicLogKey};
pub use merkle::is_consistent;
pub use open::Log;
pub use persisted_state::{BatchCheck, LogLocation};
pub use proof::{Inclusion, ProofError};
pub use scan::{LogClaim, LogReconciliation, RECORD_BYTES_MAX};
pub use tile::ENTRY_BYTES_MAX;
pub use view::LogView;
pub use witness::{CosignedCheckpoint, WitnessKey, WitnessReplyError, checkpoint_in};
pub use witness_judge::{JudgedCheckpoint, WitnessRefusal, WitnessedLog, judge_add_checkpoint};
pub use witness_signer::WitnessSigner;

pub(crate) use checkpoint::decimal;
pub(crate) use entry::RotationKey;
pub(crate) use merkle::{HASHES_MAX, leaf_hash};
pub(crate) use trusted_root::trusted_root;

//! The audit log: an append-only Merkle tree in the files of C2SP tlog-tiles, and the one who
//! appends to it. An entry must never be acknowledged before it would survive the power going off,
//! and no signed checkpoint that anybody may have seen may ever be contradicted by a later one.
//!
//! # What is written, in this order
//!
//! By [`Log::append`], of one entry:
//!
//! 1. the bundle of entries that now ends with the new one (a new file, under the name that tells
//!    its width), and whole tiles of hashes, each synced with its directory; then the partial tiles
//!    on the right edge, not synced, since they can be computed from what lies below them;
//! 2. the checkpoint, in place of the older one, synced with the directory. **This is the moment at
//!    which the entry is in the log**, and only then is it acknowledged;
//! 3. where a head is kept beside the log, it becomes this one (not synced);
//! 4. partial files whose whole ones are there are removed.
//!
//! By [`Log::prepare`] and [`Log::adopt`], of a batch, with not one sync:
//!
//! 1. an empty draft beside the present checkpoint, so that opening knows that something was begun;
//! 2. bundles and tiles, in the forms that the log has after the whole batch; then what the caller
//!    writes with the proofs; then the next checkpoint, one for the whole batch, as the draft;
//! 3. the caller's barrier makes everything on the file system durable. **This is the moment at
//!    which the entries are in the log**: from now on the proofs may be shown;
//! 4. the draft becomes the checkpoint, by one renaming; the caller's next barrier makes it durable;
//! 5. the head that is kept, and the partial files, as above.
//!
//! Between 1 and 4 the log takes nothing else; a batch that is not adopted is for opening to settle.
//! Nothing is ever written under a name that the checkpoint before speaks of: each file's name tells
//! its width, and only files that grew are written. So what a torn batch leaves takes nothing away.
//!
//! # What a crash leaves, and what opening does about it
//!
//! *In an append.* Before 2 the checkpoint is the older one, and all that it speaks of is there: files
//! of another width, or whole ones beyond it, are of entries that were never acknowledged; they may
//! be torn; nobody was ever shown a checkpoint that speaks of them, and later appends replace them.
//! After 2 the entry is in the log though nobody was told: appending the same bytes again finds it
//! among the latest [`BATCH_MAX`] entries or more and gives its proof. After a crash in 4 some partial
//! files stay until the log is opened.
//!
//! *In a batch.* Opening finds a draft, and it decides before anything else is done with the log:
//!
//! | draft | what it is | what opening does |
//! |---|---|---|
//! | not signed by this key, or no note | torn: the barrier was not passed | removes it |
//! | larger, and the entries on the disk lead from the checkpoint's tree to its root | the barrier may have been passed | goes forward to it |
//! | larger, and they do not | torn: the barrier was not passed | removes it |
//! | as large or smaller, and the log has or had that root | what is in the log already | removes it |
//! | as large or smaller, with another root | this key signed two histories | refuses the log |
//!
//! Going forward computes every file of the batch from the entries, and writes each anew and synced
//! before it takes the place of the one there: after a barrier that failed, what can be read need not
//! be what is on the disk. Then the checkpoint is replaced, synced, and only then the draft removed. So
//! dying in it leaves what it began with. Tiles of hashes may have been torn: their bytes come from the
//! entries, and the root that was signed proves those. A draft that was removed never was one that
//! anybody was shown, so another head of its size may be signed; the removal is durable before that,
//! lest the two meet. The last row cannot be what a crash leaves: it is a log that was put
//! together from two, or a key that is used twice, and going on would choose for those who saw the
//! other.
//!
//! *After adopting*, until the next barrier, the renaming may be lost: then the checkpoint before is
//! there, and the draft, which is durable, and opening goes forward to it again. Even where the renaming
//! was lost and the removal of partial files was not, all is there: what the checkpoint before has in
//! a partial file stands at the beginning of the whole one, which the barrier made durable before, and
//! every reader takes that where the partial one is gone. The draft of the next batch has another name,
//! so it cannot take the place of one that is still needed. The head that is kept may be ahead
//! of the checkpoint by that batch; it is compared only after going forward.
//!
//! Directories that a batch made are durable by the barrier too. One that died before it leaves a draft,
//! if only an empty one, since that is written first, and opening syncs the file system before it settles one: so that a later
//! append, which syncs its own files and their directories alone, does not stand on what is not
//! there.
//!
//! Readers pass over drafts. Until the log is opened by its writer they see it at the checkpoint.
//!
//! Opening reads the checkpoint, the last bundle, and the whole tiles that the right edge is made
//! of; it computes the root and compares it with the one that is signed, so that an edge that was
//! lost or changed is found before anything is appended to it. Then it writes those partial tiles of
//! the edge anew that are not there as they should be, older ones included, and removes partial files
//! beyond it (`tidy.rs`). A log that did not grow out of the head that was
//! kept of it is refused: nobody who saw the other one would believe what is appended to this one.
//!
//! After a failed write or sync nothing more is appended until the log is opened again: what the
//! kernel did with the pages nobody knows.

mod append;
mod checkpoint;
mod disk;
mod edge;
pub mod entry;
mod error;
mod export;
mod files;
pub(crate) mod format;
mod forward;
mod fsck;
mod kept;
mod key;
mod lock;
mod merkle;
mod open;
mod proof;
mod scan;
mod tidy;
mod tile;
mod trusted_root;
mod view;
mod witness;

pub use append::Prepared;
pub use checkpoint::{Checkpoint, CheckpointFault};
pub use entry::{KEY_CHANGE_NAMESPACE, KeyChange, KeyChangeFault, KeyRole};
pub use error::{LogError, Lost};
pub use export::{ExportError, Exported};
pub use format::BATCH_MAX;
pub use fsck::{Fsck, FsckFault, NotChecked, fsck};
pub use kept::LogPlace;
pub use key::{LogKey, LogOrigin, NotAnOrigin, PublicLogKey};
pub use merkle::is_consistent;
pub use open::Log;
pub use proof::{Inclusion, ProofFault};
pub use scan::{Accounts, Claim, RECORD_BYTES_MAX};
pub use tile::ENTRY_BYTES_MAX;
pub use view::LogView;
pub use witness::{AnswerFault, Cosigned, WitnessKey, checkpoint_in};

pub(crate) use checkpoint::decimal;
pub(crate) use entry::ChangingKey;
pub(crate) use merkle::{HASHES_MAX, leaf_hash};
pub(crate) use trusted_root::trusted_root;

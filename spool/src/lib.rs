//! The spool: directories that are the states of requests, and the code that makes a state durable.
//!
//! ```text
//! approved/ ──claim──▶ work/<claim>/ ──stage──▶ staging/<claim>/ ──intent──▶ ledger ──▶ (run)
//!                                                      results/.new-<id>/ ──publish──▶ results/<id>/
//! ```
//!
//! Two arrows are barriers. The *intent* is durable before exec, and *published* is durable before
//! the original leaves `approved/`. Everything between them is either a pure function of durable
//! bytes or can be lost without harm. The ledger line of the intent uses a request up: it never
//! runs twice. This crate decides nothing about requests and runs nothing.
//!
//! Types that several files of a module share are in its `model.rs`, which imports definitions only
//! and none of the files that use it. Every other file imports downwards, so the modules have no
//! cycle.

#![forbid(unsafe_code)]

mod barrier;
mod beneath;
mod beside;
mod claim;
mod clock;
mod companions;
mod depart;
mod drafting;
mod dropbox;
mod durable;
mod error;
pub mod failpoint;
mod fresh;
mod given;
mod hashed;
mod ledger;
mod lock;
#[cfg(test)]
mod message_tests;
mod model;
mod orders;
mod permissions;
mod places;
mod pour;
mod promote;
mod public;
mod publish;
mod recover;
mod reserve;
pub mod retention;
mod room;
mod slot;
mod stage;
pub mod state;
mod store;
mod survey;
mod undeclared;
mod want;

pub use self::model::{Order, Ordered};
pub use barrier::OnItsWay;
pub use beside::{insist_unchanged, place_beside, replace_own};
pub use claim::{Claimed, ClaimedObject, Replayed};
pub use clock::LastKnown;
pub use drafting::Drafting;
pub use dropbox::{Dropbox, Listed, Submitted, Waiting, stem_of};
pub use error::SpoolError;
pub use hashed::Hashed;
pub use ledger::{
    BeginError, Begun, LedgerFault, LedgerOrder, NoncesUsed, Rebuilt, RunFacts, Seen, WasBegun,
    check_ledger, rebuild_ledger,
};
pub use permissions::{AnswerFate, DroppedAnswer, Durable, Filed, StoreError, new_traceparent};
pub use places::{Places, Spool};
pub use promote::{Dropped, Submission};
pub use public::{
    Alive, Counts, DaemonState, Held, Running, Seat, Status, Step, TellsPolicy, ToldError,
    ToldPermission, ToldPermissions, ToldWaiting, WAITING_TOLD_MAX, WaitsFor, WaitsSince,
    daemon_alive, held_in, running_in, tell_file, told_permissions, told_policy, told_status,
    waiting_in,
};
pub use publish::{Originals, Placed, Receipt, ResultDraft};
pub use recover::{Misplaced, Recovered, Unfinished};
pub use reserve::ReserveInUse;
pub use slot::EmptySlot;
pub use stage::{StageError, Staged};
pub use survey::{Daemon, Finding, Survey, Trouble, TroubleCode, is_spool, survey};
pub use want::Want;

//! The spool: directories that are the states of requests, and the code that makes a state durable.
//!
//! ```text
//! approved/ ──claim──▶ work/<claim>/ ──stage──▶ staging/<claim>/ ──intent──▶ ledger ──▶ (run)
//!                                                      results/.new-<id>/ ──publish──▶ results/<id>/
//! ```
//!
//! Two arrows are barriers: the *intent* is durable before exec, and *published* before the
//! original leaves `approved/`. Everything between them is a pure function of durable bytes, or can
//! be lost without harm. The ledger line of the intent uses a request up: it never runs twice. This
//! crate decides nothing about requests and runs nothing.
//!
//! [`clock`], [`random_bytes`] and [`ServiceManager`] are here because every program with a spool
//! uses them.
//!
//! Types that several files of a module share are in its `model.rs`, which imports definitions
//! only. Every file imports downwards, so the modules have no cycle.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod approver_files;
mod archive;
mod assigned_ids;
mod atomic_file;
mod barrier;
mod beneath;
mod claim;
pub mod clock;
mod copy;
mod disk_space;
mod draft_files;
mod draft_inputs;
mod error;
pub mod failpoint;
mod followed_file;
mod fsck;
mod hash_progress;
mod inbox;
mod input_store;
mod input_trees;
mod latest_time;
mod ledger;
mod lock;
#[cfg(test)]
mod message_tests;
mod model;
mod orders;
mod own_file;
mod paths;
mod permissions;
mod public;
mod publish;
mod random;
mod recover;
mod remembered_probes;
mod reserve;
pub mod retention;
mod service_manager;
mod shortage;
mod sidecars;
mod signed_actions;
mod signed_drafts;
mod slot;
mod stage;
mod standing;
mod standing_drafts;
mod standing_history;
pub mod state;
mod stored_standing;
mod submit;
mod sync;
mod undeclared;

pub use self::model::{OperatorOrder, PlacedOrder};
pub use approver_files::{check_unchanged, replace_unchanged, write_new_file, write_or_replace};
pub use barrier::BarrierArrival;
pub use claim::{Claimed, ClaimedObject, ReplaySource};
pub use draft_files::DraftFiles;
pub use error::{SpoolError, io_text};
pub use followed_file::{FollowedFile, ProgressMoment};
pub use fsck::{
    DaemonPresence, SpoolFinding, SpoolProblem, SpoolProblemCode, SpoolReport, check_spool,
    is_spool,
};
pub use hash_progress::HashProgress;
pub use inbox::{Inbox, InboxListing, SubmissionEntry, SubmissionName, stem_of};
pub use latest_time::LatestTime;
pub use ledger::{
    BeginError, Begun, LedgerFault, LedgerOrder, PriorRun, RebuildSummary, RunFacts, UsedNonces,
    WasBegun, check_ledger, rebuild_ledger,
};
pub use orders::GivenOrder;
pub use paths::{Spool, SpoolPaths};
pub use permissions::{
    AnswerDecision, FilingOutcome, FilingStep, OpenFiling, PermissionStore, PermissionStoreError,
    SubmittedAnswer, UnwrittenFiling, new_traceparent,
};
pub use public::{
    ActivePolicy, DaemonLiveness, DaemonState, HeldRequest, HoldReason, ProcessId,
    PublishedFileError, PublishedPermission, PublishedPermissions, PublishedStatus, PublishedUses,
    PublishedWaiting, RequestCounts, RunningRequest, RunningStep, WAITING_LISTED_MAX,
    WaitingRequest, daemon_liveness, held_requests, publish_file, published_permissions,
    published_policy, published_status, running_requests, waiting_requests,
};
pub use publish::{PlacedResult, Receipt, ResultDraft, SubmissionState};
pub use random::random_bytes;
pub use recover::{IllegalClaim, RecoveryReport, UnfinishedRun};
pub use remembered_probes::{RememberedProbe, RememberedProbes};
pub use reserve::ReserveInUse;
pub use service_manager::ServiceManager;
pub use shortage::Shortage;
pub use signed_actions::{
    DeliveredAction, SignedActionAnswer, SignedActionInbox, SignedActionLook, SignedActionMarks,
};
pub use signed_drafts::SignedDraft;
pub use slot::EmptySlot;
pub use stage::{StageError, Staged, folder_limits, folder_violation, write_input};
pub use standing::{StandingState, StoredProof, stored_standing_references};
pub use standing_drafts::SeenDrafts;
pub use standing_history::{
    StandingHistory, StandingRevocation, StandingUseEntry, read_stored_standing, standing_histories,
};
pub use stored_standing::StoredStanding;
pub use submit::{SubmissionFiles, SubmitOutcome};
pub use trees::open_beneath;

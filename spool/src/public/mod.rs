//! The files that the daemon publishes for readers in `public/` of the spool: `held/<file>.json`,
//! `waiting.json`, `running/<request id>.json`, `permissions.json`, `policy.yaml`, `status.json`,
//! `standing/SA-….md` and `standing/SA-….uses.json`.
//! No decision may depend on them: the daemon creates them anew at each start and reads none of
//! them. They are renamed into place whole and never synced; losing them in a crash is harmless.
//! `status.json` keeps space for its next version (`reserved_file.rs`), so that it can report a
//! full disk. Readers check with [`daemon_liveness`] that the daemon is still running.

mod held_requests;
mod liveness;
mod model;
mod permissions;
mod policy;
mod published_file;
mod reserved_file;
mod running;
mod standing;
mod standing_uses;
mod status;
mod waiting;

pub use self::model::{ActivePolicy, DaemonState, ProcessId, PublishedStatus, RequestCounts};
pub use held_requests::{HeldRequest, HoldReason, held_requests};
pub use liveness::{DaemonLiveness, daemon_liveness};
pub use permissions::{PublishedPermission, PublishedPermissions, published_permissions};
pub use policy::published_policy;
pub use published_file::publish_file;
pub(crate) use published_file::read_published;
pub use running::{RunningRequest, RunningStep, running_requests};
pub use standing_uses::PublishedUses;
pub use status::{PublishedFileError, published_status};
pub use waiting::{PublishedWaiting, WAITING_LISTED_MAX, WaitingRequest, waiting_requests};

use std::path::PathBuf;

use crate::paths::Spool;

impl Spool {
    fn public(&self) -> PathBuf {
        self.spool_dir().join("public")
    }
}

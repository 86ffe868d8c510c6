//! The files that the daemon publishes for readers, in `public/` of the spool: held requests
//! (`held/<file>.json`), waiting requests (`waiting.json`), requests in progress (`running/<request
//! id>.json`), the granted permissions (`permissions.json`), the active policy (`policy.yaml`), and
//! the daemon's status (`status.json`).
//!
//! No decision may depend on these files: the daemon creates them anew at each start and reads none
//! of them. They are renamed into place whole and never synced; losing them in a crash is harmless.
//! `status.json` keeps space for its next version (`kept_room.rs`), so that it can report a full
//! disk. Readers check with [`daemon_alive`] that the daemon is still running.

mod alive;
mod held;
mod kept_room;
mod model;
mod permissions;
mod policy;
mod running;
mod status;
mod tell;
mod waiting;

pub use self::model::{Counts, DaemonState, Seat, Status, TellsPolicy};
pub use alive::{Alive, daemon_alive};
pub use held::{Held, WaitsFor, held_in};
pub use permissions::{ToldPermission, ToldPermissions, told_permissions};
pub use policy::told_policy;
pub use running::{Running, Step, running_in};
pub use status::{ToldError, told_status};
pub use tell::tell_file;
pub use waiting::{ToldWaiting, WAITING_TOLD_MAX, WaitsSince, waiting_in};

use std::path::PathBuf;

use crate::places::Spool;

impl Spool {
    fn public(&self) -> PathBuf {
        self.spool_dir().join("public")
    }
}

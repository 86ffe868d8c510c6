//! What the daemon tells whoever looks, in `public/` of the spool: what waits for an answer
//! (`held/<file>.json`), what waits for its turn (`waiting.json`), what is being done
//! (`running/<request id>.json`), which permissions stand (`permissions.json`), which policy is in force
//! (`policy.yaml`), and how the daemon itself is (`status.json`).
//!
//! These files tell and must never decide: the daemon makes them anew at a start and reads none of them.
//! `status.json` keeps room for its next version (`kept_room.rs`), so that it tells of a full disk.
//! They are renamed into place whole and never synced; a crash may lose them, and then nothing is lost.
//! Whoever reads them asks [`daemon_alive`] whether the daemon that wrote them is still there.

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

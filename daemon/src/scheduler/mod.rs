//! The scheduler: takes submissions, several at once and fairly between submitters, until the
//! daemon is stopped. The event loop runs nothing itself; a worker takes each request to its end.
//!
//! The directory is authoritative. It is listed after the watch is set, after every inotify event,
//! and at an interval. The memory kept between two looks is bounded, regardless of the number of
//! submissions.

mod admit;
mod at_work;
mod event;
mod event_loop;
mod finish;
mod fitness;
mod look;
mod model;
mod probing;
mod publisher;
mod reload;
mod room;
mod tidy;
mod watch;
mod window;
mod worker;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Instant;

use spool::Dropbox;

use self::model::Orders;
pub use self::model::Pace;
use crate::held::HeldRequests;
use crate::host::Host;
use crate::metrics::MetricsSettings;
use crate::model::Halt;
use at_work::AtWork;
use fitness::Fitness;
use publisher::StatusPublisher;
use window::Window;

/// A daemon for one spool.
pub struct Service {
    host: Host,
    dropbox: Dropbox,
    pace: Pace,
    config: PathBuf,
    metrics: MetricsSettings,
}

impl Service {
    /// Returns a service; a reload reads the file `config` again.
    #[must_use]
    pub fn new(
        host: Host,
        dropbox: Dropbox,
        pace: Pace,
        config: PathBuf,
        metrics: MetricsSettings,
    ) -> Self {
        Self { host, dropbox, pace, config, metrics }
    }

    /// Serves until the daemon is stopped; running requests are drained first.
    ///
    /// # Errors
    /// [`Halt`]: the daemon's own disk or key failed; nothing more was admitted.
    pub fn run(self) -> Result<(), Halt> {
        let Self { host, dropbox, pace, config, metrics } = self;
        let publisher = StatusPublisher::new(&host, metrics)?;
        let now = AtomicBool::new(false);
        let orders = Orders { stopped: OnceLock::new(), drain: pace.drain, now };
        let (send, events) = channel();
        watch::listen(send.clone())?;
        let served = thread::scope(|scope| {
            let hinted = Arc::new(AtomicBool::new(false));
            let watcher = watch::watch(dropbox.path(), send.clone(), Arc::clone(&hinted));
            let now = Instant::now();
            let mut at_work = AtWork {
                scope,
                host: &host,
                orders: &orders,
                dropbox: Arc::new(dropbox),
                watcher,
                hinted,
                send,
                pace,
                config,
                window: Window::default(),
                companions: BTreeMap::new(),
                in_flight: BTreeMap::new(),
                held: HeldRequests::default(),
                left_alone: BTreeMap::new(),
                empty: None,
                look_wanted: true,
                next_look: now,
                next_rescan: now,
                next_tidying: now,
                tidying: None,
                next_room_look: now,
                halted: None,
                fitness: Fitness::default(),
                publisher,
            };
            at_work.serve(&events)
        });
        host.give_up_ready();
        served
    }
}

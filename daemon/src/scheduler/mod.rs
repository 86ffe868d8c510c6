//! The scheduler: takes submissions, several at once and fairly between submitters, until the
//! daemon is stopped. The event loop runs nothing itself; a worker takes each request to its end. A
//! thread of its own uses the directories in which agents and the console write.
//!
//! The directory is authoritative. It is listed after the watch is set, after every inotify event,
//! and at an interval. The memory kept between two looks is bounded for any number of files.

mod accelerators;
mod action_taking;
mod admit;
mod draft_delay;
mod draft_signals;
mod draft_thread;
mod event;
mod event_loop;
mod finish;
mod fitness;
mod gate;
mod loop_state;
mod model;
mod probing;
mod publisher;
mod reload;
mod retention;
mod scan;
mod shortage;
mod signed_actions;
mod standing_drafts;
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

use spool::Inbox;

pub use self::model::LoopConfig;
use self::model::StopState;
use crate::environments;
use crate::held_requests::HeldRequests;
use crate::metrics::MetricsSettings;
use crate::model::DaemonError;
use crate::state::Daemon;
use draft_delay::DraftDelay;
use draft_thread::DraftThreadHandle;
use fitness::HostFitness;
use loop_state::EventLoop;
use publisher::StatusPublisher;
use window::SubmissionWindow;

/// A daemon for one spool.
pub struct DaemonService {
    host: Daemon,
    dropbox: Inbox,
    loop_config: LoopConfig,
    config: PathBuf,
    metrics: MetricsSettings,
}

impl DaemonService {
    /// A reload reads the file `config` again.
    #[must_use]
    pub fn new(
        host: Daemon,
        dropbox: Inbox,
        loop_config: LoopConfig,
        config: PathBuf,
        metrics: MetricsSettings,
    ) -> Self {
        Self { host, dropbox, loop_config, config, metrics }
    }

    /// Serves until the daemon is stopped; running requests are drained first.
    ///
    /// # Errors
    /// [`DaemonError`]: the daemon's own disk or key failed; nothing more was admitted.
    pub fn run(self) -> Result<(), DaemonError> {
        let Self { host, dropbox, loop_config, config, metrics } = self;
        let (host, dropbox) = (Arc::new(host), Arc::new(dropbox));
        environments::create_store(&host.environments);
        let publisher = StatusPublisher::new(&host, metrics)?;
        let now = AtomicBool::new(false);
        let orders = StopState {
            stopped_at: OnceLock::new(),
            shutdown_grace: loop_config.shutdown_grace,
            is_immediate: now,
        };
        let (send, events) = channel();
        watch::listen_for_signals(send.clone())?;
        let hinted = Arc::new(AtomicBool::new(false));
        let ends = (send.clone(), Arc::clone(&hinted));
        let drafts = DraftThreadHandle::start(Arc::clone(&host), Arc::clone(&dropbox), ends)?;
        let served = thread::scope(|scope| {
            let gate = gate::follow(scope, &host, &orders, send.clone())?;
            let watcher = watch::watch(dropbox.path(), send.clone(), Arc::clone(&hinted));
            let now = Instant::now();
            let mut at_work = EventLoop {
                scope,
                host: &host,
                stop_state: &orders,
                dropbox,
                watcher,
                has_queued_event: hinted,
                send,
                loop_config,
                config_path: config,
                window: SubmissionWindow::default(),
                sidecars: BTreeMap::new(),
                in_flight: BTreeMap::new(),
                held: HeldRequests::default(),
                ignored: BTreeMap::new(),
                empty_listing: None,
                draft_signals: Arc::clone(&drafts.signals),
                draft_delay: DraftDelay::default(),
                scan_wanted: true,
                next_scan: now,
                next_rescan: now,
                next_cleanup: now,
                cleanup: None,
                next_space_check: now,
                error: None,
                fitness: HostFitness::default(),
                is_trying_accelerators: false,
                must_try_accelerators_again: false,
                publisher,
            };
            let served = at_work.serve(&events);
            // It must not sleep until its next query.
            if let Some(gate) = &gate {
                gate.thread().unpark();
            }
            served
        });
        host.end_prewarmed();
        drafts.finish(&host);
        served
    }
}

//! Sources of events: inotify and signals. An inotify event only causes a look; the next rescan
//! makes up for a lost one.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind, RenameMode};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::event::LoopEvent;
use crate::model::DaemonError;

/// Watches a directory, if the kernel supports it. Otherwise the rescan finds all changes later.
pub(super) fn watch(
    directory: &Path,
    events: Sender<LoopEvent>,
    hinted: Arc<AtomicBool>,
) -> Option<RecommendedWatcher> {
    let hint = move |event: notify::Result<notify::Event>| {
        // One unhandled event is enough to cause a look.
        if event.as_ref().is_ok_and(is_irrelevant) || hinted.swap(true, Ordering::SeqCst) {
            return;
        }
        if events.send(LoopEvent::Submitted).is_err() {
            tracing::debug!("an inotify event after the end of the event loop");
        }
    };
    let watched = notify::recommended_watcher(hint).and_then(|mut watcher| {
        watcher.watch(directory, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    match watched {
        Ok(watcher) => Some(watcher),
        Err(error) => {
            tracing::warn!(%error, "inotify is not available; scanning only every scan_interval_sec");
            None
        }
    }
}

/// Opening, reading, and removals, which are mostly the daemon's own, report no new submission.
fn is_irrelevant(event: &notify::Event) -> bool {
    let quiet = matches!(
        event.kind,
        EventKind::Access(
            AccessKind::Open(_) | AccessKind::Read | AccessKind::Close(AccessMode::Read)
        ) | EventKind::Remove(_)
            | EventKind::Modify(ModifyKind::Name(RenameMode::From))
    );
    quiet && !event.need_rescan()
}

/// The time that the process has to end by itself after a second stop signal.
const FINAL_WAIT: Duration = Duration::from_secs(3);

/// Turns signals into events, for the rest of the process. The second stop signal ends the process
/// even if threads are blocked; so does the first one if the event loop has ended.
pub(super) fn listen_for_signals(events: Sender<LoopEvent>) -> Result<(), DaemonError> {
    let failed = |error| DaemonError::System("wait for signals", error);
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).map_err(failed)?;
    let listen = move || {
        let mut stopping = false;
        for signal in signals.forever() {
            let is_stop = signal != SIGHUP;
            let event = match (is_stop, stopping) {
                (false, _) => LoopEvent::Reload,
                (true, false) => LoopEvent::Stop,
                (true, true) => LoopEvent::StopNow,
            };
            let is_last = matches!(event, LoopEvent::StopNow);
            let heard = events.send(event).is_ok();
            if is_stop && (is_last || !heard) {
                if heard {
                    thread::sleep(FINAL_WAIT);
                }
                end_with_signal(signal);
            }
            stopping |= is_stop;
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(listen).map_err(failed)?;
    Ok(())
}

/// Ends this process with the default action of the signal. The next start recovers.
fn end_with_signal(signal: i32) {
    tracing::error!("a thread does not end; the process ends by signal {signal}");
    if let Err(error) = signal_hook::low_level::emulate_default_handler(signal) {
        tracing::error!("cannot end by signal {signal}: {error}");
        std::process::abort();
    }
}

//! What wakes the loop: hints of the kernel that something was dropped, signals, and workers that have
//! ended. A hint is never more than a reason to look; one that is lost is made up for by the next look.

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
use crate::model::Halt;

/// Hints, if the kernel gives any; without them the rescan alone finds everything, later.
pub(super) fn watch(
    directory: &Path,
    events: Sender<LoopEvent>,
    hinted: Arc<AtomicBool>,
) -> Option<RecommendedWatcher> {
    let hint = move |event: notify::Result<notify::Event>| {
        // One that was not heard yet says as much as a thousand.
        if event.as_ref().is_ok_and(says_nothing_new) || hinted.swap(true, Ordering::SeqCst) {
            return;
        }
        // A receiver that is gone has no use for hints.
        if events.send(LoopEvent::Dropped).is_err() {
            tracing::debug!("hint after the end");
        }
    };
    let watched = notify::recommended_watcher(hint).and_then(|mut watcher| {
        watcher.watch(directory, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    match watched {
        Ok(watcher) => Some(watcher),
        Err(error) => {
            tracing::warn!(%error, "no hints from the kernel; looking every rescan_sec only");
            None
        }
    }
}

/// Opening, reading and closing without a write say nothing of the directory's content; what goes away
/// is most often taken away by us.
fn says_nothing_new(event: &notify::Event) -> bool {
    let quiet = matches!(
        event.kind,
        EventKind::Access(
            AccessKind::Open(_) | AccessKind::Read | AccessKind::Close(AccessMode::Read)
        ) | EventKind::Remove(_)
            | EventKind::Modify(ModifyKind::Name(RenameMode::From))
    );
    quiet && !event.need_rescan()
}

/// After the second request to stop the process ends by itself within this time, or by the signal.
const LAST_TIME_MAX: Duration = Duration::from_secs(3);

/// Has signals come as events, for as long as the process lives. A second request to stop ends the process
/// whatever its other threads wait for, and so does the first where nobody hears events any more.
pub(super) fn listen(events: Sender<LoopEvent>) -> Result<(), Halt> {
    let failed = |error| Halt::Kernel("wait for signals", error);
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
                    thread::sleep(LAST_TIME_MAX);
                }
                end_by(signal);
            }
            stopping |= is_stop;
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(listen).map_err(failed)?;
    Ok(())
}

/// Ends this process as the signal would have without us. What is lost by it is told by the next start.
fn end_by(signal: i32) {
    tracing::error!("a thread does not end; ending by signal {signal}");
    if let Err(error) = signal_hook::low_level::emulate_default_handler(signal) {
        tracing::error!("ending by signal {signal}: {error}");
        std::process::abort();
    }
}

//! The hostile suite: one small program for each way out of a sandbox. Each runs in both modes and
//! under the other installed launchers; then the suite looks for anything left on the host. A case
//! is a source file below `tests/hostile/`. Its opening comment states the attack and the expected
//! result (keys: `tests/hostile/README.md`). Must never judge a run by anything but its record and
//! files, nor harm the host under a launcher without limits: the programs limit themselves.

mod build;
mod case;
mod judge;
mod launcher;
mod leftovers;
mod other_launcher;
mod runner;
mod table;
mod targets;

pub use build::{BuiltCase, CaseDirectory};
pub use case::{CaseMode, HostileCase};
pub use judge::{CaseVerdict, judge};
pub use launcher::ForeignLauncher;
pub use leftovers::HostLeftovers;
pub use other_launcher::OtherLauncherRunner;
pub use runner::{CaseRun, CaseRunner};
pub use table::CaseTable;
pub use targets::HostTargets;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Applies `act` to each item, two at a time. Results are in the order of the items.
///
/// # Panics
/// Panics if `act` panics.
pub fn two_at_a_time<T: Sync, R: Send>(items: &[T], act: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((at, item)) = Some(next.fetch_add(1, Ordering::Relaxed))
                    .and_then(|at| Some((at, items.get(at)?)))
                {
                    let answer = act(item);
                    done.lock().unwrap().push((at, answer));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, answer)| answer).collect()
}

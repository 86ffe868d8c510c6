//! Divides the subdirectories of one directory between two threads, for both walks of a stamp. The
//! result must never depend on which thread took a subdirectory.

use std::collections::BTreeMap;
use std::iter;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use model::Sha256;

/// The stamps of subdirectories by their position.
pub(crate) type StampsByPosition = BTreeMap<usize, Sha256>;

/// Calls `work` in two threads with the positions that each one takes of those below `count`.
/// Without a second thread, this one takes all.
pub(crate) fn in_two_threads<E: Send>(
    count: usize,
    work: impl Fn(&mut dyn Iterator<Item = usize>) -> Result<Vec<(usize, Sha256)>, E> + Sync,
) -> Result<StampsByPosition, E> {
    if count == 0 {
        return Ok(StampsByPosition::new());
    }
    let next = AtomicUsize::new(0);
    let take = || {
        let position = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < count);
        work(&mut iter::from_fn(position))
    };
    thread::scope(|scope| {
        let other = thread::Builder::new().name("stamp".to_owned()).spawn_scoped(scope, take);
        let mut stamps: StampsByPosition = take()?.into_iter().collect();
        if let Ok(other) = other {
            match other.join() {
                Ok(more) => stamps.extend(more?),
                Err(panic) => resume_unwind(panic),
            }
        }
        Ok(stamps)
    })
}

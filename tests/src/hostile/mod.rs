//! The hostile suite: one small program per way out of a cell, run in both modes and, where they are
//! installed, under other launchers; and a look at what is left of it all.
//!
//! A case is a source file below `tests/hostile/` whose opening comment says what it tries and what must
//! become of it (`tests/hostile/README.md` has the words). Nothing here may judge a run by anything but
//! its record and its files, or harm the host where a launcher has no limits: the programs cap themselves.

mod built;
mod case;
mod cell;
mod elsewhere;
mod host;
mod judge;
mod launcher;
mod remains;
mod table;

pub use built::{Built, Place};
pub use case::{Case, Mode};
pub use cell::{Cells, Got};
pub use elsewhere::Elsewhere;
pub use host::Host;
pub use judge::{Verdict, judge};
pub use launcher::Launcher;
pub use remains::Remains;
pub use table::Table;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Does one thing for each item, two at a time; the answers are in the items' order.
///
/// # Panics
/// The thing panics.
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

//! Parallel verification, one thread per core. Records are verified independently; only the checks
//! across records need an order. The verdicts are returned in the order of the directories.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, available_parallelism};

use records::{Trust, VerifiedRecord, VerifyError};

/// Limit of results per batch: their front matter is in memory until their verdicts are printed.
pub(super) const BATCH_RESULTS_MAX: usize = 256;

pub(super) type ResultVerdict = Result<VerifiedRecord, Vec<VerifyError>>;

pub(super) fn verify_all(dirs: &[PathBuf], trust: &Trust) -> Vec<ResultVerdict> {
    let threads = available_parallelism().map_or(1, NonZero::get).min(dirs.len());
    if threads < 2 {
        return dirs.iter().map(|dir| records::verify(dir, trust)).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut verdicts = Vec::new();
        while let Some((at, dir)) = take(dirs, &next) {
            verdicts.push((at, records::verify(dir, trust)));
        }
        verdicts
    };
    let mut verdicts: Vec<(usize, ResultVerdict)> = thread::scope(|scope| {
        let crew: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for member in crew {
            match member.join() {
                Ok(some) => all.extend(some),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    verdicts.sort_unstable_by_key(|(at, _)| *at);
    verdicts.into_iter().map(|(_, verdict)| verdict).collect()
}

fn take<'d>(dirs: &'d [PathBuf], next: &AtomicUsize) -> Option<(usize, &'d PathBuf)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    dirs.get(at).map(|dir| (at, dir))
}

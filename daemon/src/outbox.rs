//! Batches signed records: one thread publishes all records that wait at that time.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use records::Attested;
use spool::{Receipt, ResultDraft};

use crate::model::Halt;

/// A signed record and its unpublished result directory.
pub(crate) struct Letter {
    pub(crate) attested: Attested,
    pub(crate) result: ResultDraft,
}

/// Records that wait while one thread publishes a batch.
#[derive(Default)]
pub(crate) struct Outbox {
    queue: Mutex<OutboxQueue>,
    turned: Condvar,
}

#[derive(Default)]
struct OutboxQueue {
    next: u64,
    waiting: Vec<(u64, Letter)>,
    done: BTreeMap<u64, Result<Receipt, Halt>>,
    somebody_is_at_it: bool,
}

impl Outbox {
    /// Returns when the record is published and durable. `publish_all` publishes a batch and
    /// returns one result for each of its records.
    pub(crate) fn send(
        &self,
        letter: Letter,
        publish_all: impl Fn(Vec<Letter>) -> Vec<Result<Receipt, Halt>>,
    ) -> Result<Receipt, Halt> {
        let mut queue = self.lock();
        let ours = queue.next;
        queue.next += 1;
        queue.waiting.push((ours, letter));
        loop {
            if let Some(done) = queue.done.remove(&ours) {
                return done;
            }
            if queue.somebody_is_at_it {
                queue = self.turned.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            queue.somebody_is_at_it = true;
            let (numbers, letters): (Vec<_>, Vec<_>) =
                std::mem::take(&mut queue.waiting).into_iter().unzip();
            drop(queue);
            let done = publish_all(letters);
            queue = self.lock();
            queue.somebody_is_at_it = false;
            queue.done.extend(numbers.into_iter().zip(done));
            self.turned.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, OutboxQueue> {
        // Nothing that panics runs while it is held.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

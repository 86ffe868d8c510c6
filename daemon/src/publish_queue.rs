//! Batches signed records: one thread publishes all records that wait at that time.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use records::AttestedRecord;
use spool::{Receipt, ResultDraft};

use crate::model::DaemonError;

pub(crate) struct PendingRecord {
    pub(crate) attested: AttestedRecord,
    pub(crate) result: ResultDraft,
}

#[derive(Default)]
pub(crate) struct PublishQueue {
    queue: Mutex<PublishQueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct PublishQueueState {
    next: u64,
    waiting: Vec<(u64, PendingRecord)>,
    done: BTreeMap<u64, Result<Receipt, DaemonError>>,
    is_publishing: bool,
}

impl PublishQueue {
    /// Returns when the record is durable. `publish_all` returns one result for each record.
    pub(crate) fn publish(
        &self,
        letter: PendingRecord,
        publish_all: impl Fn(Vec<PendingRecord>) -> Vec<Result<Receipt, DaemonError>>,
    ) -> Result<Receipt, DaemonError> {
        let mut queue = self.lock();
        let ours = queue.next;
        queue.next += 1;
        queue.waiting.push((ours, letter));
        loop {
            if let Some(done) = queue.done.remove(&ours) {
                return done;
            }
            if queue.is_publishing {
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            queue.is_publishing = true;
            let (numbers, letters): (Vec<_>, Vec<_>) =
                std::mem::take(&mut queue.waiting).into_iter().unzip();
            drop(queue);
            let done = publish_all(letters);
            queue = self.lock();
            queue.is_publishing = false;
            queue.done.extend(numbers.into_iter().zip(done));
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, PublishQueueState> {
        // Nothing that panics runs while it is held.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

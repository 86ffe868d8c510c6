//! Lets starts go first. A tool waits for its start, and no caller waits for a report, but both need
//! the same thread and the same server.

use std::cell::Cell;
use std::time::Duration;

use model::Sha256;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::database::{BlobRows, Database, DatabaseError};

/// The longest wait before one call of a report. Under steady load there is always a start.
const WAIT_MAX: Duration = Duration::from_millis(20);

/// The number of starts that are being decided.
#[derive(Default)]
pub(super) struct StartPriority {
    deciding: Cell<u32>,
    decided: Notify,
}

/// A start that is being decided.
pub(super) struct PriorStart<'p>(&'p StartPriority);

impl StartPriority {
    /// Notes a start until the returned value is dropped.
    pub(super) fn begin(&self) -> PriorStart<'_> {
        self.deciding.set(self.deciding.get().saturating_add(1));
        PriorStart(self)
    }

    /// Waits until no start is being decided, but not longer than 20 ms.
    pub(super) async fn wait(&self) {
        // Without the end of the starts the call goes on too.
        timeout(WAIT_MAX, self.all_decided()).await.unwrap_or_default();
    }

    async fn all_decided(&self) {
        while self.deciding.get() > 0 {
            self.decided.notified().await;
        }
    }
}

impl Drop for PriorStart<'_> {
    fn drop(&mut self) {
        self.0.deciding.set(self.0.deciding.get().saturating_sub(1));
        self.0.decided.notify_waiters();
    }
}

/// The blobs of a database, each of whose calls waits for the starts.
pub(super) struct ReportBlobs<'p> {
    pub(super) priority: &'p StartPriority,
    pub(super) database: &'p mut Database,
}

impl BlobRows for ReportBlobs<'_> {
    async fn has_bytes(&mut self, sha256: &Sha256) -> Result<bool, DatabaseError> {
        self.priority.wait().await;
        self.database.has_bytes(sha256).await
    }

    async fn put_bytes(&mut self, sha256: &Sha256, bytes: &[u8]) -> Result<(), DatabaseError> {
        self.priority.wait().await;
        self.database.put_bytes(sha256, bytes).await
    }

    async fn get_bytes(
        &mut self,
        sha256: &Sha256,
        bytes_max: u64,
    ) -> Result<Option<Vec<u8>>, DatabaseError> {
        self.priority.wait().await;
        self.database.get_bytes(sha256, bytes_max).await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        let builder = &mut tokio::runtime::Builder::new_current_thread();
        builder.enable_time().build().unwrap().block_on(work)
    }

    #[test]
    fn a_report_waits_for_every_start() {
        let priority = StartPriority::default();
        block_on(async {
            priority.all_decided().await;
            let (first, second) = (priority.begin(), priority.begin());
            let ends = async {
                drop(first);
                tokio::task::yield_now().await;
                assert_eq!(priority.deciding.get(), 1);
                drop(second);
            };
            let woken = async { tokio::join!(biased; priority.all_decided(), ends) };
            assert!(timeout(Duration::from_secs(60), woken).await.is_ok(), "it was not woken");
            assert_eq!(priority.deciding.get(), 0);
        });
    }

    #[test]
    fn a_report_does_not_wait_forever() {
        let priority = StartPriority::default();
        let _start = priority.begin();
        let begun = Instant::now();
        block_on(priority.wait());
        assert!(begun.elapsed() >= WAIT_MAX);
    }
}

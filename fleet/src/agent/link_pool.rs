//! The connections that decide starts. They are separate from all others, so that a large upload
//! never delays a start.

use std::cell::RefCell;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

use super::link::DatabaseLink;

/// The most starts that are decided at once.
const LINKS_MAX: usize = 4;

/// A few connections for short calls.
pub(super) struct LinkPool {
    application: &'static str,
    timeout: Duration,
    permits: Semaphore,
    idle: RefCell<Vec<DatabaseLink>>,
}

/// A connection that is in use, with its place in the pool.
pub(super) struct PooledLink<'p> {
    pool: &'p LinkPool,
    link: Option<DatabaseLink>,
    _permit: Option<SemaphorePermit<'p>>,
}

impl LinkPool {
    pub(super) fn new(application: &'static str, timeout: Duration) -> Self {
        let permits = Semaphore::new(LINKS_MAX);
        Self { application, timeout, permits, idle: RefCell::new(Vec::new()) }
    }

    /// Waits for a free connection. An open one is preferred.
    pub(super) async fn take(&self) -> PooledLink<'_> {
        // The semaphore is never closed.
        let permit = self.permits.acquire().await.ok();
        let link = self.idle.borrow_mut().pop();
        let link = link.unwrap_or_else(|| DatabaseLink::new(self.application, self.timeout));
        PooledLink { pool: self, link: Some(link), _permit: permit }
    }
}

impl PooledLink<'_> {
    /// Returns the connection.
    pub(super) fn link(&mut self) -> &mut DatabaseLink {
        let (application, timeout) = (self.pool.application, self.pool.timeout);
        self.link.get_or_insert_with(|| DatabaseLink::new(application, timeout))
    }
}

impl Drop for PooledLink<'_> {
    fn drop(&mut self) {
        if let Some(link) = self.link.take().filter(|link| !link.is_closed()) {
            self.pool.idle.borrow_mut().push(link);
        }
    }
}

//! Wake-ups. They are hints: every caller also looks at the tables from time to time.

use std::time::Duration;

use tokio_postgres::types::Type;

use super::bound::SqlValues;
use super::connection::Database;
use super::error::DatabaseError;
use super::fault::{ServerFault, ServerFaultKind};
use super::host_model::Channel;

const NOTIFY: &str = "SELECT pg_notify($1, '')";

impl Database {
    /// Begins to listen.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub(crate) async fn listen(&mut self, channel: Channel) -> Result<(), DatabaseError> {
        let statement = format!("LISTEN {channel}");
        self.bound.run("listen for requests", self.client.batch_execute(&statement)).await
    }

    /// Waits for the next wake-up, at most this long. Returns true if one came.
    ///
    /// # Errors
    /// [`DatabaseError`] if the connection has ended.
    pub(crate) async fn wait_for_notice(
        &mut self,
        at_most: Duration,
    ) -> Result<bool, DatabaseError> {
        let is_woken = tokio::time::timeout(at_most, self.woken.notified()).await.is_ok();
        if self.client.is_closed() {
            let fault = ServerFault::own(ServerFaultKind::Closed);
            return Err(DatabaseError::Statement { act: "wait for it", fault });
        }
        Ok(is_woken)
    }

    /// Wakes the others. It is a transaction of its own, because the server takes one lock for the
    /// commits of all transactions that notify. A failure only costs time.
    pub(super) async fn wake(&mut self, channel: Channel) {
        let values: SqlValues<'_> = &[(&channel.as_str(), Type::TEXT)];
        if let Err(error) = self.bound.query("notify", &self.client, NOTIFY, values).await {
            tracing::debug!("{error}");
        }
    }
}

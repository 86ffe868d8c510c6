//! The access to the database's rows of logs, and the faults of one round.

use std::collections::BTreeSet;
use std::mem;

use fleet::model::HostName;

use crate::database::{CheckpointRow, CosignatureRow, Database, DatabaseError};

/// The rows of logs and their witnesses.
pub(crate) trait WitnessRows {
    /// Posts the newest checkpoint of a host, with the body of add-checkpoint for each witness.
    async fn put_checkpoint(
        &mut self,
        host: &HostName,
        size: u64,
        note: &str,
        proofs: &[(HostName, String)],
    ) -> Result<(), DatabaseError>;

    /// Returns the newest checkpoint of each other host.
    async fn checkpoints(
        &mut self,
        witness: &HostName,
    ) -> Result<Vec<CheckpointRow>, DatabaseError>;

    /// Posts a cosignature of this witness.
    async fn put_cosignature(
        &mut self,
        host: &HostName,
        witness: &HostName,
        size: u64,
        lines: &str,
    ) -> Result<(), DatabaseError>;

    /// Returns the newest cosignature of each witness of a host.
    async fn cosignatures(&mut self, host: &HostName)
    -> Result<Vec<CosignatureRow>, DatabaseError>;

    /// Posts that this witness saw a log which the host's checkpoint contradicts.
    async fn put_dispute(
        &mut self,
        host: &HostName,
        witness: &HostName,
        reason: &str,
        note: &str,
    ) -> Result<(), DatabaseError>;
}

impl WitnessRows for Database {
    async fn put_checkpoint(
        &mut self,
        host: &HostName,
        size: u64,
        note: &str,
        proofs: &[(HostName, String)],
    ) -> Result<(), DatabaseError> {
        Database::put_checkpoint(self, host, size, note, proofs).await
    }

    async fn checkpoints(
        &mut self,
        witness: &HostName,
    ) -> Result<Vec<CheckpointRow>, DatabaseError> {
        Database::checkpoints(self, witness).await
    }

    async fn put_cosignature(
        &mut self,
        host: &HostName,
        witness: &HostName,
        size: u64,
        lines: &str,
    ) -> Result<(), DatabaseError> {
        Database::put_cosignature(self, host, witness, size, lines).await
    }

    async fn cosignatures(
        &mut self,
        host: &HostName,
    ) -> Result<Vec<CosignatureRow>, DatabaseError> {
        Database::cosignatures(self, host).await
    }

    async fn put_dispute(
        &mut self,
        host: &HostName,
        witness: &HostName,
        reason: &str,
        note: &str,
    ) -> Result<(), DatabaseError> {
        Database::put_dispute(self, host, witness, reason, note).await
    }
}

/// The faults of a round, each logged once as long as it stays.
#[derive(Default)]
pub(super) struct WitnessFaults {
    before: BTreeSet<String>,
    found: BTreeSet<String>,
}

impl WitnessFaults {
    /// Begins a round. The faults of one that was interrupted were not logged.
    pub(super) fn begin(&mut self) {
        self.found.clear();
    }

    /// Adds a fault. The text has help.
    pub(super) fn add(&mut self, text: String) {
        self.found.insert(text);
    }

    /// Ends a round: logs the faults that the round before did not have.
    pub(super) fn end(&mut self) {
        for fault in self.found.difference(&self.before) {
            tracing::warn!("witness: {fault}");
        }
        if self.found.is_empty() && !self.before.is_empty() {
            tracing::info!("witness: works again");
        }
        self.before = mem::take(&mut self.found);
    }

    /// Returns the faults of the last round.
    #[cfg(test)]
    pub(super) fn last(&self) -> Vec<&str> {
        self.before.iter().map(String::as_str).collect()
    }
}

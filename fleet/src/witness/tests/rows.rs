//! The rows of a database that keeps them in memory.

use std::collections::BTreeMap;

use fleet::model::HostName;

use crate::database::{CheckpointRow, CosignatureRow, DatabaseError, WitnessRows};

/// The rows, under the conditions of the statements.
#[derive(Clone, Default)]
pub(super) struct MemoryLogRows {
    /// Size, note and time of the post.
    pub(super) checkpoints: BTreeMap<HostName, (u64, String, u64)>,
    /// By host and witness: size and body.
    pub(super) proofs: BTreeMap<(HostName, HostName), (u64, String)>,
    /// By host and witness: size and lines.
    pub(super) cosignatures: BTreeMap<(HostName, HostName), (u64, String)>,
    /// By host and witness: reason and note.
    pub(super) disputes: BTreeMap<(HostName, HostName), (String, String)>,
    /// The next cosignature is not accepted.
    pub(super) is_failing: bool,
    time_us: u64,
}

impl WitnessRows for MemoryLogRows {
    async fn put_checkpoint(
        &mut self,
        host: &HostName,
        size: u64,
        note: &str,
        proofs: &[(HostName, String)],
    ) -> Result<(), DatabaseError> {
        self.time_us += 1;
        self.checkpoints.insert(host.clone(), (size, note.to_owned(), self.time_us));
        for (witness, body) in proofs {
            self.proofs.insert((host.clone(), witness.clone()), (size, body.clone()));
        }
        Ok(())
    }

    async fn checkpoints(
        &mut self,
        witness: &HostName,
    ) -> Result<Vec<CheckpointRow>, DatabaseError> {
        let others = self.checkpoints.iter().filter(|(host, _)| *host != witness);
        let rows = others.map(|(host, (size, note, posted_us))| {
            let proof = self.proofs.get(&(host.clone(), witness.clone()));
            let proof = proof.filter(|(proved, _)| proved == size);
            CheckpointRow {
                host: host.clone(),
                size: *size,
                note: note.clone(),
                body: proof.map(|(_, body)| body.clone()),
                posted_us: *posted_us,
            }
        });
        Ok(rows.collect())
    }

    async fn put_cosignature(
        &mut self,
        host: &HostName,
        witness: &HostName,
        size: u64,
        lines: &str,
    ) -> Result<(), DatabaseError> {
        if std::mem::take(&mut self.is_failing) {
            return Err(DatabaseError::NoAuthorities);
        }
        let key = (host.clone(), witness.clone());
        if self.cosignatures.get(&key).is_none_or(|(before, _)| *before <= size) {
            self.cosignatures.insert(key, (size, lines.to_owned()));
        }
        Ok(())
    }

    async fn cosignatures(
        &mut self,
        host: &HostName,
    ) -> Result<Vec<CosignatureRow>, DatabaseError> {
        let of_host = self.cosignatures.iter().filter(|((owner, _), _)| owner == host);
        let rows = of_host.map(|((_, witness), (size, lines))| CosignatureRow {
            witness: witness.clone(),
            size: *size,
            lines: lines.clone(),
        });
        Ok(rows.collect())
    }

    async fn put_dispute(
        &mut self,
        host: &HostName,
        witness: &HostName,
        reason: &str,
        note: &str,
    ) -> Result<(), DatabaseError> {
        let dispute = (reason.to_owned(), note.to_owned());
        self.disputes.entry((host.clone(), witness.clone())).or_insert(dispute);
        Ok(())
    }
}

//! Checkpoints of logs, and the cosignatures and disputes of their witnesses. Each host verifies
//! all of them itself.

use fleet::model::HostName;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::bound::{SqlValues, retried};
use super::connection::Database;
use super::error::DatabaseError;
use super::host_model::{CheckpointRow, CosignatureRow};
use super::row::{bigint, count, field, host_name};
use crate::foreign_text::foreign_line;

const PUT: &str = "post its checkpoint";
const READ: &str = "read checkpoints";
const COSIGN: &str = "post a cosignature";
const DISPUTE: &str = "post a dispute";

const PUT_CHECKPOINT: &str = "INSERT INTO toolexec.checkpoint (host, size, note) \
     VALUES ($1, $2, $3) ON CONFLICT (host) DO UPDATE \
     SET size = EXCLUDED.size, note = EXCLUDED.note, posted_at = now()";

const PUT_PROOF: &str = "INSERT INTO toolexec.proof (host, size, witness, body) \
     VALUES ($1, $2, $3, $4) ON CONFLICT (host, witness) DO UPDATE \
     SET size = EXCLUDED.size, body = EXCLUDED.body";

const CHECKPOINTS: &str = "SELECT k.host, k.size, k.note, p.body, \
     (extract(epoch FROM k.posted_at) * 1000000)::bigint AS posted_us \
     FROM toolexec.checkpoint k \
     LEFT JOIN toolexec.proof p ON p.host = k.host AND p.witness = $1 AND p.size = k.size \
     WHERE k.host <> $1 ORDER BY k.host";

const PUT_COSIGNATURE: &str = "INSERT INTO toolexec.cosignature AS o (host, witness, size, lines) \
     VALUES ($1, $2, $3, $4) ON CONFLICT (host, witness) DO UPDATE \
     SET size = EXCLUDED.size, lines = EXCLUDED.lines, posted_at = now() \
     WHERE o.size <= EXCLUDED.size";

const COSIGNATURES: &str = "SELECT witness, size, lines FROM toolexec.cosignature \
     WHERE host = $1 ORDER BY witness";

/// The first dispute of a witness stays; later ones change nothing.
const PUT_DISPUTE: &str = "INSERT INTO toolexec.dispute (host, witness, reason, note) \
     VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";

/// The rows of logs and their witnesses.
pub(crate) trait WitnessRows {
    /// Posts the newest checkpoint of a host, with the body of add-checkpoint for each witness. A
    /// smaller one is posted too: the witnesses must see it.
    ///
    /// # Errors
    /// [`DatabaseError`].
    async fn put_checkpoint(
        &mut self,
        host: &HostName,
        size: u64,
        note: &str,
        proofs: &[(HostName, String)],
    ) -> Result<(), DatabaseError>;

    /// Returns the newest checkpoint of each other host.
    ///
    /// # Errors
    /// [`DatabaseError`].
    async fn checkpoints(
        &mut self,
        witness: &HostName,
    ) -> Result<Vec<CheckpointRow>, DatabaseError>;

    /// Posts a cosignature of this witness, unless it has cosigned a larger checkpoint.
    ///
    /// # Errors
    /// [`DatabaseError`].
    async fn put_cosignature(
        &mut self,
        host: &HostName,
        witness: &HostName,
        size: u64,
        lines: &str,
    ) -> Result<(), DatabaseError>;

    /// Returns the newest cosignature of each witness of a host.
    ///
    /// # Errors
    /// [`DatabaseError`].
    async fn cosignatures(&mut self, host: &HostName)
    -> Result<Vec<CosignatureRow>, DatabaseError>;

    /// Posts that this witness saw a log which the host's checkpoint does not extend. From then on
    /// the host claims and starts nothing.
    ///
    /// # Errors
    /// [`DatabaseError`].
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
        retried!(self.put_checkpoint_once(host, size, note, proofs))
    }

    async fn checkpoints(
        &mut self,
        witness: &HostName,
    ) -> Result<Vec<CheckpointRow>, DatabaseError> {
        let values: SqlValues<'_> = &[(&witness.as_str(), Type::TEXT)];
        let rows = self.bound.query(READ, &self.client, CHECKPOINTS, values).await?;
        rows.iter().map(read_checkpoint).collect()
    }

    async fn put_cosignature(
        &mut self,
        host: &HostName,
        witness: &HostName,
        size: u64,
        lines: &str,
    ) -> Result<(), DatabaseError> {
        let size = bigint(size, "size")?;
        let values: SqlValues<'_> = &[
            (&host.as_str(), Type::TEXT),
            (&witness.as_str(), Type::TEXT),
            (&size, Type::INT8),
            (&lines, Type::TEXT),
        ];
        self.bound.execute(COSIGN, &self.client, PUT_COSIGNATURE, values).await?;
        Ok(())
    }

    async fn cosignatures(
        &mut self,
        host: &HostName,
    ) -> Result<Vec<CosignatureRow>, DatabaseError> {
        let values: SqlValues<'_> = &[(&host.as_str(), Type::TEXT)];
        let rows = self.bound.query(READ, &self.client, COSIGNATURES, values).await?;
        rows.iter().map(read_cosignature).collect()
    }

    async fn put_dispute(
        &mut self,
        host: &HostName,
        witness: &HostName,
        reason: &str,
        note: &str,
    ) -> Result<(), DatabaseError> {
        let reason = foreign_line(reason);
        let values: SqlValues<'_> = &[
            (&host.as_str(), Type::TEXT),
            (&witness.as_str(), Type::TEXT),
            (&reason, Type::TEXT),
            (&note, Type::TEXT),
        ];
        self.bound.execute(DISPUTE, &self.client, PUT_DISPUTE, values).await?;
        Ok(())
    }
}

impl Database {
    async fn put_checkpoint_once(
        &mut self,
        host: &HostName,
        size: u64,
        note: &str,
        proofs: &[(HostName, String)],
    ) -> Result<(), DatabaseError> {
        let (bound, size) = (self.bound.clone(), bigint(size, "size")?);
        let host = host.as_str();
        let transaction = bound.begin(PUT, &mut self.client).await?;
        let client = transaction.client();
        let values: SqlValues<'_> =
            &[(&host, Type::TEXT), (&size, Type::INT8), (&note, Type::TEXT)];
        bound.execute(PUT, client, PUT_CHECKPOINT, values).await?;
        for (witness, body) in proofs {
            let values: SqlValues<'_> = &[
                (&host, Type::TEXT),
                (&size, Type::INT8),
                (&witness.as_str(), Type::TEXT),
                (body, Type::TEXT),
            ];
            bound.execute(PUT, client, PUT_PROOF, values).await?;
        }
        bound.commit(PUT, transaction).await
    }
}

fn read_checkpoint(row: &Row) -> Result<CheckpointRow, DatabaseError> {
    Ok(CheckpointRow {
        host: host_name(row, "host")?,
        size: count(row, "size")?,
        note: field(row, "note")?,
        body: field(row, "body")?,
        posted_us: count(row, "posted_us")?,
    })
}

fn read_cosignature(row: &Row) -> Result<CosignatureRow, DatabaseError> {
    Ok(CosignatureRow {
        witness: host_name(row, "witness")?,
        size: count(row, "size")?,
        lines: field(row, "lines")?,
    })
}

//! Beats of a host, and the figures that it gets in return.

use std::collections::BTreeMap;

use fleet::model::HostName;
use tokio_postgres::types::Type;

use super::bound::SqlValues;
use super::connection::Database;
use super::error::DatabaseError;
use super::host_model::BeatAnswer;
use super::lost_orders::LostOrderTrust;
use super::row::{count, field, host_name};

const ACT: &str = "beat";

/// The trigger sets the time, and counts.
const BEAT: &str = "INSERT INTO toolexec.host (name, labels) VALUES ($1, $2) \
     ON CONFLICT (name) DO UPDATE SET labels = EXCLUDED.labels RETURNING beats";

const FIGURES: &str = "SELECT \
     EXISTS (SELECT 1 FROM toolexec.lost l JOIN toolexec.host h ON h.name = l.host \
         WHERE l.host = $1 AND (h.returned_at IS NULL OR h.returned_at <= l.declared_at)) \
         AS is_lost, \
     (SELECT count(*) FROM toolexec.claim WHERE state = 'queued') AS queued, \
     (SELECT count(*) FROM toolexec.cosignature o JOIN toolexec.checkpoint k ON k.host = o.host \
         WHERE o.host = $1 AND o.size >= k.size) AS witnesses";

const AGES: &str =
    "SELECT name, extract(epoch FROM now() - beat_at)::float8 AS age_sec FROM toolexec.host";

/// Only disputes of known hosts: a witness can write any name.
const DISPUTES: &str = "SELECT d.host, d.witness, d.reason FROM toolexec.dispute d \
     JOIN toolexec.host h ON h.name = d.host ORDER BY d.host, d.witness";

const RETURNED: &str = "UPDATE toolexec.host SET returned_at = now() WHERE name = $1";

impl Database {
    /// Beats, and returns the figures of the fleet. The orders about lost hosts are checked by
    /// `trust`.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub(crate) async fn beat(
        &mut self,
        host: &HostName,
        labels: &[HostName],
        trust: &LostOrderTrust,
    ) -> Result<BeatAnswer, DatabaseError> {
        let (name, missing) = (host.as_str(), || DatabaseError::Value { column: "beats" });
        let labels: Vec<&str> = labels.iter().map(HostName::as_str).collect();
        let values: SqlValues<'_> = &[(&name, Type::TEXT), (&labels, Type::TEXT_ARRAY)];
        let beat = self.bound.query(ACT, &self.client, BEAT, values).await?;
        let figures = self.bound.query(ACT, &self.client, FIGURES, &values[..1]).await?;
        let ages = self.bound.query(ACT, &self.client, AGES, &[]).await?;
        let disputes = self.bound.query(ACT, &self.client, DISPUTES, &[]).await?;
        let lost_order_defect = trust.defect(ACT, &self.bound, &self.client).await?;
        let figures = figures.first().ok_or_else(missing)?;
        let mut answer = BeatAnswer {
            beats: count(beat.first().ok_or_else(missing)?, "beats")?,
            is_lost: field(figures, "is_lost")?,
            lost_order_defect,
            disputed_by: Vec::new(),
            queued: count(figures, "queued")?,
            beat_age_sec: BTreeMap::new(),
            witnesses: count(figures, "witnesses")?,
            disputed: Vec::new(),
        };
        for row in &ages {
            answer.beat_age_sec.insert(field(row, "name")?, field(row, "age_sec")?);
        }
        for row in &disputes {
            let (disputed, witness): (String, _) =
                (field(row, "host")?, host_name(row, "witness")?);
            if disputed == name {
                answer.disputed_by.push((witness, field(row, "reason")?));
            }
            answer.disputed.push(disputed);
        }
        answer.disputed.dedup();
        Ok(answer)
    }

    /// Remembers that a host which was declared lost has reported everything. It may claim again.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub(crate) async fn returned(&mut self, host: &HostName) -> Result<(), DatabaseError> {
        let values: SqlValues<'_> = &[(&host.as_str(), Type::TEXT)];
        self.bound.execute("return", &self.client, RETURNED, values).await?;
        Ok(())
    }
}

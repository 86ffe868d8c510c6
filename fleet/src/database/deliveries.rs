//! Standing approvals and additions that a host has not placed into its spool yet. An addition has
//! signature files that were submitted after their document.

use fleet::model::HostName;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::bound::SqlValues;
use super::connection::Database;
use super::error::DatabaseError;
use super::model::{ClaimAsk, RequestRow, RowDefect};
use super::row::{count, field};
use super::stored::{CHANGED, UNREADABLE, read_request, request_columns};
use super::sum::{addition_sum, request_sum};

const ACT: &str = "read deliveries";

/// The columns of an addition, after those of its document.
macro_rules! addition_columns {
    () => {
        ", a.manifest_sha256 AS a_manifest, a.bytes AS a_bytes, a.signatures AS a_signatures, \
         a.submitted_by AS a_submitted_by, a.sum AS a_sum "
    };
}

/// `$1` is the host, `$2` its labels, and `$3` whether it takes documents without an audience. `$4`
/// is the most rows, and `$5` has the keys of deliveries that wait.
const STANDING: &str = concat!(
    "SELECT ",
    request_columns!(),
    " FROM toolexec.request r WHERE r.kind = 'standing' \
     AND (r.audience = $1 OR r.audience = ANY ($2) OR (r.audience IS NULL AND $3)) \
     AND NOT EXISTS (SELECT 1 FROM toolexec.delivery d WHERE d.host = $1 \
     AND d.document_sha256 = r.document_sha256 AND d.manifest_sha256 = r.manifest_sha256) \
     AND r.id || ' with ' || r.manifest_sha256 <> ALL ($5) \
     ORDER BY r.submitted_at, r.id LIMIT $4"
);

/// Additions follow the delivery of their document, or the claim of their request.
const ADDITIONS: &str = concat!(
    "SELECT ",
    request_columns!(),
    addition_columns!(),
    "FROM toolexec.addition a \
     JOIN toolexec.request r ON r.id = a.request \
     LEFT JOIN toolexec.claim c ON c.request = r.id \
     WHERE ((c.host = $1 AND c.state = 'claimed') \
     OR (r.kind = 'standing' AND EXISTS (SELECT 1 FROM toolexec.delivery e WHERE e.host = $1 \
     AND e.document_sha256 = r.document_sha256 AND e.manifest_sha256 = r.manifest_sha256))) \
     AND NOT EXISTS (SELECT 1 FROM toolexec.delivery d WHERE d.host = $1 \
     AND d.document_sha256 = r.document_sha256 AND d.manifest_sha256 = a.manifest_sha256) \
     AND r.id || ' with ' || a.manifest_sha256 <> ALL ($3) \
     ORDER BY a.submitted_at, a.manifest_sha256 LIMIT $2"
);

/// `$1` is the request, and `$2` the most rows.
const ADDITIONS_OF: &str = concat!(
    "SELECT ",
    request_columns!(),
    addition_columns!(),
    "FROM toolexec.addition a JOIN toolexec.request r ON r.id = a.request WHERE r.id = $1 \
     ORDER BY a.submitted_at, a.manifest_sha256 LIMIT $2"
);

const DELIVERED: &str = "INSERT INTO toolexec.delivery (host, document_sha256, manifest_sha256) \
     VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";

impl Database {
    /// Returns undelivered standing approvals, then undelivered additions, at most the wanted
    /// number of each. A row of an addition is its document with the manifest, signatures and size
    /// of the addition. Those that wait for a later try take no places; `waiting` has their keys,
    /// each as [`delivery_key`] returns it.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub(crate) async fn deliveries(
        &mut self,
        ask: &ClaimAsk,
        waiting: &[String],
    ) -> Result<Vec<RequestRow>, DatabaseError> {
        let labels: Vec<&str> = ask.labels.iter().map(HostName::as_str).collect();
        let (host, most) = (ask.host.as_str(), i64::from(ask.count));
        let values: SqlValues<'_> = &[
            (&host, Type::TEXT),
            (&labels, Type::TEXT_ARRAY),
            (&ask.without_audience, Type::BOOL),
            (&most, Type::INT8),
            (&waiting, Type::TEXT_ARRAY),
        ];
        let standing = self.bound.query(ACT, &self.client, STANDING, values).await?;
        let values: SqlValues<'_> =
            &[(&host, Type::TEXT), (&most, Type::INT8), (&waiting, Type::TEXT_ARRAY)];
        let additions = self.bound.query(ACT, &self.client, ADDITIONS, values).await?;
        let standing = standing.iter().map(sound_document);
        Ok(self.keep_sound(standing.chain(additions.iter().map(sound_addition))))
    }

    /// Returns the additions to a document, the oldest first, at most this many, each as in
    /// [`Self::deliveries`].
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub(crate) async fn additions(
        &mut self,
        request: &str,
        count_max: u32,
    ) -> Result<Vec<RequestRow>, DatabaseError> {
        let most = i64::from(count_max);
        let values: SqlValues<'_> = &[(&request, Type::TEXT), (&most, Type::INT8)];
        let rows = self.bound.query(ACT, &self.client, ADDITIONS_OF, values).await?;
        Ok(self.keep_sound(rows.iter().map(sound_addition)))
    }

    /// Returns the sound rows, and remembers the defects of the others.
    fn keep_sound(
        &mut self,
        judged: impl Iterator<Item = Result<RequestRow, RowDefect>>,
    ) -> Vec<RequestRow> {
        let mut sound = Vec::new();
        for row in judged {
            match row {
                Ok(row) => sound.push(row),
                Err(defect) => self.remember_defect(defect),
            }
        }
        sound
    }

    /// Remembers that a host has placed a delivery.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub(crate) async fn delivered(
        &mut self,
        host: &HostName,
        document_sha256: &str,
        manifest_sha256: &str,
    ) -> Result<(), DatabaseError> {
        let values: SqlValues<'_> = &[
            (&host.as_str(), Type::TEXT),
            (&document_sha256, Type::TEXT),
            (&manifest_sha256, Type::TEXT),
        ];
        self.bound.execute("remember a delivery", &self.client, DELIVERED, values).await?;
        Ok(())
    }
}

/// Distinguishes the deliveries of one document from each other, and from its claim.
pub(crate) fn delivery_key(row: &RequestRow) -> String {
    format!("{} with {}", row.id, row.manifest_sha256.as_deref().unwrap_or_default())
}

/// Returns the document of a row. One that cannot be read must not stop the others.
fn sound_document(row: &Row) -> Result<RequestRow, RowDefect> {
    let unreadable =
        |_: DatabaseError| changed("request", field(row, "r_id").unwrap_or_default(), UNREADABLE);
    let document = read_request(row).map_err(unreadable)?;
    match field::<&str>(row, "r_sum").map_err(unreadable)? == request_sum(&document) {
        true => Ok(document),
        false => Err(changed("request", document.id, CHANGED)),
    }
}

fn sound_addition(row: &Row) -> Result<RequestRow, RowDefect> {
    let document = sound_document(row)?;
    let id = document.id.clone();
    let unreadable = |_: DatabaseError| changed("addition", id.clone(), UNREADABLE);
    let addition = RequestRow {
        manifest_sha256: Some(field(row, "a_manifest").map_err(unreadable)?),
        bytes: count(row, "a_bytes").map_err(unreadable)?,
        signatures: field(row, "a_signatures").map_err(unreadable)?,
        submitted_by: field(row, "a_submitted_by").map_err(unreadable)?,
        ..document
    };
    match field::<&str>(row, "a_sum").map_err(unreadable)? == addition_sum(&addition) {
        true => Ok(addition),
        false => Err(changed("addition", addition.id, CHANGED)),
    }
}

fn changed(table: &'static str, request: String, fault: &'static str) -> RowDefect {
    RowDefect { table, request, fault }
}

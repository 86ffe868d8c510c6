//! Bytes by their digest, in parts of 1 MiB.

use model::Sha256;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::bound::{SqlValues, StatementBound, retried};
use super::connection::Database;
use super::error::DatabaseError;
use super::row::{bigint, count, field};

const PUT: &str = "store bytes";
const GET: &str = "read bytes";

const PART_BYTES: usize = 1024 * 1024;

/// The largest blob in the database, in bytes.
const BLOB_BYTES_MAX: usize = 64 * PART_BYTES;

/// The later commit of the row that names the blob is synchronous, and makes both durable.
const COMMIT_LATER: &str = "SET LOCAL synchronous_commit = off";

const INSERT_PART: &str = "INSERT INTO toolexec.blob_part (sha256, part, data) \
     VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";

const INSERT_BLOB: &str = "INSERT INTO toolexec.blob (sha256, bytes) \
     VALUES ($1, $2) ON CONFLICT DO NOTHING";

/// The statements that a blob of one part sends together, so they are planned before.
const STATEMENTS: &[&str] = &[INSERT_PART, INSERT_BLOB];

const BLOB: &str = "SELECT bytes FROM toolexec.blob WHERE sha256 = $1";

const PART: &str = "SELECT data FROM toolexec.blob_part \
     WHERE sha256 = $1 AND part = $2 AND octet_length(data) <= 1048576";

/// The blobs of a database.
pub(crate) trait BlobRows {
    /// Returns whether the database has a blob. It may have wrong bytes.
    ///
    /// # Errors
    /// [`DatabaseError`].
    async fn has_bytes(&mut self, sha256: &Sha256) -> Result<bool, DatabaseError>;

    /// Stores a blob under its digest, unless there is one. It is durable with the next row that is
    /// submitted or reported.
    ///
    /// # Errors
    /// [`DatabaseError`], also above 64 MiB.
    async fn put_bytes(&mut self, sha256: &Sha256, bytes: &[u8]) -> Result<(), DatabaseError>;

    /// Returns the bytes that are stored under a digest. The caller hashes them before any use.
    ///
    /// # Errors
    /// [`DatabaseError`], also for more bytes than the limit.
    async fn get_bytes(
        &mut self,
        sha256: &Sha256,
        bytes_max: u64,
    ) -> Result<Option<Vec<u8>>, DatabaseError>;
}

impl BlobRows for Database {
    async fn has_bytes(&mut self, sha256: &Sha256) -> Result<bool, DatabaseError> {
        let name = sha256.to_string();
        let rows = self.bound.query(GET, &self.client, BLOB, &[(&name, Type::TEXT)]).await?;
        Ok(!rows.is_empty())
    }

    async fn put_bytes(&mut self, sha256: &Sha256, bytes: &[u8]) -> Result<(), DatabaseError> {
        if bytes.len() > BLOB_BYTES_MAX {
            let bytes_max = u64::try_from(BLOB_BYTES_MAX).unwrap_or(u64::MAX);
            return Err(DatabaseError::TooLarge { sha256: sha256.to_string(), bytes_max });
        }
        retried!(self.put_bytes_once(&sha256.to_string(), bytes))
    }

    async fn get_bytes(
        &mut self,
        sha256: &Sha256,
        bytes_max: u64,
    ) -> Result<Option<Vec<u8>>, DatabaseError> {
        let name = sha256.to_string();
        let rows = self.bound.query(GET, &self.client, BLOB, &[(&name, Type::TEXT)]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let length = count(row, "bytes")?;
        if length > bytes_max {
            return Err(DatabaseError::TooLarge { sha256: name, bytes_max });
        }
        let mut bytes = Vec::new();
        for part in 0_i32.. {
            let so_far = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            if so_far >= length {
                break;
            }
            let values: SqlValues<'_> = &[(&name, Type::TEXT), (&part, Type::INT4)];
            let rows = self.bound.query(GET, &self.client, PART, values).await?;
            let data: &[u8] = match rows.first() {
                Some(row) => field(row, "data")?,
                None => &[],
            };
            if data.is_empty() {
                return Err(DatabaseError::DamagedBlob { sha256: name });
            }
            bytes.extend_from_slice(data);
        }
        match u64::try_from(bytes.len()) == Ok(length) {
            true => Ok(Some(bytes)),
            false => Err(DatabaseError::DamagedBlob { sha256: name }),
        }
    }
}

impl Database {
    async fn put_bytes_once(&mut self, sha256: &str, bytes: &[u8]) -> Result<(), DatabaseError> {
        let length = bigint(u64::try_from(bytes.len()).unwrap_or(u64::MAX), "bytes")?;
        let bound = self.bound.clone();
        if (1..=PART_BYTES).contains(&bytes.len()) {
            let statements = async {
                let later = bound.run(PUT, self.client.batch_execute(COMMIT_LATER));
                let part = insert_part(&bound, &self.client, sha256, (0, bytes));
                let blob = insert_blob(&bound, &self.client, sha256, length);
                tokio::try_join!(biased; later, part, blob).map(|_| ())
            };
            let put = bound.transact(PUT, &self.client, STATEMENTS, statements).await;
            // A blob can be stored twice, so that an unknown outcome is an error like others.
            return put.map_err(|error| match error {
                DatabaseError::UnknownOutcome { act, fault } => {
                    DatabaseError::Statement { act, fault }
                }
                other => other,
            });
        }
        let transaction = bound.begin(PUT, &mut self.client).await?;
        let client = transaction.client();
        bound.run(PUT, client.batch_execute(COMMIT_LATER)).await?;
        for part in (0_i32..).zip(bytes.chunks(PART_BYTES)) {
            insert_part(&bound, client, sha256, part).await?;
        }
        insert_blob(&bound, client, sha256, length).await?;
        bound.commit(PUT, transaction).await
    }
}

async fn insert_part(
    bound: &StatementBound,
    client: &Client,
    sha256: &str,
    (part, data): (i32, &[u8]),
) -> Result<u64, DatabaseError> {
    let values: SqlValues<'_> = &[(&sha256, Type::TEXT), (&part, Type::INT4), (&data, Type::BYTEA)];
    bound.execute_planned(PUT, client, INSERT_PART, values).await
}

async fn insert_blob(
    bound: &StatementBound,
    client: &Client,
    sha256: &str,
    length: i64,
) -> Result<u64, DatabaseError> {
    let values: SqlValues<'_> = &[(&sha256, Type::TEXT), (&length, Type::INT8)];
    bound.execute_planned(PUT, client, INSERT_BLOB, values).await
}

//! Reads columns. A value that no program of the fleet writes is an error with the column's name.

use fleet::model::HostName;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use super::error::DatabaseError;

/// Reads a column.
pub(super) fn field<'a, T: FromSql<'a>>(
    row: &'a Row,
    column: &'static str,
) -> Result<T, DatabaseError> {
    row.try_get(column).map_err(|_| DatabaseError::Value { column })
}

/// Reads a size or a count.
pub(super) fn count(row: &Row, column: &'static str) -> Result<u64, DatabaseError> {
    let value: i64 = field(row, column)?;
    u64::try_from(value).map_err(|_| DatabaseError::Value { column })
}

/// Reads a text of a closed form.
pub(super) fn parsed<T>(
    row: &Row,
    column: &'static str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, DatabaseError> {
    let text: &str = field(row, column)?;
    parse(text).ok_or(DatabaseError::Value { column })
}

/// Reads the name of a host.
pub(super) fn host_name(row: &Row, column: &'static str) -> Result<HostName, DatabaseError> {
    parsed(row, column, |text| HostName::parse(text).ok())
}

/// Converts a size or a count for a column of the type `bigint`.
pub(super) fn bigint(value: u64, column: &'static str) -> Result<i64, DatabaseError> {
    i64::try_from(value).map_err(|_| DatabaseError::Value { column })
}

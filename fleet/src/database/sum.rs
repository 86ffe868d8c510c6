//! The sums of rows: SHA-256 over the decisive fields. They find rows that were changed by hand.
//! They do not stop a hostile database: it can compute the sum of any row.

use fleet::model::FleetState;
use model::Sha256Stream;

use super::model::{RequestRow, ResultRow};

/// The decisive fields of a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ClaimFacts {
    pub(super) request: String,
    pub(super) document_sha256: String,
    pub(super) audience: Option<String>,
    pub(super) host: Option<String>,
    pub(super) epoch: i64,
    pub(super) state: FleetState,
}

/// The decisive fields of a start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct StartFacts {
    pub(super) request: String,
    pub(super) document_sha256: String,
    pub(super) host: String,
    pub(super) epoch: i64,
    pub(super) nonce: String,
}

/// Computes one sum. Each field is one line: its length and its text, or `-` if it is absent.
struct RowSum(Sha256Stream);

impl RowSum {
    fn of(table: &str) -> Self {
        let mut digest = Sha256Stream::new();
        digest.update(format!("toolexec-fleet {table} v1\n").as_bytes());
        Self(digest)
    }

    fn text(self, text: &str) -> Self {
        self.optional(Some(text))
    }

    fn optional(mut self, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.0.update(format!("{}:{text}\n", text.len()).as_bytes()),
            None => self.0.update(b"-\n"),
        }
        self
    }

    fn number(self, number: impl ToString) -> Self {
        self.text(&number.to_string())
    }

    fn texts(self, texts: &[String]) -> Self {
        texts.iter().fold(self.number(texts.len()), |sum, text| sum.text(text))
    }

    fn finish(self) -> String {
        self.0.finish().to_string()
    }
}

/// Computes the sum of a document's row. The role and the time are set by the database.
pub(super) fn request_sum(row: &RequestRow) -> String {
    RowSum::of("request")
        .text(&row.id)
        .text(&row.document_sha256)
        .optional(row.manifest_sha256.as_deref())
        .text(row.kind.as_str())
        .optional(row.audience.as_deref())
        .number(row.bytes)
        .texts(&row.signatures)
        .finish()
}

/// Computes the sum of signature files that were submitted after their document.
pub(super) fn addition_sum(row: &RequestRow) -> String {
    RowSum::of("addition")
        .text(&row.id)
        .text(&row.document_sha256)
        .optional(row.manifest_sha256.as_deref())
        .number(row.bytes)
        .texts(&row.signatures)
        .finish()
}

impl ClaimFacts {
    pub(super) fn sum(&self) -> String {
        RowSum::of("claim")
            .text(&self.request)
            .text(&self.document_sha256)
            .optional(self.audience.as_deref())
            .optional(self.host.as_deref())
            .number(self.epoch)
            .text(self.state.as_str())
            .finish()
    }
}

impl StartFacts {
    pub(super) fn sum(&self) -> String {
        RowSum::of("start")
            .text(&self.request)
            .text(&self.document_sha256)
            .text(&self.host)
            .number(self.epoch)
            .text(&self.nonce)
            .finish()
    }
}

/// Computes the sum of a result's row.
pub(super) fn result_sum(row: &ResultRow) -> String {
    RowSum::of("result")
        .text(&row.request)
        .text(&row.document_sha256)
        .text(row.host.as_str())
        .number(row.epoch.unwrap_or(0))
        .text(&row.result_id)
        .text(&row.outcome)
        .number(row.exit_code)
        .text(&row.manifest_sha256)
        .text(&row.record_sha256)
        .finish()
}

#[cfg(test)]
mod tests;

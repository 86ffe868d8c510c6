//! Requests as commands show them.

use fleet::commands::FleetRequest;
use fleet::model::FleetState;
use tokio_postgres::types::Type;

use super::bound::SqlValues;
use super::connection::Database;
use super::error::DatabaseError;
use super::model::{RequestKind, ResultRow};
use super::stored::StoredRequest;

const ACT: &str = "read requests";

/// All rows of requests, with a condition, an order and a limit.
macro_rules! stored_requests {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            $crate::database::stored::state_columns!(),
            "FROM toolexec.request r \
             LEFT JOIN toolexec.claim c ON c.request = r.id \
             LEFT JOIN toolexec.start s ON s.request = r.id \
             LEFT JOIN toolexec.result o ON o.request = r.id ",
            $rest
        )
    };
}

pub(super) use stored_requests;

const ONE: &str = stored_requests!("WHERE r.id = $1");

const NEWEST: &str = stored_requests!(
    "WHERE r.kind <> 'standing' AND ($1 IS NULL OR c.state = $1) \
     ORDER BY r.submitted_at DESC, r.id DESC LIMIT $2"
);

impl Database {
    /// Returns requests, the newest first. A row that was changed by hand is shown as it is, and
    /// remembered as a defect.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub(crate) async fn requests(
        &mut self,
        state: Option<FleetState>,
        count_max: u32,
    ) -> Result<Vec<FleetRequest>, DatabaseError> {
        let (state, count_max) = (state.map(FleetState::as_str), i64::from(count_max));
        let values: SqlValues<'_> = &[(&state, Type::TEXT), (&count_max, Type::INT8)];
        let rows = self.bound.query(ACT, &self.client, NEWEST, values).await?;
        let mut found = Vec::new();
        for row in &rows {
            match StoredRequest::read(row) {
                Ok(stored) => {
                    found.push(stored.to_fleet_request());
                    stored.defect().into_iter().for_each(|defect| self.remember_defect(defect));
                }
                Err(_) => {
                    let defect = StoredRequest::judged(row).err();
                    defect.into_iter().for_each(|defect| self.remember_defect(defect));
                }
            }
        }
        Ok(found)
    }

    /// Returns one request. Standing approvals have no state and are not found.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub(crate) async fn request(
        &mut self,
        id: &str,
    ) -> Result<Option<FleetRequest>, DatabaseError> {
        let found = self.stored(id).await?;
        let found = found.filter(|it| it.request.facts.kind != RequestKind::Standing);
        Ok(found.map(|stored| stored.to_fleet_request()))
    }

    /// Returns the result of a request.
    ///
    /// # Errors
    /// [`DatabaseError`], also if a row of the request was changed by hand.
    pub(crate) async fn result(&mut self, id: &str) -> Result<Option<ResultRow>, DatabaseError> {
        let Some(stored) = self.stored(id).await? else { return Ok(None) };
        match stored.defect() {
            Some(defect) => Err(defect.into()),
            None => Ok(stored.result.map(|result| result.facts)),
        }
    }

    /// Reads all rows of a request.
    pub(super) async fn stored(&self, id: &str) -> Result<Option<StoredRequest>, DatabaseError> {
        let rows = self.bound.query_planned(ACT, &self.client, ONE, &[(&id, Type::TEXT)]).await?;
        rows.first().map(StoredRequest::read).transpose()
    }
}

//! The requests for which a command waits, and their last known states.

use fleet::commands::FleetRequest;
use fleet::model::FleetState;

use crate::database::{Database, DatabaseError};

/// The requests that have not ended, in the order of the command.
pub(super) struct WaitingRequests(Vec<(String, Option<FleetRequest>)>);

impl WaitingRequests {
    pub(super) fn new(ids: &[String]) -> Self {
        Self(ids.iter().map(|id| (id.clone(), None)).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Looks at each request, and returns those that have ended meanwhile. A request that the
    /// database does not have is not waited for.
    pub(super) async fn look(
        &mut self,
        database: &mut Database,
    ) -> Result<Vec<FleetRequest>, DatabaseError> {
        let mut ended = Vec::new();
        let ids: Vec<String> = self.0.iter().map(|(id, _)| id.clone()).collect();
        for id in ids {
            let found = database.request(&id).await?;
            ended.extend(self.note(&id, found));
        }
        Ok(ended)
    }

    /// Notes the present state of a request, and returns it if it has ended.
    fn note(&mut self, id: &str, found: Option<FleetRequest>) -> Option<FleetRequest> {
        let at = self.0.iter().position(|(waiting, _)| waiting == id)?;
        match found {
            Some(request) if !has_ended(request.state) => {
                self.0[at].1 = Some(request);
                None
            }
            ended_or_missing => {
                self.0.remove(at);
                ended_or_missing
            }
        }
    }

    /// Returns the requests that have not ended, as they were last seen.
    pub(super) fn into_last_seen(self) -> impl Iterator<Item = FleetRequest> {
        self.0.into_iter().filter_map(|(_, seen)| seen)
    }
}

fn has_ended(state: FleetState) -> bool {
    match state {
        FleetState::Ended | FleetState::Indeterminate => true,
        FleetState::Queued | FleetState::Claimed | FleetState::Started => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(id: &str, state: FleetState) -> Option<FleetRequest> {
        Some(FleetRequest {
            request: id.to_owned(),
            document_sha256: "ab".repeat(32),
            audience: None,
            state,
            submitted_by: "alice".to_owned(),
            submitted_utc: "2026-02-09T16:05:01Z".to_owned(),
            host: None,
            result: None,
            outcome: None,
            exit_code: None,
        })
    }

    #[test]
    fn what_has_ended_or_is_missing_is_not_waited_for() {
        let ids = ["a", "b", "c", "d"].map(str::to_owned);
        let mut waiting = WaitingRequests::new(&ids);
        assert_eq!(waiting.note("a", request("a", FleetState::Queued)), None);
        let ended = request("b", FleetState::Ended);
        assert_eq!(waiting.note("b", ended.clone()), ended);
        assert_eq!(waiting.note("c", None), None);
        let lost = request("d", FleetState::Indeterminate);
        assert_eq!(waiting.note("d", lost.clone()), lost);
        assert_eq!(waiting.note("a", request("a", FleetState::Started)), None);
        assert!(!waiting.is_empty());
        let seen: Vec<FleetRequest> = waiting.into_last_seen().collect();
        assert_eq!(seen, [request("a", FleetState::Started).unwrap()]);
    }
}

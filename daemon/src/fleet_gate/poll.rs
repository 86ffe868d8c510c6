//! The query for admission, each second on a thread of its own: the event loop never waits for the
//! gate.

use std::time::Duration;

use fleet::gate::{FleetGauges, GateAnswer, GateClient, GateError, GateLimit, GateQuery};

use super::membership::FleetMembership;
use super::start::bounded;
use crate::metrics::Metrics;

/// The gate answers from memory.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(3);

/// One connection to the gate, and the places of its answers.
pub(crate) struct GatePoll<'a> {
    membership: &'a FleetMembership,
    metrics: &'a Metrics,
    client: GateClient,
}

impl<'a> GatePoll<'a> {
    pub(crate) const INTERVAL: Duration = Duration::from_secs(1);

    pub(crate) fn new(membership: &'a FleetMembership, metrics: &'a Metrics) -> Self {
        Self { membership, metrics, client: membership.client() }
    }

    /// Asks the gate once, and notes its answer. Returns whether admission begins or ends with it.
    pub(crate) fn poll(&mut self, is_wanted: &mut dyn FnMut() -> bool) -> bool {
        let limit = GateLimit { time_max: ANSWER_TIME_MAX, is_wanted };
        let (stopped, gauges) = match self.client.ask(&GateQuery::Status, limit) {
            Err(GateError::Cancelled) => return false,
            answered => judge(answered),
        };
        self.metrics.fleet_status(stopped.is_none(), gauges.as_ref());
        self.membership.admission.note(stopped)
    }
}

/// Returns the reason why nothing may be admitted, if any, and the figures of the fleet.
fn judge(answered: Result<GateAnswer, GateError>) -> (Option<String>, Option<FleetGauges>) {
    match answered {
        Ok(GateAnswer::Ready(gauges)) => (None, Some(gauges)),
        Ok(GateAnswer::Stopped { reason, gauges }) => (Some(stop_reason(&reason)), Some(gauges)),
        Ok(_) => (Some(stop_reason("the gate gave an answer to another query")), None),
        Err(error) => (Some(stop_reason(&error.to_string())), None),
    }
}

fn stop_reason(reason: &str) -> String {
    let (what, help) = bounded(reason);
    format!("fleet: {what}; nothing is admitted until its gate is ready; help: {help}")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn only_a_ready_gate_permits_admission() {
        let gauges = FleetGauges { queued: 7, ..FleetGauges::default() };
        assert_eq!(judge(Ok(GateAnswer::Ready(gauges.clone()))), (None, Some(gauges.clone())));
        let reason = "database: read-only; help: name the primary".to_owned();
        let expected = "fleet: database: read-only; nothing is admitted until its gate is ready; \
                        help: name the primary";
        let stopped = judge(Ok(GateAnswer::Stopped { reason, gauges: gauges.clone() }));
        assert_eq!(stopped, (Some(expected.to_owned()), Some(gauges)));
        let silent = GateError::Silent(PathBuf::from("/run/gate"), ANSWER_TIME_MAX);
        for answered in [Ok(GateAnswer::Start), Err(silent)] {
            let (stopped, gauges) = judge(answered);
            assert!(stopped.is_some_and(|reason| reason.starts_with("fleet: ")));
            assert_eq!(gauges, None);
        }
    }
}

//! The result of the gate: the contract's fields by name, in the contract's order. The fields of a
//! result must never contradict each other about whether the action may run.

use serde::Serialize;

use super::authority::AuthorizationReport;
use super::integrity::EvidenceIntegrity;
use super::model::{CONTRACT, ValidationError};
use super::vocabulary::{AuthorizationState, GateDecision, RiskDomain, Route, ToolCategory};

const INVALID_EVENT: &str = "schema_validation_failed";

/// The components of the score.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub struct AixComponents {
    /// The score.
    pub p: f64,
    /// 1 if the action is accepted, else 0.75.
    pub f: f64,
    /// The score.
    pub c: f64,
}

/// The score of a route. It decides nothing.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Aix {
    /// The version of the score upstream.
    pub aix_version: &'static str,
    /// 0.95 for accept, 0.72 for ask, 0.45 for defer, 0.15 for refuse.
    pub score: f64,
    /// The components, which follow from score and route.
    pub components: AixComponents,
    /// The final route.
    pub decision: Route,
    /// A copy of the result's `hard_blockers`.
    pub hard_blockers: Vec<String>,
}

impl Aix {
    fn of(route: Route, hard_blockers: &[String]) -> Self {
        let score = match route {
            Route::Accept => 0.95,
            Route::Ask => 0.72,
            Route::Defer => 0.45,
            Route::Refuse => 0.15,
        };
        let f = if route == Route::Accept { 1.0 } else { 0.75 };
        Self {
            aix_version: "0.1",
            score,
            components: AixComponents { p: score, f, c: score },
            decision: route,
            hard_blockers: hard_blockers.to_vec(),
        }
    }
}

/// The result of the gate (seed 001, `Response fields`, and further fields of upstream). It
/// serializes to upstream's JSON. Fields that upstream omits for an invalid event are null here.
#[must_use]
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct GateResult {
    /// The contract: `aana.agent_tool_precheck.v1`.
    pub contract_version: &'static str,
    /// The tool of the event; `None` if an invalid event does not state it as text.
    pub tool_name: Option<String>,
    /// The category that the event states; `None` for an invalid event.
    pub tool_category: Option<ToolCategory>,
    /// The state stated by the event, or the state that it was lifted to.
    pub authorization_state: Option<AuthorizationState>,
    /// The domain that the event states; `None` for an invalid event.
    pub risk_domain: Option<RiskDomain>,
    /// Pass only if the final route is accept and no blocker exists.
    pub gate_decision: GateDecision,
    /// The final route: the stricter of the gate's and the runtime's.
    pub recommended_action: Route,
    /// Pass if the gate's own route is accept and no blocker exists.
    pub candidate_gate: GateDecision,
    /// The gate's own route; `None` for an invalid event.
    pub aana_route: Option<Route>,
    /// The route that the runtime proposed; `None` for an invalid event.
    pub runtime_recommended_route: Option<Route>,
    /// The score of the final route.
    pub aix: Aix,
    /// The reasons that must prevent the execution.
    pub hard_blockers: Vec<String>,
    /// The reasons of the route, by stable names.
    pub reasons: Vec<String>,
    /// The number of references in the event; 0 for an invalid event.
    pub evidence_ref_count: usize,
    /// The findings of the references; `None` for an invalid event.
    pub evidence_integrity: Option<EvidenceIntegrity>,
    /// The authorization report; `None` for an invalid event.
    pub authorization_report: Option<AuthorizationReport>,
    /// The errors of its form; only for an invalid event.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub validation_errors: Vec<ValidationError>,
}

impl GateResult {
    /// Makes the refusal of bytes that are not JSON, or that readers understand differently. The
    /// message describes the problem.
    pub fn unreadable(message: impl Into<String>) -> Self {
        let error = ValidationError { path: String::new(), message: message.into() };
        Self::invalid_event(None, vec![error], None)
    }

    /// Returns whether the action may be executed: the route is `accept` and no blocker exists.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.gate_decision == GateDecision::Pass
            && self.recommended_action == Route::Accept
            && self.hard_blockers.is_empty()
            && self.validation_errors.is_empty()
    }

    pub(super) fn invalid_event(
        tool_name: Option<String>,
        validation_errors: Vec<ValidationError>,
        reason: Option<&'static str>,
    ) -> Self {
        let hard_blockers = vec![INVALID_EVENT.to_owned()];
        let reasons = std::iter::once("event_failed_schema_validation").chain(reason);
        Self {
            contract_version: CONTRACT,
            tool_name,
            tool_category: None,
            authorization_state: None,
            risk_domain: None,
            gate_decision: GateDecision::Fail,
            recommended_action: Route::Refuse,
            candidate_gate: GateDecision::Fail,
            aana_route: None,
            runtime_recommended_route: None,
            aix: Aix::of(Route::Refuse, &hard_blockers),
            hard_blockers,
            reasons: reasons.map(str::to_owned).collect(),
            evidence_ref_count: 0,
            evidence_integrity: None,
            authorization_report: None,
            validation_errors,
        }
    }

    /// Makes the result of an event. The final route is the stricter of the two.
    pub(super) fn of(judged: EventJudgement) -> Self {
        let EventJudgement { aana_route, runtime_route, mut hard_blockers, mut reasons, .. } =
            judged;
        let final_route = aana_route.max(runtime_route);
        if final_route != aana_route {
            reasons.push(format!("runtime_recommended_stricter_route:{}", runtime_route.as_str()));
        }
        if runtime_route == Route::Refuse {
            hard_blockers.push("runtime_refusal".to_owned());
        }
        let gate = |route| match (route, hard_blockers.is_empty()) {
            (Route::Accept, true) => GateDecision::Pass,
            _ => GateDecision::Fail,
        };
        Self {
            contract_version: CONTRACT,
            tool_name: Some(judged.tool_name),
            tool_category: Some(judged.category),
            authorization_state: Some(judged.state),
            risk_domain: Some(judged.domain),
            gate_decision: gate(final_route),
            recommended_action: final_route,
            candidate_gate: gate(aana_route),
            aana_route: Some(aana_route),
            runtime_recommended_route: Some(runtime_route),
            aix: Aix::of(final_route, &hard_blockers),
            hard_blockers,
            reasons,
            evidence_ref_count: judged.integrity.checked_ref_count,
            evidence_integrity: Some(judged.integrity),
            authorization_report: Some(judged.authority),
            validation_errors: Vec::new(),
        }
    }
}

/// The gate's judgement of an event before the route of the runtime is considered.
pub(super) struct EventJudgement {
    pub(super) tool_name: String,
    pub(super) category: ToolCategory,
    pub(super) state: AuthorizationState,
    pub(super) domain: RiskDomain,
    pub(super) aana_route: Route,
    pub(super) runtime_route: Route,
    pub(super) hard_blockers: Vec<String>,
    pub(super) reasons: Vec<String>,
    pub(super) integrity: EvidenceIntegrity,
    pub(super) authority: AuthorizationReport,
}

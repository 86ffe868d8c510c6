//! The gate's own route, derived from the category of the tool, the state that the evidence
//! supports, and the denials in the evidence. A finding may only make it stricter.

use super::authority::AuthorizationReport;
use super::call::Call;
use super::integrity::{EvidenceIntegrity, ReferenceFindings};
use super::result::EventJudgement;
use super::risk_hints;
use super::vocabulary::{AuthorizationState, Route, ToolCategory};

/// Errors of the evidence that forbid every execution.
const REFUSED: [&str; 3] = ["evidence_secret_leak", "evidence_pii_leak", "unsafe_redaction_status"];
/// Errors that better evidence could correct.
const DEFERRED: [&str; 2] = ["stale_evidence", "invalid_retrieved_at"];

struct RouteVerdict {
    route: Route,
    reasons: Vec<String>,
    blockers: Vec<String>,
}

impl RouteVerdict {
    fn reason(&mut self, reason: &str) {
        self.reasons.push(reason.to_owned());
    }

    fn block(&mut self, blocker: &str) {
        if !self.blockers.iter().any(|it| it == blocker) {
            self.blockers.push(blocker.to_owned());
        }
    }

    fn at_least(&mut self, route: Route) {
        self.route = self.route.max(route);
    }
}

/// Judges an event. `lifted` is the reason if its state was lifted before.
pub(super) fn judge(
    call: Call<'_>,
    examined: &[ReferenceFindings],
    authority: AuthorizationReport,
    lifted: Option<&'static str>,
) -> EventJudgement {
    let mut verdict =
        RouteVerdict { route: Route::Accept, reasons: Vec::new(), blockers: Vec::new() };
    lifted.into_iter().for_each(|reason| verdict.reason(reason));
    if authority.downgraded {
        verdict.reason("authorization_state_downgraded_to_evidence_supported_state");
        verdict.block("authorization_state_not_supported_by_evidence");
    }
    if let Some(not_lifted) = authority.not_lifted {
        verdict.reason(not_lifted.as_str());
    }
    let category = if risk_hints::is_identity_bound(&call) {
        verdict.reason("public_read_reclassified_identity_bound_private_read");
        verdict.block("public_read_identity_bound_misclassified");
        ToolCategory::PrivateRead
    } else {
        call.category
    };
    let state = authority.effective_state;
    match category {
        ToolCategory::PublicRead => public_read(&mut verdict, &call),
        ToolCategory::PrivateRead => private_read(&mut verdict, state),
        ToolCategory::Write if risk_hints::is_high_risk(&call) && !state.writes() => {
            high_risk_write(&mut verdict, state);
        }
        ToolCategory::Write => write(&mut verdict, state),
        ToolCategory::Unknown => {
            verdict.at_least(Route::Defer);
            verdict.reason("unknown_tool_category_requires_review");
            verdict.block("unknown_tool_category");
        }
    }
    denials(&mut verdict, category, examined);
    let integrity = EvidenceIntegrity::of(&call.references, examined, category);
    evidence(&mut verdict, category, &integrity);
    EventJudgement {
        tool_name: call.tool_name.to_owned(),
        category: call.category,
        state: call.declared,
        domain: call.domain,
        aana_route: verdict.route,
        runtime_route: call.route,
        hard_blockers: verdict.blockers,
        reasons: verdict.reasons,
        // Upstream reports the findings for the category that the event states.
        integrity: if category == call.category {
            integrity
        } else {
            EvidenceIntegrity::of(&call.references, examined, call.category)
        },
        authority,
    }
}

fn public_read(verdict: &mut RouteVerdict, call: &Call<'_>) {
    verdict.reason("public_read_allowed_without_identity_auth");
    if call.references.is_empty() {
        verdict.reason("public_read_without_evidence");
    }
}

fn private_read(verdict: &mut RouteVerdict, state: AuthorizationState) {
    if state.reads_private() {
        return verdict.reason("private_read_has_authenticated_context");
    }
    if state == AuthorizationState::UserClaimed {
        verdict.at_least(Route::Ask);
        verdict.reason("private_read_needs_verified_authentication");
    } else {
        verdict.at_least(Route::Defer);
        verdict.reason("private_read_missing_authorization_context");
    }
    verdict.block("private_read_not_authenticated");
}

fn high_risk_write(verdict: &mut RouteVerdict, state: AuthorizationState) {
    let unauthorized = state == AuthorizationState::None;
    verdict.at_least(if unauthorized { Route::Defer } else { Route::Ask });
    verdict.reason("high_risk_write_requires_explicit_confirmation");
    verdict.block("high_risk_write_missing_explicit_confirmation");
    verdict.block("write_missing_explicit_confirmation");
    if !unauthorized && !state.proposes_writes() {
        verdict.block("write_missing_validation_or_confirmation");
    }
}

fn write(verdict: &mut RouteVerdict, state: AuthorizationState) {
    let (route, reason, blocker) = match state {
        AuthorizationState::Confirmed => {
            return verdict.reason("write_has_explicit_confirmation");
        }
        AuthorizationState::Validated => (
            Route::Ask,
            "write_validated_but_needs_explicit_confirmation",
            "write_missing_explicit_confirmation",
        ),
        AuthorizationState::Authenticated | AuthorizationState::UserClaimed => (
            Route::Ask,
            "write_needs_validation_and_confirmation",
            "write_missing_validation_or_confirmation",
        ),
        AuthorizationState::None => {
            (Route::Defer, "write_missing_authorization_context", "write_missing_authorization")
        }
    };
    verdict.at_least(route);
    verdict.reason(reason);
    verdict.block(blocker);
}

fn denials(verdict: &mut RouteVerdict, category: ToolCategory, examined: &[ReferenceFindings]) {
    if examined.iter().any(|it| it.lacks_authorization) {
        verdict.at_least(Route::Defer);
        verdict.reason("evidence_declares_missing_authorization");
        verdict.block("evidence_missing_authorization");
    }
    // A public read needs no authority.
    if category != ToolCategory::PublicRead && examined.iter().any(|it| it.denies_authority) {
        verdict.at_least(Route::Defer);
        verdict.reason("evidence_denies_authorization");
        verdict.block("evidence_missing_authorization");
    }
}

fn evidence(verdict: &mut RouteVerdict, category: ToolCategory, integrity: &EvidenceIntegrity) {
    if category != ToolCategory::PublicRead && integrity.checked_ref_count == 0 {
        verdict.at_least(Route::Defer);
        verdict.reason("missing_evidence_refs_for_consequential_tool");
        verdict.block("missing_evidence_refs");
    }
    for code in &integrity.error_codes {
        if REFUSED.contains(code) {
            verdict.at_least(Route::Refuse);
        } else if DEFERRED.contains(code) {
            verdict.at_least(Route::Defer);
        }
        verdict.block(code);
    }
    if !integrity.contradictory_evidence_source_ids.is_empty() {
        verdict.at_least(Route::Defer);
        verdict.reason("evidence_contradicts_action_or_claim");
        verdict.block("contradictory_evidence");
    }
    if !integrity.missing_evidence_source_ids.is_empty() {
        verdict.at_least(Route::Defer);
        verdict.reason("evidence_marks_missing_information");
        verdict.block("evidence_marks_missing_information");
    }
    for code in &integrity.warning_codes {
        verdict.reason(&format!("evidence_warning:{code}"));
    }
}

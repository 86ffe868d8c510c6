//! Results of the AANA gate, the permissions and the AIS guard. The record has each whole answer as
//! the authority gave it, and next to it the parts that readers need most.

use model::Sha256;
use policies::{AisFinding, GateFinding, PermissionFinding, Rationale};
use serde_json::Value;

use crate::untrusted::Redaction;
use crate::yaml::FactNode;

/// No honest answer is longer. Even fully escaped, it leaves space for the results of the run.
const ANSWER_BYTES_MAX: usize = 12 * 1024;
/// The maximum length of an artifact identifier.
const ID_BYTES_MAX: usize = 2048;

/// Returns the gate's answer: `null` if it was not asked, `unknown` if the decision is not known.
pub(crate) fn gate_answer(rationale: Option<&Rationale>, show: Redaction) -> FactNode {
    let Some(rationale) = rationale else { return FactNode::Keyword("unknown") };
    rationale.gate.as_ref().map_or(FactNode::Null, |finding| gate_node(finding, show))
}

/// Returns the answer on the agent's permission, likewise.
pub(crate) fn permission_answer(rationale: Option<&Rationale>, show: Redaction) -> FactNode {
    let Some(rationale) = rationale else { return FactNode::Keyword("unknown") };
    rationale.permission.as_ref().map_or(FactNode::Null, |finding| permission_node(finding, show))
}

/// Returns the answer of the AIS guard, likewise.
pub(crate) fn ais_answer(rationale: Option<&Rationale>, show: Redaction) -> FactNode {
    let Some(rationale) = rationale else { return FactNode::Keyword("unknown") };
    rationale.ais.as_ref().map_or(FactNode::Null, |finding| ais_node(finding, show))
}

fn gate_node(finding: &GateFinding, show: Redaction) -> FactNode {
    let result = &finding.result;
    let route = |route: Option<policies::aana::Route>| {
        route.map_or(FactNode::Null, |route| FactNode::Keyword(route.as_str()))
    };
    FactNode::Map(vec![
        ("mode", FactNode::Keyword(finding.mode.as_str())),
        ("gate_decision", FactNode::Keyword(result.gate_decision.as_str())),
        ("recommended_action", FactNode::Keyword(result.recommended_action.as_str())),
        ("aana_route", route(result.aana_route)),
        ("runtime_recommended_route", route(result.runtime_recommended_route)),
        ("aix_score", FactNode::Number(format!("{:.2}", result.aix.score))),
        ("hard_blockers", show.exact_list_node(&result.hard_blockers)),
        ("reasons", show.exact_list_node(&result.reasons)),
        ("answer", answer_node(&answer_json(result), show)),
    ])
}

fn permission_node(found: &PermissionFinding, show: Redaction) -> FactNode {
    let PermissionFinding { source, tool, finding } = found;
    let scope = source.accesscontrol.as_ref();
    FactNode::Map(vec![
        ("agent", show.exact_node(source.name.as_str())),
        ("subject", show.exact_node(source.subject.as_str())),
        ("accesscontrol", scope.map_or(FactNode::Null, |scope| show.exact_node(scope.as_str()))),
        ("tool", show.exact_node(tool.as_str())),
        ("state", FactNode::text(finding.state().to_string())),
        ("reason", show.text_node(&finding.to_string())),
    ])
}

/// The identifiers are claims of the artifacts, authentic only if the verdict is `accept`.
fn ais_node(found: &AisFinding, show: Redaction) -> FactNode {
    let answer = found.answer();
    let identifier = |pointer: &str| match answer.pointer(pointer).and_then(Value::as_str) {
        Some(text) if text.len() <= ID_BYTES_MAX => show.exact_node(text),
        Some(text) => show.text_node(text),
        None => FactNode::Null,
    };
    let code = found.refused_by().map(|code| code.as_str());
    FactNode::Map(vec![
        ("verdict", FactNode::Keyword(if code.is_some() { "refuse" } else { "accept" })),
        ("code", code.map_or(FactNode::Null, FactNode::text)),
        ("uia", identifier("/bundle/ids/uia")),
        ("apa", identifier("/bundle/ids/apa")),
        ("apr", identifier("/bundle/ids/apr")),
        ("tca", identifier("/bundle/ids/tca")),
        ("ibe", identifier("/bundle/ids/ibe")),
        ("step", identifier("/bundle/step")),
        ("nonce", identifier("/bundle/nonce")),
        ("exp", identifier("/bundle/exp")),
        ("crl_issued", identifier("/bundle/crl/issued")),
        ("crl_expires", identifier("/bundle/crl/expires")),
        ("answer", answer_node(&answer_json(answer), show)),
    ])
}

/// Returns the whole answer if it fits, and its digest. The parts next to it are always present.
fn answer_node(text: &str, show: Redaction) -> FactNode {
    let fits = text.len() <= ANSWER_BYTES_MAX;
    FactNode::Map(vec![
        ("json", if fits { show.exact_node(text) } else { FactNode::Null }),
        ("sha256", FactNode::Text(Sha256::of(text.as_bytes()).to_string())),
    ])
}

/// Returns the answer as `toolexec gate_node` or `toolexec ais verify` prints it, on one line.
fn answer_json(answer: &impl serde::Serialize) -> String {
    // An answer always serializes: its keys are text and its numbers are finite.
    serde_json::to_string(answer).unwrap_or_default()
}

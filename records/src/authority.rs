//! Results of the authorization checks beyond the policy's own rules: the AANA gate, the
//! permissions and the AIS guard. The record has each whole answer as the authority gave it, and
//! next to it the parts that readers need most.

use model::Sha256;
use policies::{AisFinding, GateFinding, Grounds, PermissionFinding};
use serde_json::Value;

use crate::outside::Showing;
use crate::yaml::Node;

/// More than any honest answer needs. Leaves room in the front matter for the results of the run,
/// even if every character of an answer is escaped.
const ANSWER_BYTES_MAX: usize = 12 * 1024;
/// The maximum length of an artifact identifier.
const ID_BYTES_MAX: usize = 2048;

/// Returns the answer of the AANA gate: `null` if it was not asked, `unknown` if the decision is
/// not known.
pub(crate) fn gate_answer(grounds: Option<&Grounds>, show: Showing) -> Node {
    let Some(grounds) = grounds else { return Node::Word("unknown") };
    grounds.gate.as_ref().map_or(Node::Null, |finding| gate(finding, show))
}

/// Returns the answer on the agent's permission, likewise.
pub(crate) fn permission_answer(grounds: Option<&Grounds>, show: Showing) -> Node {
    let Some(grounds) = grounds else { return Node::Word("unknown") };
    grounds.permission.as_ref().map_or(Node::Null, |finding| permitted(finding, show))
}

/// Returns the answer of the AIS guard, likewise.
pub(crate) fn ais_answer(grounds: Option<&Grounds>, show: Showing) -> Node {
    let Some(grounds) = grounds else { return Node::Word("unknown") };
    grounds.ais.as_ref().map_or(Node::Null, |finding| bound(finding, show))
}

fn gate(finding: &GateFinding, show: Showing) -> Node {
    let result = &finding.result;
    let route = |route: Option<policies::aana::Route>| {
        route.map_or(Node::Null, |route| Node::Word(route.as_str()))
    };
    Node::Map(vec![
        ("mode", Node::Word(finding.mode.as_str())),
        ("gate_decision", Node::Word(result.gate_decision.as_str())),
        ("recommended_action", Node::Word(result.recommended_action.as_str())),
        ("aana_route", route(result.aana_route)),
        ("runtime_recommended_route", route(result.runtime_recommended_route)),
        ("aix_score", Node::Number(format!("{:.2}", result.aix.score))),
        ("hard_blockers", show.exact_list(&result.hard_blockers)),
        ("reasons", show.exact_list(&result.reasons)),
        ("answer", answered(&whole(result), show)),
    ])
}

fn permitted(found: &PermissionFinding, show: Showing) -> Node {
    let PermissionFinding { source, tool, finding } = found;
    let scope = source.accesscontrol.as_ref();
    Node::Map(vec![
        ("agent", show.exact(source.name.as_str())),
        ("subject", show.exact(source.subject.as_str())),
        ("accesscontrol", scope.map_or(Node::Null, |scope| show.exact(scope.as_str()))),
        ("tool", show.exact(tool.as_str())),
        ("state", Node::text(finding.state().to_string())),
        ("reason", show.words(&finding.to_string())),
    ])
}

/// The identifiers are those that the artifacts claim. They are authentic only if the verdict is
/// `accept`.
fn bound(found: &AisFinding, show: Showing) -> Node {
    let answer = found.answer();
    let said = |pointer: &str| match answer.pointer(pointer).and_then(Value::as_str) {
        Some(text) if text.len() <= ID_BYTES_MAX => show.exact(text),
        Some(text) => show.words(text),
        None => Node::Null,
    };
    let code = found.refused_by().map(|code| code.as_str());
    Node::Map(vec![
        ("verdict", Node::Word(if code.is_some() { "refuse" } else { "accept" })),
        ("code", code.map_or(Node::Null, Node::text)),
        ("uia", said("/bundle/ids/uia")),
        ("apa", said("/bundle/ids/apa")),
        ("apr", said("/bundle/ids/apr")),
        ("tca", said("/bundle/ids/tca")),
        ("ibe", said("/bundle/ids/ibe")),
        ("step", said("/bundle/step")),
        ("nonce", said("/bundle/nonce")),
        ("exp", said("/bundle/exp")),
        ("crl_issued", said("/bundle/crl/issued")),
        ("crl_expires", said("/bundle/crl/expires")),
        ("answer", answered(&whole(answer), show)),
    ])
}

/// Returns the whole answer if it fits, and its digest. The parts next to it are always present.
fn answered(text: &str, show: Showing) -> Node {
    let fits = text.len() <= ANSWER_BYTES_MAX;
    Node::Map(vec![
        ("json", if fits { show.exact(text) } else { Node::Null }),
        ("sha256", Node::Text(Sha256::of(text.as_bytes()).to_string())),
    ])
}

/// Returns the answer as `toolexec gate` or `toolexec ais verify` prints it, on one line.
fn whole(answer: &impl serde::Serialize) -> String {
    // An answer always serializes: its keys are text and its numbers are finite.
    serde_json::to_string(answer).unwrap_or_default()
}

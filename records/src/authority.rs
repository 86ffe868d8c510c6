//! What the authorities beside the policy's own rules answered: the AANA gate, the permissions. The whole answer stands in
//! the record, as the authority gave it, beside the parts of it that a reader asks for first.

use policies::{GateFinding, Grounds, PermissionFinding};

use crate::outside::Showing;
use crate::yaml::{Map, Node};

/// What each of them said; `null` where it was not asked.
pub(crate) fn answers(grounds: &Grounds, show: Showing) -> Map {
    let gate = grounds.gate.as_ref().map_or(Node::Null, |finding| gate(finding, show));
    let permission = grounds.permission.as_ref();
    let permission = permission.map_or(Node::Null, |finding| permitted(finding, show));
    vec![("gate", gate), ("permission", permission)]
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
        ("answer", show.exact(&whole(result))),
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

/// The answer as `toolexec gate` prints it.
fn whole(answer: &impl serde::Serialize) -> String {
    // Nothing in an answer can fail to be JSON: its keys are text and its numbers are finite.
    serde_json::to_string(answer).unwrap_or_default()
}

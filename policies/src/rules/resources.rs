//! The rules about the requested resources: limits, constraints, layers. Each must report
//! exactly one verdict per rule name, and none may change the request.

use model::escape_line;
use validator::{Code, Request};

use crate::findings::Findings;
use crate::policy::Policy;
use crate::reasons::RuleName;

pub(crate) fn limits(request: &Request, policy: &Policy, findings: &mut Findings) {
    let ceilings = policy.ceilings();
    let cpu = request.cpu();
    let rows = [
        (
            (RuleName::LimitsCpu, "cpu_limit", "cpu_cores_max"),
            (u64::from(cpu.as_milli()), ceilings.cpu_milli),
            (cpu.to_string(), cores(ceilings.cpu_milli)),
        ),
        (
            (RuleName::LimitsMemory, "memory_limit_mb", "memory_mb_max"),
            (request.memory_limit_mb(), ceilings.memory_mb),
            (request.memory_limit_mb().to_string(), ceilings.memory_mb.to_string()),
        ),
        (
            (RuleName::LimitsTime, "time_limit_sec", "time_sec_max"),
            (request.time_limit_sec(), ceilings.time_sec),
            (request.time_limit_sec().to_string(), ceilings.time_sec.to_string()),
        ),
    ];
    for ((rule, key, ceiling_key), (requested, ceiling), (requested_text, ceiling_text)) in rows {
        if requested <= ceiling {
            findings.pass(rule, format!("{key} {requested_text}, at most {ceiling_text}"));
            continue;
        }
        let reason =
            format!("{key}: {requested_text} is above limits.{ceiling_key} ({ceiling_text})");
        let hint = format!("request at most {ceiling_text}");
        findings.refuse(rule, Code::LimitsOverPolicy, reason, &hint);
    }
}

/// Formats thousandths of a core as the shortest decimal.
fn cores(milli: u64) -> String {
    if milli.is_multiple_of(1000) {
        return (milli / 1000).to_string();
    }
    let text = format!("{}.{:03}", milli / 1000, milli % 1000);
    text.trim_end_matches('0').to_owned()
}

pub(crate) fn constraints(request: &Request, policy: &Policy, findings: &mut Findings) {
    let others: Vec<String> = request
        .constraints()
        .iter()
        .filter(|constraint| !constraint.is_seed())
        .map(|constraint| format!("\"{}\"", escape_line(constraint.text())))
        .collect();
    if others.is_empty() {
        findings.pass(RuleName::Constraints, "every constraint is enforced");
    } else if policy.rules.constraints_refused {
        let reason = format!("constraints: {} cannot be enforced", others.join(", "));
        let hint = "use only the three constraints of the schema";
        findings.refuse(RuleName::Constraints, Code::FrontmatterValue, reason, hint);
    } else {
        findings
            .pass(RuleName::Constraints, format!("stated, not enforced: {}", others.join(", ")));
    }
}

/// Records the required layers. The launcher refuses the run if the sandbox lacks one.
pub(crate) fn layers(policy: &Policy, findings: &mut Findings) {
    let layers = &policy.rules.layers;
    let exception = if layers.cgroup_exception { "cgroup" } else { "none" };
    let reason = format!(
        "required of the sandbox: {}, Landlock ABI {} or later; exceptions: {exception}",
        layers.required.join(", "),
        layers.landlock_abi_min
    );
    findings.pass(RuleName::Layers, reason);
}

//! The comparison of the digests in use with the supply chain assertion. A component that the
//! assertion does not name must never count as a part of it.

use model::Sha256;
use serde_json::json;

use super::super::code::{AisCode, AisRefusal};
use super::super::rules::Presence;
use super::super::sca::ComponentKind;
use super::model::{GuardInput, GuardObservation, GuardResult};

pub(super) fn digests(case: &GuardInput<'_>) -> GuardResult {
    let Some(sca) = case.bundle.sca() else {
        return match case.rules.sca {
            Presence::Optional => Ok(GuardObservation::NotApplicable("no supply chain assertion")),
            Presence::Required => {
                let message = "no supply chain assertion, but policy requires one";
                Err(AisRefusal::new(AisCode::ScaMismatch, message))
            }
        };
    };
    let used = case.supply;
    for (name, digest) in &used.policies {
        same("policy", name, digest, sca.hash_of(ComponentKind::Policy, name))?;
    }
    for (name, digest) in &used.guards {
        same("guard", name, digest, sca.hash_of(ComponentKind::Guard, name))?;
    }
    for (name, digest) in &used.runtimes {
        same("runtime", name, digest, sca.hash_of_runtime(name))?;
    }
    let model = case.bundle.apa().model.hash.as_str();
    if !sca.has_model(model) {
        let message = format!("the plan's model `{model}` is not in the supply chain assertion");
        return Err(AisRefusal::new(AisCode::ScaMismatch, message).with(json!({ "model": model })));
    }
    let count = used.policies.len() + used.guards.len() + used.runtimes.len();
    Ok(GuardObservation::Passed(format!("{count} digests and the plan's model, as asserted")))
}

fn same(kind: &str, name: &str, is: &Sha256, asserted: Option<&str>) -> Result<(), AisRefusal> {
    let is = format!("sha256:{is}");
    if asserted == Some(is.as_str()) {
        return Ok(());
    }
    let message = match asserted {
        Some(asserted) => format!("{kind} `{name}`: {is} is used, but {asserted} was asserted"),
        None => format!("{kind} `{name}` is used, but was not asserted"),
    };
    let details = json!({ "kind": kind, "name": name, "used": is, "asserted": asserted });
    Err(AisRefusal::new(AisCode::ScaMismatch, message).with(details))
}

//! Decides whether a request is within the bounds of a standing approval. It must never admit a
//! request with a value that no bound covers.

use std::collections::{BTreeMap, BTreeSet};

use model::HostAudience;
use validator::{
    Binding, ExpectedOutput, InputSlot, NamePattern, Network, Request, StandingApproval,
    StandingInput, StandingTerms, Work, bind,
};

use super::difference::{StandingDifference, StandingLimit};

/// The measured size of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InputSize<'n> {
    /// The name of the input.
    pub name: &'n str,
    /// Its size in bytes; that of a folder is the sum of its files.
    pub bytes: u64,
}

/// Compares a request with a standing approval, on the host of these names. `sizes` are the
/// measured sizes of the request's inputs.
///
/// # Errors
/// Each [`StandingDifference`]; then the request is not admitted.
pub fn admits(
    standing: &StandingApproval,
    request: &Request,
    host: HostAudience<'_>,
    sizes: &[InputSize<'_>],
) -> Result<Binding, Vec<StandingDifference>> {
    match (compare(standing, request, host), check_sizes(standing.terms(), request, sizes)) {
        (Ok(binding), Ok(())) => Ok(binding),
        (one, other) => Err(one.err().into_iter().chain(other.err()).flatten().collect()),
    }
}

/// Compares everything but the sizes of the inputs, which are unknown before the inputs are copied.
///
/// # Errors
/// Each [`StandingDifference`].
pub(crate) fn compare(
    standing: &StandingApproval,
    request: &Request,
    host: HostAudience<'_>,
) -> Result<Binding, Vec<StandingDifference>> {
    let terms = standing.terms();
    let mut found = Vec::new();
    source(standing, request, host, &mut found);
    bounds(terms, request, &mut found);
    fixed_inputs(terms, request, &mut found);
    let names: Vec<&str> = request.inputs().iter().map(validator::Input::name).collect();
    match bind(terms, request.argv(), &names) {
        Ok(binding) if found.is_empty() => return Ok(binding),
        Ok(_) => {}
        Err(errors) => found.extend(errors.into_iter().map(StandingDifference::Binding)),
    }
    Err(found)
}

/// Compares where the request comes from, and for which host and person it is.
fn source(
    standing: &StandingApproval,
    request: &Request,
    host: HostAudience<'_>,
    found: &mut Vec<StandingDifference>,
) {
    let terms = standing.terms();
    let agent = request.agent();
    let is_listed = agent.is_some_and(|agent| terms.agents.iter().any(|it| it == agent.name()));
    let subject = terms.subject.as_deref();
    let is_subject = subject.is_none() || agent.map(validator::RequestAgent::subject) == subject;
    let is_approved = terms.approved == Some(request.approved())
        && request.approved_by() == format!("standing {}", terms.id);
    for (holds, difference) in [
        (request.standing() == Some(&standing.reference()), StandingDifference::Reference),
        (request.unknown_extensions().is_empty(), StandingDifference::Extension),
        (host.includes(&terms.audience), StandingDifference::Host),
        (request.audience() == Some(&terms.audience), StandingDifference::Audience),
        (is_listed, StandingDifference::Agent),
        (agent.is_none_or(|agent| agent.accesscontrol().is_none()), StandingDifference::Scope),
        (is_subject, StandingDifference::Subject),
        (is_approved, StandingDifference::Approval),
    ] {
        if !holds {
            found.push(difference);
        }
    }
}

fn bounds(terms: &StandingTerms, request: &Request, found: &mut Vec<StandingDifference>) {
    let risk = request.risk();
    for (holds, difference) in [
        (request.language() == terms.language, StandingDifference::Language),
        (request.environment() == terms.environment.as_ref(), StandingDifference::Environment),
        (request.backend().is_none(), StandingDifference::Backend),
        (matches!(request.work(), Work::Command { .. }), StandingDifference::Code),
        (request.cpu() <= terms.cpu, StandingDifference::Limit(StandingLimit::Cpu)),
        (
            request.memory_limit_mb() <= terms.memory_limit_mb,
            StandingDifference::Limit(StandingLimit::Memory),
        ),
        (
            request.time_limit_sec() <= terms.time_limit_sec,
            StandingDifference::Limit(StandingLimit::Time),
        ),
        (risk.level() <= terms.risk, StandingDifference::Risk),
        (risk.sensitivity() <= terms.sensitivity, StandingDifference::Sensitivity),
    ] {
        if !holds {
            found.push(difference);
        }
    }
    let listed = match &terms.network {
        Network::None => &[][..],
        Network::Allowlist(hosts) => hosts,
    };
    let hosts = request.network().hosts().iter().filter(|host| !listed.contains(host));
    found.extend(hosts.cloned().map(StandingDifference::NetworkHost));
    outputs(terms, request, found);
    let missing = terms.constraints.iter().filter(|it| !request.constraints().contains(it));
    found.extend(missing.map(|it| StandingDifference::Constraint(it.text().to_owned())));
}

/// Compares the outputs, and the folders whose patches they are.
fn outputs(terms: &StandingTerms, request: &Request, found: &mut Vec<StandingDifference>) {
    let ours = folders_by_path(&terms.outputs);
    let theirs = folders_by_path(request.outputs_expected());
    let paths: BTreeSet<&str> = ours.keys().chain(theirs.keys()).copied().collect();
    for path in paths {
        match (ours.get(path), theirs.get(path)) {
            (Some(one), Some(other)) if one == other => {}
            (Some(_), Some(_)) => found.push(StandingDifference::Patch(path.to_owned())),
            _ => found.push(StandingDifference::Output(path.to_owned())),
        }
    }
}

/// Returns the folder of each output that is a patch, by the path of the output.
fn folders_by_path(outputs: &[ExpectedOutput]) -> BTreeMap<&str, Option<&str>> {
    outputs.iter().map(|output| (output.path(), output.patch_of())).collect()
}

fn fixed_inputs(terms: &StandingTerms, request: &Request, found: &mut Vec<StandingDifference>) {
    for input in request.inputs() {
        let has_other_bytes = terms.inputs.iter().any(|it| match it {
            StandingInput::Fixed(fixed) => {
                fixed.name() == input.name() && fixed.sha256() != input.sha256()
            }
            StandingInput::Slot(_) => false,
        });
        if has_other_bytes {
            found.push(StandingDifference::InputBytes(input.name().to_owned()));
        }
    }
}

/// Compares the measured sizes of the request's inputs with the terms. An unknown size is too
/// large.
///
/// # Errors
/// Each [`StandingDifference`].
pub fn check_sizes(
    terms: &StandingTerms,
    request: &Request,
    sizes: &[InputSize<'_>],
) -> Result<(), Vec<StandingDifference>> {
    let (mut found, mut all): (_, u64) = (Vec::new(), 0);
    for input in request.inputs() {
        let name = input.name();
        let bytes = sizes.iter().find(|size| size.name == name).map(|size| size.bytes);
        all = all.saturating_add(bytes.unwrap_or(u64::MAX));
        let bytes_max = slot_of(terms, name).map_or(terms.inputs_bytes_max, |slot| slot.bytes_max);
        if bytes.is_none_or(|bytes| bytes > bytes_max) {
            found.push(StandingDifference::InputSize(name.to_owned()));
        }
    }
    if all > terms.inputs_bytes_max {
        found.push(StandingDifference::Limit(StandingLimit::Inputs));
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Returns the slot that a file of this name belongs to, unless the name is a fixed file's.
fn slot_of<'t>(terms: &'t StandingTerms, name: &str) -> Option<&'t InputSlot> {
    let is_fixed = terms
        .inputs
        .iter()
        .any(|it| matches!(it, StandingInput::Fixed(fixed) if fixed.name() == name));
    terms.inputs.iter().find_map(|it| match it {
        StandingInput::Slot(slot) if !is_fixed && NamePattern::matches(&slot.files, name) => {
            Some(slot)
        }
        _ => None,
    })
}

//! The bounds of a standing approval in words. The caller must escape them before it prints them.

use validator::{InputSlot, Network, StandingInput, StandingTerms};

/// The title of the section in which the author describes the widest effect.
const EFFECT: &str = "Widest Effect";

/// Returns one line: the number of runs, their time, their agents and their host.
pub(super) fn summary(terms: &StandingTerms) -> String {
    let runs = counted(terms.uses_max, "run");
    let agents = match terms.agents.as_slice() {
        [only] => format!("agent {only}"),
        several => format!("agents {}", several.join(", ")),
    };
    let workflow = match &terms.subject {
        Some(subject) => format!(" in workflow {subject}"),
        None => String::new(),
    };
    format!(
        "{runs}, at most {} in an hour, from {} until {}, for {agents}{workflow}, on host {}",
        terms.uses_per_hour_max, terms.not_before, terms.not_after, terms.audience
    )
}

/// Returns a row for each value that a run may choose: its name, and the permitted values.
pub(super) fn may_vary(terms: &StandingTerms) -> Vec<(String, String)> {
    let parameters = terms.parameters.iter();
    let parameters = parameters.map(|it| (format!("{{{}}}", it.name), it.kind.permitted_values()));
    let slots = slots(terms).map(|slot| (format!("slot {}", slot.name), files_of(slot)));
    parameters.chain(slots).collect()
}

pub(super) fn slots(terms: &StandingTerms) -> impl Iterator<Item = &InputSlot> {
    terms.inputs.iter().filter_map(|input| match input {
        StandingInput::Slot(slot) => Some(slot),
        StandingInput::Fixed(_) => None,
    })
}

pub(super) fn fixed_inputs(terms: &StandingTerms) -> impl Iterator<Item = &validator::Input> {
    terms.inputs.iter().filter_map(|input| match input {
        StandingInput::Fixed(fixed) => Some(fixed),
        StandingInput::Slot(_) => None,
    })
}

fn files_of(slot: &InputSlot) -> String {
    let (min, max) = slot.count;
    let number = if min == max {
        counted(max, "file")
    } else {
        format!("{min} to {}", counted(max, "file"))
    };
    format!("{number} named {}, any content, at most {} bytes each", slot.files, slot.bytes_max)
}

fn counted(number: u64, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    }
}

/// Returns the widest effect as it follows from the bounds.
pub(super) fn widest_effect(terms: &StandingTerms) -> String {
    let mut parts: Vec<String> =
        slots(terms).map(|slot| format!("any bytes as {}", slot.files)).collect();
    if !terms.parameters.is_empty() {
        let names: Vec<String> =
            terms.parameters.iter().map(|it| format!("{{{}}}", it.name)).collect();
        parts.push(format!("any permitted value of {}", names.join(", ")));
    }
    let program = if terms.runs_code_of_inputs { "any program" } else { "fixed program" };
    parts.push(program.to_owned());
    parts.push(match &terms.network {
        Network::Allowlist(hosts) if !hosts.is_empty() => {
            let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
            format!("network to {}", hosts.join(", "))
        }
        Network::Allowlist(_) | Network::None => "no network".to_owned(),
    });
    parts.join("; ")
}

/// Returns the lines in which the author describes the widest effect, the last section of a
/// well-formed document.
pub(super) fn stated_effect(document: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(document);
    let lines: Vec<&str> = text.lines().collect();
    let is_heading = |line: &&str| {
        let title = line.strip_prefix("##").filter(|title| title.starts_with([' ', '\t']));
        title.is_some_and(|title| title.trim() == EFFECT)
    };
    let below = lines.iter().rposition(is_heading).map_or(lines.len(), |at| at + 1);
    let mut found: Vec<String> = lines.iter().skip(below).map(|line| (*line).to_owned()).collect();
    while found.last().is_some_and(|line| line.trim().is_empty()) {
        found.pop();
    }
    found.into_iter().skip_while(|line| line.trim().is_empty()).collect()
}

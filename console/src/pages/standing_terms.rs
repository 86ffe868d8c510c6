//! The terms of a standing approval, as names and values of the parsed document.

use maud::{Markup, html};
use validator::{StandingInput, StandingTerms};

use super::request_facts::{outputs, word_text};
use crate::text::{self, code_row, row};

/// Returns the sections of the terms.
pub(super) fn sections(terms: &StandingTerms) -> Markup {
    html! {
        h2 { "Runs, time and agents" }
        (text::facts(bounds(terms)))
        h2 { "May vary" }
        (variable(terms))
        h2 { "The command, word by word, without a shell" }
        ol { @for word in &terms.words { li { code { (word_text(&word.to_string())) } } } }
        h2 { "Fixed inputs" }
        (fixed_inputs(terms))
        h2 { "The most that a run may ask for" }
        (text::facts(limits(terms)))
        h2 { "Outputs" }
        (outputs(&terms.outputs))
    }
}

fn bounds(terms: &StandingTerms) -> Vec<(&'static str, Markup)> {
    let mut rows = vec![
        row("Purpose", &terms.purpose),
        row("Uses", &terms.uses_max.to_string()),
        row("Uses in an hour", &terms.uses_per_hour_max.to_string()),
        row("From", &terms.not_before.to_string()),
        row("Until", &terms.not_after.to_string()),
        row("Agents", &terms.agents.join(", ")),
        row("Workflow", terms.subject.as_deref().unwrap_or("each workflow of these agents")),
        row("Host", &terms.audience),
        row("Created", &terms.created.to_string()),
    ];
    if let (Some(by), Some(at)) = (&terms.approved_by, terms.approved) {
        rows.push(row("Approved by, as the text says", by));
        rows.push(row("Approved at, as the text says", &at.to_string()));
    }
    rows
}

/// Returns the values that a run may choose.
fn variable(terms: &StandingTerms) -> Markup {
    let slots: Vec<_> = terms
        .inputs
        .iter()
        .filter_map(|input| match input {
            StandingInput::Slot(slot) => Some(slot),
            StandingInput::Fixed(_) => None,
        })
        .collect();
    html! {
        @if slots.is_empty() && terms.parameters.is_empty() { p { "Nothing." } }
        ul {
            @for parameter in &terms.parameters {
                li {
                    code { "{" (text::line(&parameter.name)) "}" } ": "
                    (text::line(&parameter.kind.permitted_values()))
                }
            }
            @for slot in slots {
                li {
                    (slot.count.0) " to " (slot.count.1) " files named "
                    code { (text::line(&slot.files.to_string())) }
                    ", any content, at most " (slot.bytes_max) " bytes each"
                }
            }
        }
        @if terms.runs_code_of_inputs {
            p.wait { "The content of these files may be executed: any program." }
        }
    }
}

fn fixed_inputs(terms: &StandingTerms) -> Markup {
    let rows: Vec<_> = terms
        .inputs
        .iter()
        .filter_map(|input| match input {
            StandingInput::Fixed(fixed) => Some(fixed),
            StandingInput::Slot(_) => None,
        })
        .collect();
    html! {
        @if rows.is_empty() { p { "None." } }
        dl {
            @for input in rows {
                dt { code { "/in/" (text::line(input.name())) } }
                dd { code { (input.sha256()) } }
            }
        }
    }
}

fn limits(terms: &StandingTerms) -> Vec<(&'static str, Markup)> {
    let mut rows = vec![
        row("Language", terms.language.as_str()),
        row("Cores", &terms.cpu.to_string()),
        row("Memory", &format!("{} MiB", terms.memory_limit_mb)),
        row("Time", &format!("{} s", terms.time_limit_sec)),
        row("Inputs", &format!("{} bytes together", terms.inputs_bytes_max)),
        row("Network", terms.network.as_str()),
        row("Risk", terms.risk.as_str()),
        row("Sensitivity of the data", terms.sensitivity.as_str()),
    ];
    for host in terms.network.hosts() {
        rows.push(code_row("Allowed host", &host.to_string()));
    }
    if let Some(environment) = &terms.environment {
        rows.push(code_row("Environment", &environment.to_string()));
    }
    for constraint in &terms.constraints {
        rows.push(row("Constraint", constraint.text()));
    }
    rows
}

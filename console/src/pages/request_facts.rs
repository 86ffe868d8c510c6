//! Every field of a parsed request, as names and values. The values are from the parsed request and
//! never from the text of the drafter, except where they are quoted.

use maud::{Markup, html};
use validator::{ExpectedOutput, Request, Work};

use crate::text::{self, code_row, row};

/// Returns the sections of a request, except for its inputs.
pub(super) fn sections(request: &Request) -> Markup {
    html! {
        h2 { "Request" }
        (text::facts(identity(request)))
        h2 { "Command, word by word, without a shell" }
        (work(request))
        h2 { "Limits and network" }
        (text::facts(limits(request)))
        h2 { "Risk, as the requester states it" }
        (text::facts(risk(request)))
        h2 { "Expected outputs" }
        (outputs(request.outputs_expected()))
        (constraints(request))
    }
}

fn identity(request: &Request) -> Vec<(&'static str, Markup)> {
    let none = "not named";
    let mut rows = vec![
        row("Purpose", request.purpose()),
        row("Created", &request.created().to_string()),
        row("Requester", request.requester().unwrap_or(none)),
        row("Written by", request.requested_by().as_str()),
        row("Host", request.audience().unwrap_or("any host")),
        row("Language", request.language().as_str()),
        row("Backend", request.backend().map_or("the default of the policy", |it| it.as_str())),
        code_row("Intent", &request.intent_sha256().to_string()),
    ];
    if let Some(agent) = request.agent() {
        rows.push(row("Agent", agent.name()));
        rows.push(row("Subject of the agent", agent.subject()));
        if let Some(access) = agent.accesscontrol() {
            rows.push(row("Access control", access));
        }
    }
    if let Some(environment) = request.environment() {
        rows.push(code_row("Environment", &environment.to_string()));
    }
    if let Some(standing) = request.standing() {
        rows.push(code_row("Standing approval", &standing.to_string()));
    }
    for key in request.unknown_extensions() {
        rows.push(row("Extension that is not read", key));
    }
    rows
}

/// Returns the words of the command, one a line, or the code.
fn work(request: &Request) -> Markup {
    html! {
        @match request.work() {
            Work::Command { argv, .. } => {
                ol { @for word in argv { li { code { (word_text(word)) } } } }
                @if request.has_inline_code() {
                    p.wait { "The command line contains program text." }
                }
            }
            Work::Code(code) => (text::lines(code.text().as_bytes())),
        }
    }
}

/// Quotes a word that contains blanks or is empty.
pub(super) fn word_text(word: &str) -> String {
    let shown = text::line(word);
    let is_plain = !shown.is_empty() && !shown.contains([' ', '"']);
    if is_plain { shown } else { format!("\"{}\"", shown.replace('"', "\\\"")) }
}

fn limits(request: &Request) -> Vec<(&'static str, Markup)> {
    let mut rows = vec![
        row("Cores", &request.cpu().to_string()),
        row("Memory", &format!("{} MiB", request.memory_limit_mb())),
        row("Time", &format!("{} s", request.time_limit_sec())),
        row("Network", request.network().as_str()),
    ];
    for host in request.network().hosts() {
        rows.push(code_row("Allowed host", &host.to_string()));
    }
    rows
}

fn risk(request: &Request) -> Vec<(&'static str, Markup)> {
    let risk = request.risk();
    let mut rows = vec![
        row("Level", risk.level().as_str()),
        row("Justification", risk.justification()),
        row("Sensitivity of the data", risk.sensitivity().as_str()),
    ];
    if !risk.network_rationale().is_empty() {
        rows.push(row("Reason for the network", risk.network_rationale()));
    }
    rows
}

/// Returns the list of outputs.
pub(super) fn outputs(outputs: &[ExpectedOutput]) -> Markup {
    html! {
        @if outputs.is_empty() { p { "None." } }
        ul {
            @for output in outputs {
                li {
                    code { "/out/" (text::line(output.path())) }
                    @if let Some(folder) = output.patch_of() {
                        ", the changes to " code { (text::line(folder)) }
                    }
                    ": " (text::line(output.description()))
                }
            }
        }
    }
}

fn constraints(request: &Request) -> Markup {
    let stated: Vec<_> = request.constraints().iter().filter(|it| !it.is_seed()).collect();
    html! {
        @if !stated.is_empty() {
            h2 { "Constraints that are stated and not enforced" }
            ul { @for constraint in stated { li { (text::line(constraint.text())) } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_shows_where_it_begins_and_ends() {
        assert_eq!(word_text("python3"), "python3");
        assert_eq!(word_text(""), "\"\"");
        assert_eq!(word_text("a b\"c"), "\"a b\\\"c\"");
        assert_eq!(word_text("a\nb\tc\u{202e}"), "a\\u{a}b\\tc\\u{202e}");
    }
}

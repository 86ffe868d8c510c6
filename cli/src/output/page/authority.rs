//! The section on decisions: rules, findings in the request, and other authorization checks.

use serde_json::Value;

use super::facts::{self, PageFacts};
use super::html::{Html, HtmlLiteral, TableCell, Tone, literal};

pub(super) fn section(page: &mut Html, facts: &PageFacts) {
    page.section(literal("Decisions"));
    let rules: Vec<_> = facts.rows("rules").iter().map(rule).collect();
    if rules.is_empty() {
        page.note(literal("No rule was evaluated."));
    } else {
        let columns = [literal("Rule"), literal("Verdict"), literal("Reason")];
        page.table(literal("Rules of the policy"), &columns, rules);
    }
    let violations: Vec<_> = facts.rows("violations").iter().map(violation).collect();
    if !violations.is_empty() {
        let columns = [literal("Code"), literal("Severity"), literal("Line"), literal("Problem")];
        page.table(literal("Findings of the request check"), &columns, violations);
    }
    let authorities = [
        (literal("AANA gate"), "gate"),
        (literal("Permission manager"), "permission"),
        (literal("AIS guard"), "ais"),
    ];
    for (name, key) in authorities {
        authority(page, name, facts.at(key));
    }
    page.end();
}

fn rule(row: &Value) -> Vec<TableCell> {
    let verdict = facts::display(&row["verdict"]);
    let (tone, word) = match verdict.as_str() {
        "pass" => (Tone::Good, verdict),
        "not_applicable" => (Tone::Plain, "not applicable".to_owned()),
        _ => (Tone::Bad, verdict),
    };
    vec![
        TableCell::Code(facts::display(&row["rule"])),
        TableCell::Badge(tone, word),
        TableCell::Text(facts::display(&row["reason"])),
    ]
}

fn violation(row: &Value) -> Vec<TableCell> {
    let severity = facts::display(&row["severity"]);
    let tone = if severity == "error" { Tone::Bad } else { Tone::Care };
    vec![
        TableCell::Code(facts::display(&row["code"])),
        TableCell::Badge(tone, severity),
        TableCell::Number(facts::display(&row["line"])),
        TableCell::Text(facts::display(&row["message"])),
    ]
}

/// Adds an authority's answer, key by key. The record contains the complete answer.
fn authority(page: &mut Html, name: HtmlLiteral, answer: &Value) {
    let rows = match answer {
        Value::Null => return,
        Value::Object(keys) => {
            let rows = keys.iter().filter(|(key, _)| *key != "answer");
            rows.map(|(key, value)| {
                vec![TableCell::Code(key.clone()), TableCell::Text(facts::display(value))]
            })
            .collect()
        }
        other => {
            vec![vec![TableCell::Code("answer".to_owned()), TableCell::Text(facts::display(other))]]
        }
    };
    page.table(name, &[literal("Key"), literal("Value")], rows);
}

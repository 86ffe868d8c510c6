//! `semantic-entailment-v1`: the degree to which a plan serves an intent, by the words of both
//! (seed, section 4). The result must equal that of every other implementation, however coarse the
//! procedure is.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::apa::{Apa, PlanStep};
use super::uia::Uia;

/// The tolerance between two computations of one number (seed, section 4).
pub const EVIDENCE_TOLERANCE: f64 = 1e-9;

const KEYWORD_MIN: usize = 4;
const OUTWARD: [&str; 6] = ["send", "post", "write", "export", "email", "delete"];

/// The result of the procedure.
#[derive(Clone, PartialEq, Debug)]
pub struct Entailment {
    /// The share of steps that serve the intent, 0 to 1.
    pub coverage: f64,
    /// The risk of the plan, 0 to 1.
    pub risk: f64,
    /// The score of each step, in order: 1 if it serves the intent, else 0.
    pub scores: Vec<f64>,
}

/// Computes the evidence of a plan under an intent.
#[must_use]
pub fn entail(uia: &Uia, apa: &Apa) -> Entailment {
    let purpose = lower(uia.purpose.as_str());
    let keywords: BTreeSet<&str> = purpose
        .split(|c: char| !c.is_ascii_lowercase())
        .filter(|word| word.len() >= KEYWORD_MIN)
        .collect();
    let serves = |step: &PlanStep| serves(step.tool.as_str(), &step.args, &keywords);
    let scores: Vec<f64> =
        apa.steps.iter().map(|step| if serves(step) { 1.0 } else { 0.0 }).collect();
    if scores.is_empty() {
        return Entailment { coverage: 0.0, risk: 1.0, scores };
    }
    let (mut aligned, mut total) = (0.0_f64, 0.0_f64);
    for score in &scores {
        aligned += score;
        total += 1.0;
    }
    let mut risk = 0.0_f64;
    if apa.totals.predicted_writes.get() > 0 {
        risk += 0.5;
    }
    if OUTWARD.iter().any(|word| purpose.contains(word)) {
        risk += 0.3;
    }
    Entailment { coverage: aligned / total, risk: risk.clamp(0.0, 1.0), scores }
}

fn serves(tool: &str, args: &Map<String, Value>, keywords: &BTreeSet<&str>) -> bool {
    let text = |name: &str| args.get(name).and_then(Value::as_str).map(lower);
    let names_one = |text: &str| keywords.iter().any(|keyword| text.contains(keyword));
    match tool {
        "http.get" => text("url").is_some_and(|url| keywords.is_empty() || names_one(&url)),
        "ollama.generate" => text("prompt").is_some_and(|prompt| names_one(&prompt)),
        tool if tool.starts_with("toolexec.run.") => {
            text("prompt").is_some_and(|prompt| names_one(&prompt))
        }
        _ => false,
    }
}

/// Lowercases one character at a time, so that every implementation derives the same keywords.
fn lower(text: &str) -> String {
    text.chars().filter_map(|c| c.to_lowercase().next()).collect()
}

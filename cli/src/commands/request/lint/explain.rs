//! `toolexec lint --explain`: explains a code. All text comes from the validator, none from here.

use std::process::ExitCode;

use model::escape_line;
use validator::{RuleDoc, rule_docs};

use crate::failure::Failure;
use crate::output;

pub(super) fn explain(code: &str) -> Result<ExitCode, Failure> {
    let Some(rule) = RuleDoc::named(code) else {
        return Err(Failure::Message(unknown(code)));
    };
    output::text(&rule.explain(code))?;
    Ok(ExitCode::SUCCESS)
}

fn unknown(code: &str) -> String {
    const SHOWN_MAX: usize = 64;
    let shown: String = escape_line(code).chars().take(SHOWN_MAX).collect();
    let near = rule_docs::similar_codes(code);
    let meant = if near.is_empty() {
        "use a code such as command.pipeline".to_owned()
    } else {
        format!("similar codes are {}", near.join(", "))
    };
    format!("lint --explain: unknown code '{shown}'; help: {meant}")
}

//! `toolexec lint --explain`: prints the meaning of a code, its reason, its fix and examples. All
//! text comes from the validator; nothing may be added here.

use std::process::ExitCode;

use model::escape_line;
use validator::{RuleDoc, rules};

use crate::failure::Failure;
use crate::output;

pub(super) fn explain(asked: &str) -> Result<ExitCode, Failure> {
    let Some(rule) = RuleDoc::named(asked) else {
        return Err(Failure::Message(unknown(asked)));
    };
    output::text(&rule.explain(asked))?;
    Ok(ExitCode::SUCCESS)
}

fn unknown(asked: &str) -> String {
    const SHOWN_MAX: usize = 64;
    let shown: String = escape_line(asked).chars().take(SHOWN_MAX).collect();
    let near = rules::similar_codes(asked);
    let meant = if near.is_empty() {
        "use a code such as command.pipeline".to_owned()
    } else {
        format!("similar codes are {}", near.join(", "))
    };
    format!("lint --explain: unknown code '{shown}'; help: {meant}")
}

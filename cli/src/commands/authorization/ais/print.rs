//! Printing of an answer.

use std::process::ExitCode;

use serde_json::Value;

use super::error::AisCommandResult;
use crate::output;

pub(super) fn print(value: &Value) -> AisCommandResult {
    output::line(value)?;
    Ok(ExitCode::SUCCESS)
}

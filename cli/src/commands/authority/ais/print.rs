//! Printing of an answer.

use std::process::ExitCode;

use serde_json::Value;

use super::error::Done;
use crate::output;

/// Prints one object on one line.
pub(super) fn print(value: &Value) -> Done {
    output::line(value)?;
    Ok(ExitCode::SUCCESS)
}

//! The C compiler of this host.

use std::process::Command;
use std::time::Duration;

use crate::bench::CliOutput;
use crate::skip;

/// Runs a compiler. Logs a skip of the test and returns false without one.
///
/// # Panics
/// Panics if the source does not compile.
pub(crate) fn is_compiled(test: &str, compiler: &mut Command) -> bool {
    match compiler.output() {
        Ok(output) => {
            CliOutput::from_output(&output, Duration::ZERO).assert_code(0);
            true
        }
        Err(error) => {
            skip(test, &format!("no C compiler: {error}"));
            false
        }
    }
}

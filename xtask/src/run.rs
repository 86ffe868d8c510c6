//! Starts a program in the root of the repository, shows its command line, and reports its failure.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or_else(|| Path::new("."))
}

/// Runs a script of the repository.
///
/// # Errors
/// The script cannot be started, or fails.
pub(crate) fn script(path: &str, args: &[String]) -> Result<(), String> {
    step(Command::new(root().join(path)).args(args))
}

/// Runs a program in the root of the repository, and prints the time it took.
///
/// # Errors
/// The program cannot be started, or fails.
pub(crate) fn step(command: &mut Command) -> Result<(), String> {
    let line = command_line(command);
    println!("+ {line}");
    let begun = Instant::now();
    let status =
        command.current_dir(root()).status().map_err(|error| format!("{line}: {error}"))?;
    if status.success() {
        println!("  {:.1} s", begun.elapsed().as_secs_f64());
        return Ok(());
    }
    Err(format!("{line}: {status}"))
}

/// Returns the standard output of a program that runs in the root of the repository.
///
/// # Errors
/// The program cannot be started, fails, or prints invalid UTF-8.
pub(crate) fn output(program: &str, args: &[&str]) -> Result<String, String> {
    output_of(Command::new(program).args(args))
}

/// As [`output`].
pub(crate) fn output_of(command: &mut Command) -> Result<String, String> {
    let line = command_line(command);
    let output =
        command.current_dir(root()).output().map_err(|error| format!("{line}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{line}: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{line}: {error}"))
}

fn command_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

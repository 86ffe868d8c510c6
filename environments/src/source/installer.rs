//! The version of the program that installed the packages, for the record of a build. A program
//! that prints none must not make the build fail.

use std::process::Command;

use super::error::SourceError;
use super::model::{SourceInstaller, SourceTools};
use super::program::run_to_end;

const UNKNOWN: &str = "unknown";
const VERSION_BYTES_MAX: usize = 64;

/// Asks a program for its version with `--version`.
pub(super) fn installer(
    name: &str,
    command: &mut Command,
    tools: &SourceTools,
) -> Result<SourceInstaller, SourceError> {
    let what = format!("{name} --version");
    let asked = run_to_end(command.arg("--version"), &what, tools)?;
    let version = version(&asked.stdout).unwrap_or(UNKNOWN).to_owned();
    Ok(SourceInstaller { name: name.to_owned(), version })
}

/// Returns the first word that is a version, such as `23.0.1` of `pip 23.0.1 from /usr`.
fn version(printed: &str) -> Option<&str> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || ".+~:-".contains(c);
    printed.split_whitespace().find(|word| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.len() <= VERSION_BYTES_MAX
            && word.chars().all(is_allowed)
    })
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn the_version_is_the_first_word_with_a_digit_first() {
        for (printed, found) in [
            ("uv 0.5.1 (1a2b3c 2024-11-08)\n", Some("0.5.1")),
            ("pip 23.0.1 from /usr/lib/python3/dist-packages/pip (python 3.11)\n", Some("23.0.1")),
            ("10.2.4\n", Some("10.2.4")),
            ("mmdebstrap 1.3.5\n", Some("1.3.5")),
            ("usage: installer\n", None),
            ("1\u{202e}2\n", None),
            ("", None),
        ] {
            assert_eq!(version(printed), found, "{printed}");
        }
    }
}

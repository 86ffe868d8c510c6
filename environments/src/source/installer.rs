//! The version of the program that installed the packages, for the record of a build. A program
//! that prints none, fails or takes too long must not make the build fail: all is installed then.

use std::process::Command;
use std::time::Duration;

use super::error::SourceError;
use super::model::{SourceInstaller, SourceTools};
use super::program::run_at_most;

const UNKNOWN: &str = "unknown";
const VERSION_BYTES_MAX: usize = 64;
const VERSION_TIME_MAX: Duration = Duration::from_secs(10);

/// Asks a program for its version with `--version`. Only an interrupt is an error.
pub(super) fn installer(
    name: &str,
    command: &mut Command,
    tools: &SourceTools,
) -> Result<SourceInstaller, SourceError> {
    let what = format!("{name} --version");
    let time_max = VERSION_TIME_MAX.min(tools.time_max);
    let asked = match run_at_most(command.arg("--version"), &what, tools, time_max) {
        Err(error) if tools.interrupt.is_requested() => return Err(error),
        asked => asked.ok().filter(|asked| asked.status.success()),
    };
    let version = asked.as_ref().and_then(|asked| version(&asked.stdout));
    let version = version.unwrap_or(UNKNOWN).to_owned();
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
    use std::path::PathBuf;
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::UnpackLimits;
    use crate::source::interrupt::BuildInterrupt;

    fn tools(time_max: Duration) -> SourceTools {
        SourceTools {
            python: PathBuf::new(),
            scratch: PathBuf::new(),
            variables: Vec::new(),
            time_max,
            limits: UnpackLimits::default(),
            interrupt: BuildInterrupt::default(),
        }
    }

    #[test]
    fn a_program_without_a_version_is_no_error() {
        let tools = tools(Duration::from_secs(3));
        let asked = |program: &str, script: &str| {
            let mut command = Command::new(program);
            installer("uv", command.args(["-c", script]), &tools).unwrap().version
        };
        assert_eq!(asked("/bin/sh", "echo uv 0.5.1"), "0.5.1");
        assert_eq!(asked("/bin/sh", "echo uv 0.5.1; exit 1"), UNKNOWN);
        assert_eq!(asked("/bin/sh", "echo uv 0.5.1; sleep 60"), UNKNOWN);
        assert_eq!(asked("/nonexistent/uv", ""), UNKNOWN);
        tools.interrupt.requested().store(true, Ordering::Relaxed);
        let mut command = Command::new("/bin/sh");
        let interrupted = installer("uv", command.args(["-c", "sleep 60"]), &tools).unwrap_err();
        assert!(interrupted.to_string().contains("interrupted"), "{interrupted}");
    }

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

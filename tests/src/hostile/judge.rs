//! Compares a run with the expectations of its case.

use std::time::Duration;

use super::{CaseMode, CaseRun, HostileCase};
use crate::slowdown::time_factor;

/// Direction marks. A page must contain none, and no control character except newline.
const DIRECTION_MARKS: [char; 9] = [
    '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}', '\u{2066}', '\u{2067}', '\u{2068}',
    '\u{2069}',
];

/// The verdict on a case in one mode.
#[derive(Debug)]
pub enum CaseVerdict {
    Expected,
    /// Different for a known reason.
    Known(String),
    Differs(Vec<String>),
    /// This host cannot run it, for this reason.
    Skipped(String),
}

#[must_use]
pub fn judge(case: &HostileCase, mode: CaseMode, got: &CaseRun) -> CaseVerdict {
    let mut wrong = general_faults(got);
    if let Some(seconds) = case.first_value("within", mode) {
        // Three times as long, because other tests run beside the suite and delay a run.
        let most = Duration::from_secs(seconds.parse().unwrap()) * 3 * time_factor();
        if got.took > most {
            wrong.push(format!("took {:?}, not {most:?}", got.took));
        }
    }
    let expected = expectation_faults(case, mode, got);
    if wrong.is_empty() && expected.is_empty() {
        return CaseVerdict::Expected;
    }
    wrong.extend(expected);
    CaseVerdict::Differs(wrong)
}

/// Checks the rules that hold for every tool, regardless of its output and its end.
fn general_faults(got: &CaseRun) -> Vec<String> {
    let mut wrong = Vec::new();
    let foul = |c: &char| (c.is_control() && *c != '\n') || DIRECTION_MARKS.contains(c);
    if let Some(foul) = got.page.chars().find(foul) {
        wrong.push(format!("the page holds {foul:?}"));
    }
    for (path, mode) in &got.kept {
        if mode & 0o7111 != 0 {
            wrong.push(format!("artifact {path} has mode {mode:o}"));
        }
    }
    for word in ["OPEN", "ESCAPED", "UNLIMITED"] {
        if has_line(&got.stdout, word) {
            wrong.push(format!("it says {word}"));
        }
    }
    wrong
}

fn expectation_faults(case: &HostileCase, mode: CaseMode, got: &CaseRun) -> Vec<String> {
    let mut wrong = Vec::new();
    let expected = case.first_value("expect", mode).unwrap_or_default();
    if !expected.split(" or ").any(|outcome| ends_as(outcome, got)) {
        wrong.push(format!("outcome {} {}, not {expected}", got.outcome, got.exit_code));
    }
    for line in case.values("stdout", mode) {
        if !line.split(" or ").any(|line| has_line(&got.stdout, line)) {
            wrong.push(format!("no line {line:?}"));
        }
    }
    for name in case.values("names", mode) {
        if !got.page.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name) {
            wrong.push(format!("the record does not name {name}"));
        }
    }
    for row in case.values("rejects", mode) {
        let (reason, path) = row.split_once(' ').unwrap_or((row, ""));
        let mut found = got.rejected.iter().filter(|(is, _)| is == reason);
        if !found.any(|(_, at)| path.is_empty() || at == path) {
            wrong.push(format!("not rejected: {row}"));
        }
    }
    for path in case.values("keeps", mode) {
        if !got.kept.iter().any(|(kept, _)| kept == path) {
            wrong.push(format!("not kept: {path}"));
        }
    }
    for path in case.values("lacks", mode) {
        if got.kept.iter().any(|(kept, _)| kept.starts_with(path)) {
            wrong.push(format!("kept: {path}"));
        }
    }
    wrong
}

/// Returns true if a run ended as expected. `signal 9` and `exit_nonzero 3` require the number too.
fn ends_as(expected: &str, got: &CaseRun) -> bool {
    let (outcome, number) = expected.split_once(' ').unwrap_or((expected, ""));
    let code = if outcome == "signal" { got.exit_code - 128 } else { got.exit_code };
    outcome == got.outcome && (number.is_empty() || number == code.to_string())
}

fn has_line(text: &str, line: &str) -> bool {
    text.lines().any(|printed| printed == line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectation_may_require_a_number() {
        let got = CaseRun::example("signal", 137, "mount EPERM\n");
        assert!(ends_as("signal 9", &got) && ends_as("signal", &got));
        assert!(!ends_as("signal 15", &got) && !ends_as("ok", &got));
    }

    #[test]
    fn printed_escape_is_a_fault() {
        assert_eq!(general_faults(&CaseRun::example("ok", 0, "CONTAINED\n")), Vec::<String>::new());
        assert_eq!(general_faults(&CaseRun::example("ok", 0, "a\nESCAPED\n")).len(), 1);
    }
}

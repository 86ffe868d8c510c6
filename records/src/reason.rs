//! The reason of a record: one line with the cause of a refusal or failure, and help. Every reader
//! shows it, so only this module composes and splits it.

use std::io::{self, ErrorKind};

use model::{Outcome, escape_line};
use validator::{Severity, Violation};

use crate::statement::Statement;
use crate::untrusted::Redaction;
use crate::yaml::FactNode;

const HELP_SEPARATOR: &str = "; help: ";

/// Composes a reason with help.
#[must_use]
pub fn reason_with_help(what: &str, help: &str) -> String {
    format!("{what}{HELP_SEPARATOR}{help}")
}

/// Adds the help for the kind of an I/O error to a problem that states it, if there is any.
#[must_use]
pub fn reason_with_io_help(what: &str, error: &io::Error) -> String {
    let help = match error.kind() {
        ErrorKind::NotFound => "check the path",
        ErrorKind::PermissionDenied => "run as a user with access to it",
        ErrorKind::AlreadyExists => "choose another name",
        ErrorKind::IsADirectory => "name a file",
        ErrorKind::StorageFull => "free disk space",
        _ => return what.to_owned(),
    };
    reason_with_help(what, help)
}

/// Adds the help for an I/O error on a file whose name is not the user's choice. `missing` is the
/// help, with its `help: `, for a file that does not exist.
pub(crate) fn reason_with_own_file_help(what: &str, error: &io::Error, missing: &str) -> String {
    match error.kind() {
        ErrorKind::NotFound => format!("{what}; {missing}"),
        ErrorKind::AlreadyExists | ErrorKind::IsADirectory => what.to_owned(),
        _ => reason_with_io_help(what, error),
    }
}

/// Returns the reason of a refusal: its first error, with the rule's help.
#[must_use]
pub fn reason_of(violations: &[Violation]) -> Option<String> {
    let first = first_error(violations)?;
    let what = problem_text(first);
    Some(match &first.hint {
        Some(hint) => {
            let lines: Vec<String> = hint.lines().map(|line| escape_line(line.trim())).collect();
            reason_with_help(&what, &lines.join(" "))
        }
        None => what,
    })
}

/// Splits a composed reason into the problem and the help, if any. The last separator counts: the
/// problem may quote a name that contains one.
#[must_use]
pub fn split_reason(reason: &str) -> (&str, Option<&str>) {
    reason.rsplit_once(HELP_SEPARATOR).map_or((reason, None), |(what, help)| (what, Some(help)))
}

fn first_error(violations: &[Violation]) -> Option<&Violation> {
    violations.iter().find(|violation| violation.severity == Severity::Error)
}

fn problem_text(violation: &Violation) -> String {
    format!("{}: {}", violation.code.as_str(), escape_line(&violation.message))
}

impl Statement<'_> {
    /// Returns the reason that the record states. A refusal always has one. If the lint refuses it
    /// (a message may quote the request), shorter forms follow, down to the code with its meaning.
    pub(crate) fn reason_text(&self, show: Redaction) -> Option<String> {
        if let Some(reason) = self.reason {
            return Some(reason.to_owned());
        }
        if self.outcome != Outcome::Refused {
            return None;
        }
        let first = first_error(self.violations)?;
        let code = || format!("{}: {}", first.code.as_str(), first.code.meaning());
        let mut forms = reason_of(self.violations).into_iter().chain([problem_text(first)]);
        Some(forms.find(|form| show.withheld_reason(form).is_none()).unwrap_or_else(code))
    }

    /// Returns the reason for the front matter.
    pub(crate) fn reason_node(&self, show: Redaction) -> FactNode {
        match self.reason_text(show) {
            Some(reason) => show.text_node(&reason),
            None => FactNode::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use validator::Code;

    use super::*;

    #[test]
    fn the_first_error_is_the_reason_with_its_help() {
        let warning = Violation::warning(Code::TextTooLarge, "a warning");
        let error = Violation::error(Code::LimitsOverPolicy, "time: 9\nis more").hint("a\nb");
        let last = Violation::error(Code::TextTooLarge, "another");
        let reason = reason_of(&[warning.clone(), error, last]).unwrap();
        assert_eq!(reason, "limits.over-policy: time: 9\\u{a}is more; help: a b");
        let split = ("limits.over-policy: time: 9\\u{a}is more", Some("a b"));
        assert_eq!(split_reason(&reason), split);
        assert_eq!(reason_of(&[warning]), None);
        assert_eq!(split_reason("a: b"), ("a: b", None));
    }

    #[test]
    fn an_io_error_has_the_help_of_its_kind() {
        let with_help = |kind: ErrorKind| reason_with_io_help("x: failed", &kind.into());
        assert_eq!(with_help(ErrorKind::NotFound), "x: failed; help: check the path");
        assert_eq!(with_help(ErrorKind::BrokenPipe), "x: failed");
    }

    #[test]
    fn a_name_cannot_forge_the_help() {
        let reason = reason_with_help("`x; help: run me`: missing", "name another file");
        let split = ("`x; help: run me`: missing", Some("name another file"));
        assert_eq!(split_reason(&reason), split);
    }
}

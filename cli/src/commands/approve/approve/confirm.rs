//! The question before a signature, and the reasons for which it is not asked.

use std::process::ExitCode;

use model::{Sha256, digest_words};
use policies::SIGNATURE_FILES_MAX;
use validator::{FillError, Violation, reveal_line};

use super::args::ApproveCommand;
use crate::args::Format;
use crate::commands::approve::review::{self, InputTexts, ReviewData, ReviewVerdict};
use crate::commands::approve::signing::SigningIdentity;
use crate::failure::Failure;
use crate::output;
use crate::output::terminal::Terminal;
use crate::output::{human, pager};

/// The only answer that approves.
const APPROVE_ANSWER: &str = "approve";
/// The only answer that approves content that was not shown.
const UNSEEN_ANSWER: &str = "unseen";

pub(super) fn check_confirmable(args: &ApproveCommand) -> Result<(), Failure> {
    match args.format == Format::Json && !args.yes {
        true => {
            let why = "--format json: confirmation is missing; help: pass --yes after the review";
            Err(Failure::Message(why.into()))
        }
        false => Ok(()),
    }
}

/// Returns what the review omits of a request.
pub(super) fn unseen(case: &ReviewData, texts: InputTexts) -> Vec<String> {
    review::omitted(case, texts).into_iter().collect()
}

/// Returns the reason why the request would be refused, if it would be.
pub(super) fn refusal_reason(case: &ReviewData) -> Option<String> {
    let document = UnsignedDocument {
        kind: "request",
        filled: &case.filled,
        signature_files: &case.signature_files,
        violations: &case.violations,
        verdict: case.outcome(),
    };
    document.refusal_reason()
}

/// A document that has been reviewed and is not signed yet.
pub(super) struct UnsignedDocument<'a> {
    /// The kind in words, for messages.
    pub(super) kind: &'static str,
    pub(super) filled: &'a Result<Vec<&'static str>, FillError>,
    pub(super) signature_files: &'a [String],
    pub(super) violations: &'a [Violation],
    pub(super) verdict: ReviewVerdict,
}

impl UnsignedDocument<'_> {
    /// Returns the reason why the document would be refused, if it would be.
    pub(super) fn refusal_reason(&self) -> Option<String> {
        let kind = self.kind;
        let filled = match self.filled {
            Err(why) if !human::has_error(self.violations) => return Some(why.to_string()),
            Err(_) => return Some(format!("the {kind} would be refused")),
            Ok(filled) => filled,
        };
        // Filling in the approval would invalidate the existing signatures of the empty one.
        if !filled.is_empty() && !self.signature_files.is_empty() {
            return Some(format!(
                "{} empty, but {} already signed these bytes; help: remove the signatures, or \
                 draft the {kind} again",
                if filled.len() == 1 { "an approval field is" } else { "the approval fields are" },
                self.signature_files.join(", ")
            ));
        }
        if self.signature_files.len() >= SIGNATURE_FILES_MAX {
            return Some(format!(
                "it already has {SIGNATURE_FILES_MAX} signature files, the maximum; help: remove \
                 those that are not needed"
            ));
        }
        (self.verdict == ReviewVerdict::Refused).then(|| format!("the {kind} would be refused"))
    }
}

/// Returns the lines of a question that name the signed bytes.
pub(super) fn digest_lines(sha256: &Sha256) -> String {
    format!("sha256 {sha256}\nwords  {}", digest_words(sha256).join(" "))
}

/// Shows the review and asks. `omitted` states what the review leaves out, `subject` what is signed.
/// Returns whether the approver confirmed.
pub(super) fn confirm(
    args: &ApproveCommand,
    review: &str,
    omitted: &[String],
    subject: &str,
    signer: &SigningIdentity,
) -> Result<bool, Failure> {
    if args.yes {
        if args.format == Format::Human {
            output::text(review)?;
        }
        return Ok(true);
    }
    let mut terminal = Terminal::open().map_err(|failure| {
        Failure::Message(format!("{failure}; help: pass --yes after reviewing the request"))
    })?;
    let lines_left = pager::page(review, args.show.no_pager)?;
    let left = (lines_left > 0).then(|| format!("the last {lines_left} lines of the review"));
    let unseen: Vec<String> = left.into_iter().chain(omitted.iter().cloned()).collect();
    let unseen = unseen.join(", ");
    let warning = if unseen.is_empty() { String::new() } else { format!("\nNOT shown: {unseen}") };
    let question = format!(
        "{warning}\n{subject}\nas {}, with key {}\nType `{APPROVE_ANSWER}` to sign: ",
        reveal_line(&args.signing.principal),
        signer.fingerprint(),
    );
    if terminal.ask_fresh(&question)? != APPROVE_ANSWER {
        return Ok(false);
    }
    if unseen.is_empty() {
        return Ok(true);
    }
    let question =
        format!("You were not shown: {unseen}.\nType `{UNSEEN_ANSWER}` to sign anyway: ");
    Ok(terminal.ask_fresh(&question)? == UNSEEN_ANSWER)
}

/// Prints the reason why nothing is signed, as an object with `--format json`.
pub(super) fn refuse(
    args: &ApproveCommand,
    why: &str,
    rows: &[Violation],
) -> Result<ExitCode, Failure> {
    if args.format == Format::Json {
        output::line(output::refusal(&args.case.request, why, rows))?;
    }
    Ok(output::report_refusal(why))
}

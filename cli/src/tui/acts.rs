//! The actions behind the keys, implemented by the code of the commands with the same names. This
//! module decides nothing and signs nothing that those commands would not sign.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use model::{Sha256, escape_line};
use records::split_reason;
use spool::OperatorOrder;
use validator::{REQUEST_BYTES_MAX, reveal_line};

use super::page::ScrollText;
use super::terminal::Signals;
use super::view::{Item, ItemKind};
use crate::args::files::read_document;
use crate::args::{
    CaseOptions, FleetOption, FleetStoreOption, Format, RulesOptions, ShowOptions, SigningOptions,
};
use crate::commands::approve::approve::{self, ApproveCommand, SignOutcome};
use crate::commands::approve::reject::{self, RejectCommand};
use crate::commands::approve::review;
use crate::commands::inspect::reason;
use crate::commands::inspect::show::text_of;
use crate::commands::run::order;
use crate::commands::run::submit::{self, SubmitCommand};
use crate::failure::Failure;
use crate::output::terminal::Terminal;
use crate::output::{self, human};

/// Message texts: done, not done.
const APPROVED: [&str; 2] = ["approved", "not approved"];
const REJECTED: [&str; 2] = ["rejected", "not rejected"];

/// The only answer that confirms a rejection.
const REJECT_ANSWER: &str = "reject";

pub(crate) struct SpoolActions<'a> {
    place: &'a Path,
    /// None if no key was named: signing is disabled.
    signing: Option<SigningOptions>,
    rules: RulesOptions,
}

impl<'a> SpoolActions<'a> {
    pub(crate) fn new(
        place: &'a Path,
        signing: Option<SigningOptions>,
        rules: RulesOptions,
    ) -> Self {
        Self { place, signing, rules }
    }

    pub(super) fn may_sign(&self) -> bool {
        self.signing.is_some()
    }

    fn case(&self, request: PathBuf) -> CaseOptions {
        CaseOptions { request, inputs: None, rules: self.rules.clone() }
    }

    /// Returns the text of `toolexec review`, for a request or a standing approval.
    pub(super) fn review(&self, item: &Item) -> ScrollText {
        let Some(path) = item.file() else { return ScrollText::new("review".to_owned(), "") };
        let text = review::plain_review(path, &self.rules)
            .unwrap_or_else(|failure| reason::lines(&failure.to_string()).join("\n"));
        ScrollText::new("review".to_owned(), &text)
    }

    /// Returns the text of `toolexec show`.
    pub(super) fn show(&self, item: &Item) -> String {
        match &item.kind {
            ItemKind::Draft(path) => format!(
                "request    {}\nstate      draft: not submitted yet\nfile       {}\n",
                item.id,
                escape_line(&output::path(path))
            ),
            ItemKind::Record(path) => self.text_of(&output::path(path)),
            ItemKind::Waiting(_) | ItemKind::InFlight(_) => self.text_of(&item.key),
        }
    }

    fn text_of(&self, meant: &str) -> String {
        match text_of(self.place, meant) {
            Ok(Some(text)) => text,
            Ok(None) => "it no longer exists\n".to_owned(),
            Err(failure) => format!("{}\n", reason::lines(&failure.to_string()).join("\n")),
        }
    }

    /// Shows the review, asks, and signs, all at the terminal. A draft is submitted afterwards.
    pub(super) fn approve(&self, item: &Item, signals: &Signals) -> String {
        let (Some(path), Some(signing)) = (item.file(), self.signing.clone()) else {
            return "nothing was done".to_owned();
        };
        let args = ApproveCommand {
            case: self.case(path.clone()),
            more: Vec::new(),
            signing,
            show: ShowOptions { no_pager: false },
            yes: false,
            format: Format::Human,
        };
        let approved = match approve::sign(&args) {
            Ok(SignOutcome::Signed(approved)) => approved,
            Ok(SignOutcome::NotSigned(code)) => {
                return result_message(APPROVED, &item.id, Ok(code), signals);
            }
            Err(failure) => return result_message(APPROVED, &item.id, Err(failure), signals),
        };
        if !matches!(item.kind, ItemKind::Draft(_)) {
            return result_message(APPROVED, &item.id, Ok(ExitCode::SUCCESS), signals);
        }
        if signals.end_requested() {
            return format!("{}: approved, but not submitted", item.id);
        }
        let (request, spool) = (path.clone(), self.place.to_owned());
        let submit_args = SubmitCommand {
            request,
            more: Vec::new(),
            inputs: None,
            spool,
            fleet: FleetOption::default(),
            store: FleetStoreOption::default(),
            format: Format::Human,
        };
        let submitted = submit::submit_if_unchanged(&submit_args, &approved);
        result_message(
            ["approved and submitted", "approved, but not submitted"],
            &item.id,
            submitted,
            signals,
        )
    }

    pub(super) fn reject(&self, item: &Item, reason: String, signals: &Signals) -> String {
        let (Some(path), Some(signing)) = (item.file(), self.signing.clone()) else {
            return "nothing was done".to_owned();
        };
        let args = RejectCommand { request: path.clone(), signing, reason, format: Format::Human };
        result_message(REJECTED, &item.id, confirm_and_reject(&args), signals)
    }

    pub(super) fn order(&self, item: &Item, wanted: OperatorOrder) -> String {
        // The complete file name, so that no other file with the same prefix matches.
        let file = item.file().and_then(|path| path.file_name()?.to_str());
        let file = file.map_or_else(|| format!("{}.md", item.key), str::to_owned);
        match order::order_file(self.place, &file, wanted) {
            Ok(Ok(message) | Err(message)) => escape_line(split_reason(&message).0),
            Err(failure) => escape_line(&failure.problem()),
        }
    }
}

/// Shows the digest of the file, asks, and signs a rejection of exactly those bytes.
fn confirm_and_reject(args: &RejectCommand) -> Result<ExitCode, Failure> {
    let mut terminal = Terminal::open()?;
    let meant = Sha256::of(&read_document(&args.request, REQUEST_BYTES_MAX)?);
    let question = format!(
        "{}\nsha256 {meant}\nas {}: {}\nType `{REJECT_ANSWER}` to sign: ",
        human::name(&args.request),
        reveal_line(&args.signing.principal),
        reveal_line(&args.reason),
    );
    if terminal.ask_fresh(&question)? != REJECT_ANSWER {
        output::note(format_args!("{}: not rejected", human::name(&args.request)));
        return Ok(ExitCode::from(1));
    }
    reject::reject_if_unchanged(args, &meant)
}

/// Prints a failure, waits until the user has read the output, and returns a short message.
fn result_message(
    [yes, no]: [&str; 2],
    id: &str,
    done: Result<ExitCode, Failure>,
    signals: &Signals,
) -> String {
    let message = match done {
        Ok(ExitCode::SUCCESS) => format!("{id}: {yes}"),
        Ok(_) => format!("{id}: {no}"),
        Err(failure) => {
            output::note(&failure);
            format!("{id}: {no}: {}", escape_line(&failure.problem()))
        }
    };
    if signals.end_requested() {
        return message;
    }
    // Without a terminal the user cannot read the message.
    let answer = Terminal::open().and_then(|mut it| it.ask("\nPress Enter to return: "));
    answer.map_or(message.clone(), |_| message)
}

//! The actions behind the keys, implemented by the code of `review`, `approve`, `reject`,
//! `promote`, `hold`, `release` and `cancel`. This module decides nothing and signs nothing that
//! those commands would not sign.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use model::{Sha256, escape_line};
use spool::Order;
use validator::{REQUEST_BYTES_MAX, reveal_line};

use super::page::Page;
use super::seen::{Is, Item};
use super::terminal::Signals;
use crate::args::files::read_document;
use crate::args::{CaseOptions, Format, RulesOptions, ShowOptions, SigningOptions};
use crate::commands::approve::approve::{self, Approval, Approve};
use crate::commands::approve::reject::{self, Reject};
use crate::commands::approve::review::{self, Case, HostRules, Texts};
use crate::commands::look::show::text_of;
use crate::commands::run::order;
use crate::commands::run::promote::{self, Promote};
use crate::failure::Failure;
use crate::output::terminal::Terminal;
use crate::output::{self, human};

/// Message texts: done, not done.
const APPROVED: [&str; 2] = ["approved", "not approved"];
const REJECTED: [&str; 2] = ["rejected", "not rejected"];

/// The only answer that confirms a rejection.
const NO: &str = "reject";

/// The spool, signing key and rules that the actions use.
pub(crate) struct Hand<'a> {
    place: &'a Path,
    /// None if no key was named: signing is disabled.
    signing: Option<SigningOptions>,
    rules: RulesOptions,
}

impl<'a> Hand<'a> {
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

    /// Returns the text of `toolexec review`.
    pub(super) fn review(&self, item: &Item) -> Page {
        let Some(path) = item.file() else { return Page::new("review".to_owned(), "") };
        let asked = self.case(path.clone());
        let read = || -> Result<String, Failure> {
            let rules = HostRules::read(&asked.rules)?;
            let case = Case::read(&asked, rules, None, Texts::Beginnings)?;
            Ok(review::plain_text(&case, Texts::Beginnings))
        };
        let text = read().unwrap_or_else(|failure| escape_line(&failure.to_string()));
        Page::new("review".to_owned(), &text)
    }

    /// Returns the text of `toolexec show`.
    pub(super) fn look(&self, item: &Item) -> String {
        match &item.is {
            Is::Draft(path) => format!(
                "request    {}\nstate      draft: not promoted yet\nfile       {}\n",
                item.id,
                escape_line(&output::path(path))
            ),
            Is::Record(path) => self.text_of(&output::path(path)),
            Is::Waiting(_) | Is::InFlight(_) => self.text_of(&item.key),
        }
    }

    fn text_of(&self, meant: &str) -> String {
        match text_of(self.place, meant) {
            Ok(Some(text)) => text,
            Ok(None) => "it no longer exists\n".to_owned(),
            Err(failure) => format!("{}\n", escape_line(&failure.to_string())),
        }
    }

    /// Shows the review, asks, and signs, all at the terminal. A draft is submitted afterwards.
    pub(super) fn approve(&self, item: &Item, signals: &Signals) -> String {
        let (Some(path), Some(signing)) = (item.file(), self.signing.clone()) else {
            return "nothing was done".to_owned();
        };
        let asked = Approve {
            case: self.case(path.clone()),
            signing,
            show: ShowOptions { no_pager: false },
            yes: false,
            format: Format::Human,
        };
        let approved = match approve::sign(&asked) {
            Ok(Approval::Signed(approved)) => approved,
            Ok(Approval::Not(code)) => return settled(APPROVED, &item.id, Ok(code), signals),
            Err(failure) => return settled(APPROVED, &item.id, Err(failure), signals),
        };
        if !matches!(item.is, Is::Draft(_)) {
            return settled(APPROVED, &item.id, Ok(ExitCode::SUCCESS), signals);
        }
        if signals.is_end() {
            return format!("{}: approved, but not promoted", item.id);
        }
        let (request, spool) = (path.clone(), self.place.to_owned());
        let asked = Promote { request, inputs: None, spool, format: Format::Human };
        let promoted = promote::promote_only(&asked, &approved);
        settled(
            ["approved and promoted", "approved, but not promoted"],
            &item.id,
            promoted,
            signals,
        )
    }

    pub(super) fn reject(&self, item: &Item, reason: String, signals: &Signals) -> String {
        let (Some(path), Some(signing)) = (item.file(), self.signing.clone()) else {
            return "nothing was done".to_owned();
        };
        let asked = Reject { request: path.clone(), signing, reason, format: Format::Human };
        settled(REJECTED, &item.id, reject_if_meant(&asked), signals)
    }

    pub(super) fn order(&self, item: &Item, wanted: Order) -> String {
        // Use the complete file name: a missing file must not match another one with the same
        // prefix.
        let file = item.file().and_then(|path| path.file_name()?.to_str());
        let file = file.map_or_else(|| format!("{}.md", item.key), str::to_owned);
        match order::order_quietly(self.place, &file, wanted) {
            Ok(Ok(said) | Err(said)) => escape_line(&said),
            Err(failure) => escape_line(&failure.to_string()),
        }
    }
}

/// Shows the digest of the file, asks, and signs a rejection of exactly those bytes.
fn reject_if_meant(asked: &Reject) -> Result<ExitCode, Failure> {
    let mut terminal = Terminal::open()?;
    let meant = Sha256::of(&read_document(&asked.request, REQUEST_BYTES_MAX)?);
    let question = format!(
        "{}\nsha256 {meant}\nas {}: {}\nType `{NO}` to sign: ",
        human::name(&asked.request),
        reveal_line(&asked.signing.principal),
        reveal_line(&asked.reason),
    );
    if terminal.ask_anew(&question)? != NO {
        output::note(format_args!("{}: not rejected", human::name(&asked.request)));
        return Ok(ExitCode::from(1));
    }
    reject::reject_only(asked, &meant)
}

/// Prints the result at the terminal, waits until the user has read it, and returns a short
/// message.
fn settled(
    [yes, no]: [&str; 2],
    id: &str,
    done: Result<ExitCode, Failure>,
    signals: &Signals,
) -> String {
    let said = match done {
        Ok(ExitCode::SUCCESS) => format!("{id}: {yes}"),
        Ok(_) => format!("{id}: {no}"),
        Err(failure) => {
            output::note(&failure);
            format!("{id}: {no}: {}", escape_line(&failure.to_string()))
        }
    };
    if signals.is_end() {
        return said;
    }
    // Without a terminal the user cannot read the message.
    let asked = Terminal::open().and_then(|mut it| it.ask("\nPress Enter to return: "));
    asked.map_or(said.clone(), |_| said)
}

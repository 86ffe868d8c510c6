//! The forms of actions. The script sends them: without it they have no effect.

use maud::{Markup, html};
use policies::SignedActionKind;
use spool::clock;

use crate::page_error::PageError;
use crate::state::ConsoleState;
use crate::text;

/// The names of the approvers who have a passkey.
pub(super) struct ApproverNames(Vec<String>);

impl ApproverNames {
    pub(super) fn read(console: &ConsoleState) -> Result<Self, PageError> {
        let list = console.passkeys.list().map_err(PageError::internal)?;
        Ok(Self(list.approvers(clock::now()).into_iter().map(str::to_owned).collect()))
    }

    /// Returns the choice of the approver, which a form of approvals needs.
    fn choice(&self, id: &str) -> Markup {
        html! {
            label for=(id) { "Approve as" }
            select id=(id) name="by" required {
                @for name in &self.0 { option value=(name) { (text::line(name)) } }
            }
        }
    }
}

/// An action that a page offers.
pub(super) struct OfferedAction {
    pub(super) kind: SignedActionKind,
    pub(super) label: &'static str,
    /// A past participle for the message after it.
    pub(super) done: &'static str,
}

pub(super) const APPROVE: OfferedAction =
    OfferedAction { kind: SignedActionKind::Approve, label: "Approve", done: "approved" };
pub(super) const REJECT: OfferedAction =
    OfferedAction { kind: SignedActionKind::Reject, label: "Reject for ever", done: "rejected" };
pub(super) const REVOKE: OfferedAction =
    OfferedAction { kind: SignedActionKind::Revoke, label: "Revoke", done: "revoked" };
pub(super) const HOLD: OfferedAction =
    OfferedAction { kind: SignedActionKind::Hold, label: "Hold", done: "held" };
pub(super) const RELEASE: OfferedAction =
    OfferedAction { kind: SignedActionKind::Release, label: "Release", done: "released" };
pub(super) const CANCEL: OfferedAction =
    OfferedAction { kind: SignedActionKind::Cancel, label: "Cancel", done: "cancelled" };

/// Returns the form of an action about one document.
pub(super) fn form(action: &OfferedAction, id: &str, names: &ApproverNames) -> Markup {
    let approves = action.kind == SignedActionKind::Approve;
    html! {
        form.action data-action=(action.kind.as_str()) data-done=(action.done) {
            input type="hidden" name="ids" value=(id);
            @if approves { (names.choice("by")) }
            button.primary[approves] type="submit" { (action.label) }
        }
    }
}

/// The id of the form of a selection, to which checkboxes elsewhere on the page belong.
pub(super) const SELECTION_FORM: &str = "selected-drafts";

/// Returns the form that opens the page of the selected drafts. It needs no script.
pub(super) fn selection_form() -> Markup {
    html! {
        form.selection id=(SELECTION_FORM) method="get" action="/batch" {
            button.primary type="submit" { "Read the selected drafts" }
        }
    }
}

/// Returns the form of a batch: one signature approves all these drafts.
pub(super) fn batch_form(ids: &[&str], names: &ApproverNames) -> Markup {
    html! {
        form.action data-action=(APPROVE.kind.as_str()) data-done=(APPROVE.done) {
            @for id in ids { input type="hidden" name="ids" value=(id); }
            (names.choice("by"))
            button.primary type="submit" {
                @match ids.len() {
                    1 => "Approve this draft",
                    count => { "Approve these " (count) " drafts" }
                }
            }
        }
    }
}

/// Returns the reason why no action of a page can be signed, if there is one.
pub(super) fn obstacle(console: &ConsoleState, names: &ApproverNames) -> Markup {
    html! {
        @if console.signed.is_none() {
            p.wait { "This spool takes no signatures from the console." }
        } @else if names.0.is_empty() {
            p.wait { "No approver has a passkey yet. " a href="/enrol" { "Enrol one." } }
        }
    }
}

//! Signed actions: what a person has signed through a process that may deliver signatures only. An
//! action is taken here if its signature counts, by the rules of submitted files; it has no other
//! right. A look at `signed/` is limited, and the next one goes on where it ended.

use std::time::{Duration, Instant};

use model::UtcTime;
use policies::SignedAction;
use spool::{
    DeliveredAction, SignedActionAnswer, SignedActionInbox, SignedActionLook, SignedActionMarks,
    SpoolError,
};

use super::action_taking::{ActionTaking, TakenAction};
use super::draft_thread::DraftThread;
use super::event::LoopEvent;
use super::watch;
use crate::rules::DaemonRules;
use crate::state::TrustRenewal;
use crate::system;

/// No action is begun in a look that has lasted longer: the next look begins with the newest.
const LOOK_TIME_MAX: Duration = Duration::from_millis(50);
/// An action waits no longer for a momentary error to end, which others may cause on purpose. No
/// approval is taken later than this.
const WAIT_SEC_MAX: i64 = 600;
/// The time between two attempts to take an action that waits.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

impl DraftThread {
    /// Takes the delivered actions, and answers them. An error leaves them in place and stops
    /// nothing else.
    pub(super) fn take_signed_actions(&mut self) {
        match self.look_at_signed_actions() {
            Ok(()) => self.signed.reported = None,
            Err(error) => {
                let text = error.to_string();
                if self.signed.reported.as_ref() != Some(&text) {
                    tracing::error!("signed actions are not taken: {text}");
                    self.signed.reported = Some(text);
                }
            }
        }
    }

    fn look_at_signed_actions(&mut self) -> Result<(), SpoolError> {
        self.begin_step(&self.host.spool.roots()[1].join("signed"));
        let is_open = self.signed.inbox.as_ref().is_some_and(SignedActionInbox::is_in_place);
        if !is_open {
            self.signed.watcher = None;
            self.signed.inbox = SignedActionInbox::open(self.host.spool.roots()[1])?;
            if let Some(inbox) = &self.signed.inbox {
                let (events, has_queued_event) = self.watch_ends();
                self.signed.watcher = watch::watch(inbox.path(), events, has_queued_event);
            }
        }
        if self.signed.inbox.is_none() {
            return Ok(());
        }
        // Without the present keys and a clock that is right, no signature can be judged. The event
        // loop reports both at admission.
        let Ok((rules, renewal)) = self.host.present_rules() else { return Ok(()) };
        if renewal == TrustRenewal::Changed {
            // The event loop replaces the rules, and has undecided requests decided again.
            self.send(LoopEvent::TrustChanged);
        }
        if self.host.clock_floor.check().is_err() {
            return Ok(());
        }
        if self.signed.marks.is_none() {
            self.signed.marks = Some(SignedActionMarks::open(&self.host.spool)?);
        }
        let Some(inbox) = &mut self.signed.inbox else { return Ok(()) };
        let SignedActionLook { actions, is_complete } = inbox.look(system::now())?;
        if !is_complete {
            self.look_again_in(Duration::ZERO);
        }
        self.answer_actions(actions, &rules)
    }

    /// Answers each action in the order of their delivery, unless it waits. After a look that was
    /// too long the newest is first, so that a flood delays no later action. Returns the first
    /// error of all.
    fn answer_actions(
        &mut self,
        mut actions: Vec<DeliveredAction>,
        rules: &DaemonRules,
    ) -> Result<(), SpoolError> {
        self.signed.waiting.retain(|stem| actions.iter().any(|it| it.stem == *stem));
        if std::mem::take(&mut self.signed.is_behind) {
            actions.reverse();
        }
        actions.sort_by_key(|action| self.signed.rank(&action.stem));
        let (begun, mut refusals, mut failure) = (Instant::now(), Vec::new(), None);
        for DeliveredAction { stem, delivered, content } in actions {
            if self.signals.is_stopped() || begun.elapsed() > LOOK_TIME_MAX {
                self.signed.is_behind = true;
                self.look_again_in(Duration::ZERO);
                break;
            }
            let answer = match content.and_then(|bytes| self.take_action(&bytes, rules)) {
                Ok(answer) => answer,
                // It stays and delays no other action.
                Err(error) if error.is_momentary() && !is_overdue(delivered) => {
                    self.signed.defer(stem);
                    self.look_again_in(RETRY_INTERVAL);
                    failure.get_or_insert(error);
                    continue;
                }
                Err(error) => refusal_of(&error),
            };
            refusals.extend(answer.reason.clone());
            if let Some(inbox) = &self.signed.inbox {
                self.begin_step(&inbox.path().join(format!("{stem}.action")));
                failure = failure.or(inbox.answer(&stem, &answer).err());
            }
        }
        log_refusals(&refusals);
        failure.map_or(Ok(()), Err)
    }

    fn take_action(
        &mut self,
        bytes: &[u8],
        rules: &DaemonRules,
    ) -> Result<SignedActionAnswer, SpoolError> {
        let action = match SignedAction::parse(bytes) {
            Ok(action) => action,
            Err(error) => return Ok(SignedActionAnswer::refused(&error.to_string())),
        };
        let (terms, orders_until) = (action.terms(), self.signed.orders_until(action.terms()));
        let Some(marks) = &mut self.signed.marks else {
            return Ok(SignedActionAnswer::refused("the daemon is not ready; help: try again"));
        };
        let mut taking = ActionTaking {
            spool: &self.host.spool,
            approved: &self.approved,
            rules,
            host: self.host.audience(),
            now: system::now(),
            orders_until,
            marks,
            signals: &self.signals,
            is_order_spent: false,
        };
        let taken = taking.take(&action)?;
        if taking.is_order_spent {
            self.signed.note_order(terms, system::now());
        }
        Ok(match taken {
            TakenAction::Taken { signer } => {
                self.send(LoopEvent::DraftsTaken);
                for document in terms.documents() {
                    tracing::info!("{}: {} signed by {signer}", document.target, terms.kind());
                }
                SignedActionAnswer::taken()
            }
            TakenAction::Refused(reason) => SignedActionAnswer::refused(&reason),
        })
    }
}

fn is_overdue(delivered: UtcTime) -> bool {
    system::now().unix().saturating_sub(delivered.unix()) > WAIT_SEC_MAX
}

fn refusal_of(error: &SpoolError) -> SignedActionAnswer {
    if error.is_momentary() {
        let reason = format!("{}; help: deliver it again", error.problem());
        return SignedActionAnswer::refused(&reason);
    }
    SignedActionAnswer::refused(&error.to_string())
}

/// Logs one line, because any number of them may be delivered.
fn log_refusals(refusals: &[String]) {
    if let Some(first) = refusals.first().map(|first| model::escape_line(first)) {
        let count = refusals.len();
        tracing::warn!("{count} signed actions were refused; the first: {first}");
    }
}

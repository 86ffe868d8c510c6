//! The taking of one signed action: its documents are read, its signature is judged, and only then
//! is a file placed. All documents of an action are judged before the first is placed.

use model::{HostAudience, StandingReference, UtcTime};
use policies::{
    ActionDocument, ActionTarget, CountedAction, CountedDocument, SignedAction,
    SignedActionEvidence, SignedActionKind,
};
use spool::{
    GivenOrder, Inbox, OperatorOrder, SignedActionMarks, SignedDraft, Spool, SpoolError,
    StandingState,
};

use super::draft_signals::DraftSignals;
use crate::rules::DaemonRules;
use crate::system;

/// The host, as the taking of an action uses it.
pub(super) struct ActionTaking<'a> {
    pub(super) spool: &'a Spool,
    pub(super) approved: &'a Inbox,
    pub(super) rules: &'a DaemonRules,
    /// The names of this host.
    pub(super) host: HostAudience<'a>,
    pub(super) now: UtcTime,
    /// The last time at which an order has no effect.
    pub(super) orders_until: UtcTime,
    /// The documents of the last actions.
    pub(super) marks: &'a mut SignedActionMarks,
    pub(super) signals: &'a DraftSignals,
    /// Set when an order was given or answered. It must not be given later: its signer has learned
    /// the answer.
    pub(super) is_order_spent: bool,
}

/// The end of an action.
pub(super) enum TakenAction {
    /// It has its effect.
    Taken {
        /// The person who signed, for messages.
        signer: String,
    },
    /// It has none, for this reason.
    Refused(String),
}

/// A step of an action: its value, or the reason why the action is refused.
type ActionStep<T> = Result<Result<T, String>, SpoolError>;

impl ActionTaking<'_> {
    /// Takes an action if its signature counts now.
    ///
    /// # Errors
    /// A file cannot be read or placed. Nothing was placed if the error is momentary.
    pub(super) fn take(&mut self, action: &SignedAction) -> Result<TakenAction, SpoolError> {
        // Before any document is read.
        if let Err(refusal) = action.check_claim(self.rules.trust.signers(), self.now) {
            return Ok(TakenAction::Refused(refusal.to_string()));
        }
        let taken = match action.terms().kind() {
            SignedActionKind::Approve | SignedActionKind::Reject => self.take_drafts(action)?,
            SignedActionKind::Revoke => self.revoke(action)?,
            _ => self.give_order(action)?,
        };
        Ok(match taken {
            Ok(signer) => TakenAction::Taken { signer },
            Err(reason) => TakenAction::Refused(reason),
        })
    }

    fn count(&self, action: &SignedAction, documents: &[Vec<u8>]) -> Result<CountedAction, String> {
        let terms = action.terms();
        let no_effect_until = match terms.kind().is_order() {
            true => Some(self.orders_until),
            false => self.marks.until(terms),
        };
        let evidence = SignedActionEvidence {
            policy: &self.rules.policy,
            signers: self.rules.trust.signers(),
            host: self.host,
            now: self.now,
            no_effect_until,
        };
        action.count(documents, &evidence).map_err(|refusal| refusal.to_string())
    }

    fn take_drafts(&mut self, action: &SignedAction) -> ActionStep<String> {
        let place = self.spool.roots()[1].join("drafts");
        let drafts = Inbox::open(&place)?;
        drafts.check_removable()?;
        let mut found = Vec::new();
        for ActionDocument { target, .. } in action.terms().documents() {
            self.begin_step(&drafts, target);
            match drafts.read_draft(target)? {
                Some(draft) => found.push(draft),
                None => return Ok(Err(format!("{target}: not a draft any more"))),
            }
        }
        // To read a draft may have taken long.
        self.now = system::now();
        let bytes: Vec<Vec<u8>> = found.iter().map(|draft| draft.bytes.clone()).collect();
        let counted = match self.count(action, &bytes) {
            Ok(counted) => counted,
            Err(why) => return Ok(Err(why)),
        };
        self.approved.check_signed(&drafts, counted.documents(), self.input_bytes_max())?;
        // Durable before the first is placed: what was taken once is not taken again. The check of
        // the inputs may have taken long too.
        self.marks.mark(action.terms(), system::now())?;
        Ok(self.move_drafts(&drafts, counted.documents(), &found)?.map(|()| signer_of(&counted)))
    }

    /// Moves one draft after another. A failure before the first is moved is an error.
    fn move_drafts(
        &mut self,
        drafts: &Inbox,
        documents: &[CountedDocument],
        found: &[SignedDraft],
    ) -> ActionStep<()> {
        for (index, (document, draft)) in documents.iter().zip(found).enumerate() {
            self.begin_step(drafts, &document.target);
            let bytes_max = self.input_bytes_max();
            let taken = self.approved.take_signed_draft(drafts, document, draft, bytes_max);
            let Err(error) = taken else { continue };
            for CountedDocument { target, .. } in documents.iter().skip(index) {
                self.marks.take_back(target);
            }
            if index == 0 {
                return Err(error);
            }
            let (id, count) = (&document.target, documents.len());
            let help = "sign the others again";
            return Ok(Err(format!(
                "{index} of {count} were approved, up to {id}: {}; help: {help}",
                error.problem()
            )));
        }
        Ok(Ok(()))
    }

    /// Submits the rejection of an admitted standing approval, as `toolexec standing revoke` does.
    fn revoke(&mut self, action: &SignedAction) -> ActionStep<String> {
        let Some(ActionDocument { sha256: Some(sha256), target: ActionTarget::Standing(id) }) =
            action.terms().documents().first()
        else {
            return Ok(Err("revoke: does not name a standing approval".to_owned()));
        };
        let reference = StandingReference { id: id.clone(), sha256: *sha256 };
        let Some(StandingState { stored, revoked_by, .. }) =
            self.spool.standing(&reference, self.now)?
        else {
            return Ok(Err(format!("{id}: not admitted on this host with these bytes")));
        };
        let counted = match self.count(action, &[stored.approval.bytes().to_vec()]) {
            Ok(counted) => counted,
            Err(why) => return Ok(Err(why)),
        };
        // Only a person whose signature counts learns the name.
        if let Some(by) = revoked_by {
            return Ok(Err(format!("{id}: was revoked by {}", model::escape_line(&by))));
        }
        self.mark_restriction(action);
        for document in counted.documents() {
            self.approved.place_signed(document)?;
        }
        Ok(Ok(signer_of(&counted)))
    }

    fn give_order(&mut self, action: &SignedAction) -> ActionStep<String> {
        let kind = action.terms().kind();
        let (Some(order), Some(ActionDocument { target, .. })) =
            (OperatorOrder::named(kind.as_str()), action.terms().documents().first())
        else {
            return Ok(Err(format!("{kind}: not an order for a request")));
        };
        let counted = match self.count(action, &[]) {
            Ok(counted) => counted,
            Err(why) => return Ok(Err(why)),
        };
        if kind == SignedActionKind::Cancel {
            self.mark_restriction(action);
        }
        let given = self.approved.give_order(&target.file_name(), order)?;
        self.is_order_spent = true;
        Ok(match given {
            GivenOrder::Placed => Ok(signer_of(&counted)),
            GivenOrder::NotQueued => Err(format!("{target}: no such waiting request")),
            GivenOrder::Cancelled => {
                let help = "draft a new request";
                Err(format!("{target}: already cancelled, which cannot be undone; help: {help}"))
            }
        })
    }

    /// Notes the draft that is used next.
    fn begin_step(&self, drafts: &Inbox, target: &ActionTarget) {
        let path = drafts.path().join(target.file_name());
        self.signals.begin_step(path.display().to_string());
    }

    /// Returns the most bytes of the inputs of a draft. Policy would refuse a request with more.
    fn input_bytes_max(&self) -> u64 {
        self.rules.policy.ceilings().input_bytes
    }

    /// Marks the documents of an action that can only restrict, and so must not wait for its mark.
    /// The mark keeps out an approval that was signed earlier and is delivered later.
    fn mark_restriction(&mut self, action: &SignedAction) {
        if let Err(error) = self.marks.mark(action.terms(), self.now) {
            tracing::warn!("a signed action has no mark: {error}");
        }
    }
}

fn signer_of(counted: &CountedAction) -> String {
    counted.signer().to_owned()
}

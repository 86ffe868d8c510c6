//! The claims of an action that need no document: its time and its key. They are checked before
//! any document is read, because a process that may only deliver files chooses how many are.

use model::UtcTime;

use super::counted::{SignedActionEvidence, SignedActionRefusal, refusal};
use super::error::SignedActionError;
use super::parse::SignedAction;
use crate::approval::signers::{AllowedSigners, EntitlementError};
use crate::approval::sshsig::SshSignature;

/// An approval is delivered within this time after its `approved_utc`.
const APPROVAL_AGE_SEC_MAX: i64 = 600;
/// An order is delivered within this time.
const ORDER_AGE_SEC_MAX: i64 = 300;
impl SignedAction {
    /// Checks the time of the action, and that its key may sign it. The signature is not verified:
    /// it may name a key of another person.
    ///
    /// # Errors
    /// [`SignedActionRefusal`]: the reason why it cannot count for any document.
    pub fn check_claim(
        &self,
        signers: Option<&AllowedSigners>,
        now: UtcTime,
    ) -> Result<(), SignedActionRefusal> {
        self.claimed(signers, now)?;
        Ok(())
    }

    /// As [`Self::check_claim`]. Returns the keys that the host knows.
    pub(super) fn claimed<'s>(
        &self,
        signers: Option<&'s AllowedSigners>,
        now: UtcTime,
    ) -> Result<&'s AllowedSigners, SignedActionRefusal> {
        let Some(signers) = signers else {
            return Err(refusal(
                "allowed_signers is not configured, so no signature counts; help: set \
                 allowed_signers in the daemon's configuration",
            ));
        };
        self.check_age(now)?;
        let signature = self.ssh_signature()?;
        let key = signature.key();
        let why = if signers.is_revoked(key) {
            EntitlementError::Revoked
        } else if signers.may_sign(key, self.namespace()) {
            return Ok(signers);
        } else if signers.of_key(key).next().is_some() {
            EntitlementError::Namespace
        } else {
            EntitlementError::Unknown
        };
        Err(self.key_refusal(&key.fingerprint(), why))
    }

    pub(super) fn ssh_signature(&self) -> Result<SshSignature, SignedActionError> {
        SshSignature::parse(self.signature().as_bytes()).map_err(SignedActionError::Signature)
    }

    pub(super) fn key_refusal(
        &self,
        fingerprint: &str,
        why: EntitlementError,
    ) -> SignedActionRefusal {
        let why = match why {
            EntitlementError::Revoked => "is revoked",
            EntitlementError::Unknown => "is not in allowed_signers",
            EntitlementError::Namespace => "may not sign this action",
            EntitlementError::Time => "is not valid now",
        };
        refusal(format!(
            "its signature: key {fingerprint} {why}; help: sign with a key that allowed_signers \
             lists for namespace {}",
            self.namespace()
        ))
    }

    fn check_age(&self, now: UtcTime) -> Result<(), SignedActionRefusal> {
        let Some(at) = self.terms().at() else { return Ok(()) };
        let age_sec = now.unix().saturating_sub(at.unix());
        let is_order = self.terms().kind().is_order();
        let age_sec_max = if is_order { ORDER_AGE_SEC_MAX } else { APPROVAL_AGE_SEC_MAX };
        if age_sec > age_sec_max {
            return Err(refusal(format!(
                "at: {at} is more than {age_sec_max} s before {now}; help: sign it again"
            )));
        }
        // Otherwise an approval that was signed before a rejection could be later than it, and a
        // daemon that restarts before the time of an order would take the order again.
        if age_sec < 0 {
            return Err(refusal(format!("at: {at} is after {now}; help: correct the clocks")));
        }
        Ok(())
    }

    /// Checks that the action is later than those which it would repeat or undo.
    pub(super) fn check_repetition(
        &self,
        evidence: &SignedActionEvidence<'_>,
    ) -> Result<(), SignedActionRefusal> {
        let (Some(at), Some(last)) = (self.terms().at(), evidence.no_effect_until) else {
            return Ok(());
        };
        if at > last {
            return Ok(());
        }
        let event = match self.terms().kind().is_order() {
            true => "the last order or the start of the daemon",
            false => "the last action about its documents",
        };
        Err(refusal(format!("at: {at} is not after {last}, {event}; help: sign it again")))
    }
}

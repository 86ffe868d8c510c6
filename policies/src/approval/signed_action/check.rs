//! The check whether a signed action counts now: one function for every action. It is pure, and it
//! must never be more permissive than the rules about signature files beside a document, which
//! judge the same files again after they were placed.

use model::{Sha256, UtcTime};

use super::counted::{CountedDocument, SignedActionEvidence, SignedActionRefusal, refusal};
use super::document_rules;
use super::error::SignedActionError;
use super::model::{ActionDocument, ActionTarget, SignedActionKind};
use super::parse::SignedAction;
use crate::approval::model::SignatureFile;
use crate::approval::signers::AllowedSigners;
use crate::approval::sshsig::VerifiedSshSignature;
use crate::approval::verified_signatures::SignatureCheck;
use crate::policy::Policy;

/// A signed action whose signature counts now. Only [`SignedAction::count`] makes one.
#[must_use]
#[derive(Debug)]
pub struct CountedAction {
    kind: SignedActionKind,
    signer: String,
    documents: Vec<CountedDocument>,
}

impl CountedAction {
    /// Returns the effect.
    #[must_use]
    pub fn kind(&self) -> SignedActionKind {
        self.kind
    }

    /// Returns the names and the key of the person who signed, for messages.
    #[must_use]
    pub fn signer(&self) -> &str {
        &self.signer
    }

    /// Returns the documents to submit; none for an order.
    #[must_use]
    pub fn documents(&self) -> &[CountedDocument] {
        &self.documents
    }
}

impl SignedAction {
    /// Checks that the signature counts for these documents now. `documents` are the bytes that
    /// exist on this host, in the order of the file: the drafts, or the admitted standing approval.
    /// An order takes none.
    ///
    /// # Errors
    /// [`SignedActionRefusal`]: the first reason why it does not count for one of them.
    pub fn count(
        &self,
        documents: &[Vec<u8>],
        evidence: &SignedActionEvidence<'_>,
    ) -> Result<CountedAction, SignedActionRefusal> {
        let signers = self.claimed(evidence.signers, evidence.now)?;
        self.check_repetition(evidence)?;
        let documents = self.signed_documents(documents)?;
        let message = self.message(&documents)?;
        // The cheap check first: it needs no document to be well-formed.
        let signer = self.signer(&message, (evidence.policy, signers), evidence.now)?;
        let named = self.terms().documents().iter().map(|it| &it.target);
        let counted = named.zip(documents).map(|(target, bytes)| CountedDocument {
            target: target.clone(),
            bytes,
            signature: self.signature_file(target, &message),
        });
        let documents: Vec<CountedDocument> = counted.collect();
        for document in &documents {
            document_rules::check(self.terms().kind(), document, signers, evidence)?;
        }
        Ok(CountedAction { kind: self.terms().kind(), signer, documents })
    }

    /// Compares the documents with their digests, and fills in the approval.
    fn signed_documents(&self, documents: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, SignedActionRefusal> {
        let named = self.terms().documents();
        if self.terms().kind().is_order() {
            return Ok(Vec::new());
        }
        if named.len() != documents.len() {
            return Err(SignedActionError::Count(self.terms().kind(), documents.len()).into());
        }
        let signed = |(named, bytes): (&ActionDocument, &Vec<u8>)| {
            let ActionDocument { sha256, target } = named;
            if *sha256 != Some(Sha256::of(bytes)) {
                return Err(refusal(format!(
                    "{target}: has other bytes than those that were signed; help: review it again"
                )));
            }
            Ok(self.terms().signed_document(target, bytes)?)
        };
        named.iter().zip(documents).map(signed).collect()
    }

    /// Verifies the signature, and returns the person.
    fn signer(
        &self,
        message: &[u8],
        (policy, signers): (&Policy, &AllowedSigners),
        now: UtcTime,
    ) -> Result<String, SignedActionRefusal> {
        let signature = self.ssh_signature()?;
        let verified =
            signature.verify_with_passkeys(message).map_err(SignedActionError::Signature)?;
        self.check_touch(&verified, (policy, signers), now)?;
        let fingerprint = verified.key().fingerprint();
        match signers.names_for(&verified, now) {
            Ok(names) => Ok(format!("{} with key {fingerprint}", model::escape_line(names))),
            Err(why) => Err(self.key_refusal(&fingerprint, why)),
        }
    }

    /// Checks the passkey or the security key by the rules about signature files. An order needs a
    /// verified user if an approval does: no document is judged after it, and a release lets a
    /// request run.
    fn check_touch(
        &self,
        verified: &VerifiedSshSignature,
        (policy, signers): (&Policy, &AllowedSigners),
        now: UtcTime,
    ) -> Result<(), SignedActionRefusal> {
        let rules = &policy.rules.approval;
        let check = SignatureCheck {
            signers,
            passkeys: &rules.passkeys,
            user_verification: rules.user_verification,
            now,
        };
        let kind = self.terms().kind();
        let is_negative = matches!(kind, SignedActionKind::Reject | SignedActionKind::Revoke);
        check.check_touch(!is_negative, verified).map_err(|problem| {
            let help = match problem.passkey {
                true => "list its domain and origin in approval.webauthn, or use another key",
                false => "sign again with a PIN, a finger or a face",
            };
            refusal(format!("its signature: {}; help: {help}", problem.why))
        })
    }

    fn signature_file(&self, target: &ActionTarget, message: &[u8]) -> SignatureFile {
        // The name depends on the action alone: an action that is taken twice places one file.
        let digest = Sha256::of(self.text().as_bytes()).to_string();
        let label = digest.get(..16).unwrap_or_default();
        let mark = match self.terms().kind() {
            SignedActionKind::Reject | SignedActionKind::Revoke => ".reject",
            _ => "",
        };
        let name = format!("{}.action-{label}{mark}.sig", target.file_name());
        let list = if self.terms().is_batch() { message } else { &[] };
        SignatureFile { name, bytes: [self.signature().as_bytes(), list].concat() }
    }
}

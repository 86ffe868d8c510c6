//! The content of an action without its signature: its text, and the bytes that a person signs for
//! it. Both must follow from the content alone, so that signer and daemon agree on them.

use model::{Sha256, UtcTime};
use validator::{FilledRequest, OneLine, fill_approval};

use super::error::SignedActionError;
use super::model::{ActionDocument, ActionTarget, ORDER_NAMESPACE, SignedActionKind};
use crate::approval::batch::{BATCH_NAMESPACE, BatchList};
use crate::approval::model::{APPROVE_NAMESPACE, REJECT_NAMESPACE, STANDING_NAMESPACE};

/// The first line of the file.
pub(super) const TITLE: &str = "toolexec-action v1";
/// The longest name of an approver in bytes.
const BY_BYTES_MAX: usize = 256;

/// An action that a person may sign.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignedActionTerms {
    kind: SignedActionKind,
    by: Option<OneLine>,
    at: Option<UtcTime>,
    documents: Vec<ActionDocument>,
}

impl SignedActionTerms {
    /// Makes the content of an action. `by` is the approver, for an approval only. `at` is the time
    /// of an approval or of an order, and absent otherwise.
    ///
    /// # Errors
    /// [`SignedActionError`]: a part is missing, or does not fit the action.
    pub fn new(
        kind: SignedActionKind,
        by: Option<OneLine>,
        at: Option<UtcTime>,
        documents: Vec<ActionDocument>,
    ) -> Result<Self, SignedActionError> {
        let named = by.as_ref().map(OneLine::as_str);
        let is_name =
            |name: &str| !name.is_empty() && name.len() <= BY_BYTES_MAX && name.trim() == name;
        if named.is_some() != (kind == SignedActionKind::Approve) || !named.is_none_or(is_name) {
            return Err(SignedActionError::Key(kind, "by"));
        }
        if at.is_some() != kind.has_time() {
            return Err(SignedActionError::Key(kind, "at"));
        }
        check_documents(kind, &documents)?;
        Ok(Self { kind, by, at, documents })
    }

    /// Returns the effect.
    #[must_use]
    pub fn kind(&self) -> SignedActionKind {
        self.kind
    }

    /// Returns the approver, for an approval.
    #[must_use]
    pub fn by(&self) -> Option<&OneLine> {
        self.by.as_ref()
    }

    /// Returns the time of an approval or of an order.
    #[must_use]
    pub fn at(&self) -> Option<UtcTime> {
        self.at
    }

    /// Returns the documents, in the order of the file.
    #[must_use]
    pub fn documents(&self) -> &[ActionDocument] {
        &self.documents
    }

    /// Returns the text of the file above its signature.
    #[must_use]
    pub fn header(&self) -> String {
        let mut text = format!("{TITLE}\naction: {}\n", self.kind);
        if let Some(by) = &self.by {
            text.push_str(&format!("by: {by}\n"));
        }
        if let Some(at) = self.at {
            text.push_str(&format!("at: {at}\n"));
        }
        for ActionDocument { sha256, target } in &self.documents {
            let digest = sha256.map_or_else(|| "-".to_owned(), |it| it.to_string());
            text.push_str(&format!("document: {digest} {target}\n"));
        }
        text
    }

    /// Returns the namespace of its signature.
    #[must_use]
    pub fn namespace(&self) -> &'static str {
        match (self.kind, self.documents.as_slice()) {
            (SignedActionKind::Approve, [ActionDocument { target, .. }]) => match target {
                ActionTarget::Request(_) => APPROVE_NAMESPACE,
                ActionTarget::Standing(_) => STANDING_NAMESPACE,
            },
            (SignedActionKind::Approve, _) => BATCH_NAMESPACE,
            (SignedActionKind::Reject | SignedActionKind::Revoke, _) => REJECT_NAMESPACE,
            _ => ORDER_NAMESPACE,
        }
    }

    /// Returns whether the signature covers a list of documents.
    #[must_use]
    pub fn is_batch(&self) -> bool {
        self.documents.len() > 1
    }

    /// Returns the bytes of a document for which the signature is: a draft with its approval filled
    /// in, or for another action the bytes as they are.
    ///
    /// # Errors
    /// The approval cannot be filled in, or the draft has one.
    pub fn signed_document(
        &self,
        target: &ActionTarget,
        draft: &[u8],
    ) -> Result<Vec<u8>, SignedActionError> {
        let (Some(by), Some(at)) = (&self.by, self.at) else { return Ok(draft.to_vec()) };
        let FilledRequest { bytes, keys } = fill_approval(draft, by, at)
            .map_err(|error| SignedActionError::Fill(target.clone(), error))?;
        // The other value would be a statement of the drafter.
        match keys.len() {
            2 => Ok(bytes),
            _ => Err(SignedActionError::Approved(target.clone())),
        }
    }

    /// Returns the exact bytes that are signed. `documents` are those that
    /// [`Self::signed_document`] returns, in the order of the file; none for an order.
    ///
    /// # Errors
    /// Their number is wrong, or they form no batch.
    pub fn message<D: AsRef<[u8]>>(&self, documents: &[D]) -> Result<Vec<u8>, SignedActionError> {
        if self.kind.is_order() {
            return Ok(self.order_text().into_bytes());
        }
        if documents.len() != self.documents.len() {
            return Err(SignedActionError::Count(self.kind, documents.len()));
        }
        match documents {
            [only] => Ok(only.as_ref().to_vec()),
            all => self.batch_of(all).map(|list| list.text().into_bytes()),
        }
    }

    fn batch_of<D: AsRef<[u8]>>(&self, documents: &[D]) -> Result<BatchList, SignedActionError> {
        let row = |(named, bytes): (&ActionDocument, &D)| match &named.target {
            ActionTarget::Request(id) => Ok((Sha256::of(bytes.as_ref()), id.clone())),
            other @ ActionTarget::Standing(_) => {
                Err(SignedActionError::Target(self.kind, other.clone()))
            }
        };
        let rows = self.documents.iter().zip(documents).map(row).collect::<Result<Vec<_>, _>>()?;
        BatchList::new(rows).map_err(SignedActionError::Batch)
    }

    /// The text of an order, which states its time so that it cannot be repeated later.
    fn order_text(&self) -> String {
        let target = self.documents.first().map_or("", |it| it.target.as_str());
        let at = self.at.map(|at| at.to_string()).unwrap_or_default();
        format!("toolexec-order v1\n{} {target}\nat {at}\n", self.kind)
    }
}

fn check_documents(
    kind: SignedActionKind,
    documents: &[ActionDocument],
) -> Result<(), SignedActionError> {
    if documents.is_empty() || documents.len() > kind.documents_max() {
        return Err(SignedActionError::Count(kind, documents.len()));
    }
    for (index, ActionDocument { sha256, target }) in documents.iter().enumerate() {
        if !takes(kind, target, documents.len()) {
            return Err(SignedActionError::Target(kind, target.clone()));
        }
        if sha256.is_some() == kind.is_order() {
            return Err(SignedActionError::Digest(kind, target.clone()));
        }
        if documents.iter().take(index).any(|before| before.target == *target) {
            return Err(SignedActionError::Duplicate(target.clone()));
        }
    }
    Ok(())
}

fn takes(kind: SignedActionKind, target: &ActionTarget, count: usize) -> bool {
    match (kind, target) {
        (SignedActionKind::Revoke, ActionTarget::Request(_)) => false,
        // Files beside a request are named by its id and a dot.
        (_, ActionTarget::Request(id)) => !id.has_dot(),
        (SignedActionKind::Approve, ActionTarget::Standing(_)) => count == 1,
        (_, ActionTarget::Standing(_)) => !kind.is_order(),
    }
}

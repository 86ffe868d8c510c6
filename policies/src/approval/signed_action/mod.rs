//! Signed actions: the one form in which a process that may deliver signatures, and nothing else,
//! gives them to the daemon. The file is a claim. It must have no effect unless its signature
//! counts by the same rules as a signature file beside the document.
//!
//! `terms` has the text of an action and the bytes that it signs, `parse` reads one, `claim`
//! checks what needs no document, and `check` tests that the signature counts; `document_rules`
//! applies the rules of submitted documents.

mod check;
mod claim;
mod counted;
mod document_rules;
mod error;
mod model;
mod parse;
mod terms;

pub use self::model::{
    ActionDocument, ActionTarget, ORDER_NAMESPACE, SIGNED_ACTION_BYTES_MAX, SignedActionKind,
};
pub use check::CountedAction;
pub use counted::{CountedDocument, SignedActionEvidence, SignedActionRefusal};
pub use error::SignedActionError;
pub use parse::SignedAction;
pub use terms::SignedActionTerms;

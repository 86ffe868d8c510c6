//! A standing approval with its signatures, as plain data: it proves nothing.

use std::sync::Arc;

use policies::SignatureFile;
use validator::StandingApproval;

/// A standing approval with its signatures, as stored or as found next to a request.
#[derive(Debug)]
pub struct StoredStanding {
    /// The document.
    pub approval: Arc<StandingApproval>,
    /// The signatures.
    pub signatures: Vec<SignatureFile>,
    /// The signature files that were not read, each with the reason.
    pub unread: Vec<String>,
}

impl StoredStanding {
    /// Returns the document and its signatures, by file name.
    pub fn files(&self) -> impl Iterator<Item = (String, &[u8])> {
        let document = (format!("{}.md", self.approval.terms().id), self.approval.bytes());
        let signatures = self.signatures.iter().map(|it| (it.name.clone(), it.bytes.as_slice()));
        std::iter::once(document).chain(signatures)
    }
}

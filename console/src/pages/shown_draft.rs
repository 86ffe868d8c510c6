//! A draft as each page shows it: its digest and words, its check, every field of the parsed
//! request, and its inputs. The text of the drafter follows as plain text.

use maud::{Markup, html};
use model::{RequestId, Sha256, UtcTime, digest_words};
use spool::clock;
use validator::{
    Draft, DraftCheck, FileLocation, OwnerUid, REQUEST_BYTES_MAX, Request, Violation,
    fill_placeholder_approval,
};

use super::draft_inputs::{self, PageBudget};
use super::{listed_violations, request_facts};
use crate::state::ConsoleState;
use crate::text;

/// The sections of a draft.
pub(super) struct ShownDraft {
    pub(super) markup: Markup,
    /// The check has found no error.
    pub(super) is_valid: bool,
    /// The sections have every field, and every input as text.
    pub(super) is_whole: bool,
}

/// Returns the sections of a draft, except for its digest.
pub(super) fn show(
    console: &ConsoleState,
    id: &RequestId,
    draft: &[u8],
    budget: &mut PageBudget,
) -> ShownDraft {
    let (violations, request) = check(id, draft, clock::now());
    let inputs = request.as_ref().map(|it| draft_inputs::section(console, id, it, budget));
    let is_whole = inputs.as_ref().is_some_and(|it| it.is_whole);
    let markup = html! {
        (listed_violations::list(&violations))
        @if let Some(request) = &request { (request_facts::sections(request)) }
        @if let Some(inputs) = &inputs { (inputs.markup) }
        h2 { "The whole document, as text" }
        p.quiet { "An agent may have written it. Nothing in it is an instruction to you." }
        (text::lines(draft))
    };
    ShownDraft { markup, is_valid: request.is_some(), is_whole }
}

/// Returns the digest of a document, and its words to compare with another screen. The script
/// compares the digest with the one that would be signed.
pub(super) fn document_facts(id: &str, sha256: &Sha256) -> Markup {
    html! {
        dl {
            dt { "SHA-256" }
            dd { code.document-digest data-document=(id) { (sha256) } }
            dt { "Six words" }
            dd { span.words { (digest_words(sha256).join(" ")) } }
        }
    }
}

/// Checks a draft as if it were approved now, because a draft has no approval yet. Returns the
/// request if no violation is an error.
fn check(id: &RequestId, draft: &[u8], now: UtcTime) -> (Vec<Violation>, Option<Request>) {
    let filled = fill_placeholder_approval(draft, now).map(|it| it.bytes).ok();
    // A file within the limit may exceed it when its approval is filled in.
    let filled = filled.filter(|bytes| bytes.len() <= REQUEST_BYTES_MAX);
    let bytes = filled.unwrap_or_else(|| draft.to_vec());
    match Draft::new(bytes, &format!("{id}.md"), OwnerUid::new(0)) {
        Ok(draft) => {
            let DraftCheck { violations, verdict } = draft.check(FileLocation::Spool, now);
            (violations, verdict.ok())
        }
        Err(_) => (Vec::new(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_draft_is_text() {
        let hostile = "---\npurpose: \"<script>alert(1)</script>\"\n---\n# <img src=x onerror=y>\n";
        let id: RequestId = "TR-20260209-160501Z-hostile".parse().unwrap();
        let (violations, request) = check(&id, hostile.as_bytes(), id.date());
        assert!(request.is_none() && !violations.is_empty());
        let page = html! {
            (listed_violations::list(&violations))
            (text::lines(hostile.as_bytes()))
        };
        let page = page.into_string();
        assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    }

    #[test]
    fn a_document_has_its_digest_and_words() {
        let shown = document_facts("TR-x", &Sha256::of(b"")).into_string();
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let code =
            format!("<code class=\"document-digest\" data-document=\"TR-x\">{digest}</code>");
        assert!(shown.contains(&code), "{shown}");
        assert_eq!(digest_words(&Sha256::of(b"")).len(), 6);
    }
}

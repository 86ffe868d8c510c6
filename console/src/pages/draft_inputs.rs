//! The inputs of a draft, with their digests and the text of small ones. An agent wrote the files:
//! nothing is followed, and the work for a page is bounded.

use std::io::{self, Read as _};

use maud::{Markup, html};
use model::{RequestId, Sha256, Sha256Stream};
use validator::{Input, Request, input_warnings};

use crate::beneath::open_file;
use crate::state::ConsoleState;
use crate::text;

/// Limit of hashed bytes for all inputs of a page. `toolexec review` hashes all.
const HASHED_BYTES_MAX: u64 = 256 << 20;
/// Limit of the shown text of one input, and of all inputs of one draft.
const TEXT_BYTES_MAX: usize = 64 * 1024;
const TEXTS_BYTES_MAX: usize = 256 * 1024;
/// Limit of the shown text of a batch: its documents and their inputs.
const BATCH_TEXT_BYTES_MAX: usize = 1024 * 1024;

/// The work that is left for one page.
pub(super) struct PageBudget {
    hashed_bytes: u64,
    text_bytes: usize,
}

impl PageBudget {
    /// Returns the budget for the inputs of one draft. Its document is shown in any case.
    pub(super) fn of_one_draft() -> Self {
        Self { hashed_bytes: HASHED_BYTES_MAX, text_bytes: TEXTS_BYTES_MAX }
    }

    /// Returns the budget for the documents and inputs of a batch.
    pub(super) fn of_batch() -> Self {
        Self { hashed_bytes: HASHED_BYTES_MAX, text_bytes: BATCH_TEXT_BYTES_MAX }
    }

    /// Takes text out of the budget. Returns false, and takes nothing, if too little is left.
    pub(super) fn take_text(&mut self, bytes: usize) -> bool {
        let left = self.text_bytes.checked_sub(bytes);
        self.text_bytes = left.unwrap_or(self.text_bytes);
        left.is_some()
    }
}

/// Inputs, or a part of one, as a page shows them.
pub(super) struct InputSections {
    pub(super) markup: Markup,
    /// The page has the whole text of each input, and the text has the digest in the request.
    pub(super) is_whole: bool,
}

/// The file that was found for an input.
enum FoundDraftInput {
    Missing,
    Unreadable(io::Error),
    /// A folder, or too large for this page.
    NotHashed(&'static str),
    Hashed {
        sha256: Sha256,
        bytes: u64,
        head: Vec<u8>,
    },
}

/// Returns the section of the inputs of a draft.
pub(super) fn section(
    console: &ConsoleState,
    id: &RequestId,
    request: &Request,
    budget: &mut PageBudget,
) -> InputSections {
    let mut shown = Vec::new();
    for input in request.inputs() {
        let found = find(console, id, input, budget.hashed_bytes);
        if let FoundDraftInput::Hashed { bytes, .. } = &found {
            budget.hashed_bytes = budget.hashed_bytes.saturating_sub(*bytes);
        }
        shown.push(input_sections(input, &found, budget));
    }
    let is_whole = shown.iter().all(|it| it.is_whole);
    let markup = html! {
        h2 { "Inputs" }
        @if shown.is_empty() { p { "None." } }
        @for input in &shown { (input.markup) }
    };
    InputSections { markup, is_whole }
}

fn find(
    console: &ConsoleState,
    id: &RequestId,
    input: &Input,
    hashed_left: u64,
) -> FoundDraftInput {
    if input.is_tree() {
        return FoundDraftInput::NotHashed("a folder, not hashed and not shown on this page");
    }
    let file = match open_file(&console.drafts, &format!("{id}.inputs/{}", input.path())) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return FoundDraftInput::Missing,
        Err(error) => return FoundDraftInput::Unreadable(error),
    };
    let length = file.metadata().map_or(0, |found| found.len());
    if length > hashed_left {
        return FoundDraftInput::NotHashed("too large to be hashed for a page");
    }
    hash(file.take(hashed_left)).unwrap_or_else(FoundDraftInput::Unreadable)
}

fn hash(mut file: impl io::Read) -> io::Result<FoundDraftInput> {
    let (mut hash, mut bytes, mut head) = (Sha256Stream::new(), 0_u64, Vec::new());
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let length = file.read(&mut buffer)?;
        let Some(read) = buffer.get(..length).filter(|read| !read.is_empty()) else { break };
        hash.update(read);
        bytes = bytes.saturating_add(u64::try_from(read.len()).unwrap_or(u64::MAX));
        let room = TEXT_BYTES_MAX.saturating_sub(head.len());
        head.extend_from_slice(read.get(..room.min(read.len())).unwrap_or_default());
    }
    Ok(FoundDraftInput::Hashed { sha256: hash.finish(), bytes, head })
}

fn input_sections(
    input: &Input,
    found: &FoundDraftInput,
    budget: &mut PageBudget,
) -> InputSections {
    let digest = input.sha256().to_string();
    let shown = match found {
        FoundDraftInput::Hashed { sha256, bytes, head } => {
            let shown = content(*bytes, head, budget);
            InputSections { is_whole: shown.is_whole && sha256 == input.sha256(), ..shown }
        }
        _ => InputSections { markup: html! {}, is_whole: false },
    };
    let markup = html! {
        h3 { code { "/in/" (text::line(input.name())) } }
        dl {
            dt { "SHA-256 in the request" }
            dd { code { (digest) } }
            dt { "File beside the draft" }
            dd { (state_of(input, found)) }
        }
        (shown.markup)
    };
    InputSections { markup, is_whole: shown.is_whole }
}

fn state_of(input: &Input, found: &FoundDraftInput) -> Markup {
    html! {
        @match found {
            FoundDraftInput::Missing => span.bad { "is missing" },
            FoundDraftInput::Unreadable(error) => span.bad { (error) },
            FoundDraftInput::NotHashed(why) => span.wait { (why) },
            FoundDraftInput::Hashed { sha256, bytes, .. } => {
                @if sha256 == input.sha256() {
                    span.good { (bytes) " bytes with this digest" }
                } @else {
                    span.bad { (bytes) " bytes with another digest: " code { (sha256) } }
                }
            }
        }
    }
}

/// Returns the text of an input, unless it is binary or the page has enough.
fn content(bytes: u64, head: &[u8], budget: &mut PageBudget) -> InputSections {
    let is_text = !head.contains(&0);
    if !is_text || !budget.take_text(head.len()) {
        let why = if is_text { "The page has enough text." } else { "Binary." };
        return InputSections {
            markup: html! { p.quiet { (why) " Not shown." } },
            is_whole: false,
        };
    }
    let shown = u64::try_from(head.len()).unwrap_or(u64::MAX);
    let warnings = input_warnings(&String::from_utf8_lossy(head));
    let markup = html! {
        @for warning in warnings.iter().take(20) {
            p.wait { "line " (warning.line) ": " (text::line(&warning.message)) }
        }
        (text::lines(head))
        @if bytes > shown {
            p.wait { (bytes - shown) " more bytes are hashed and not shown." }
        }
    };
    InputSections { markup, is_whole: bytes <= shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_hashed_whole_and_kept_in_part() {
        let bytes = vec![b'x'; TEXT_BYTES_MAX + 300_000];
        let FoundDraftInput::Hashed { sha256, bytes: count, head } = hash(&bytes[..]).unwrap()
        else {
            panic!("not hashed");
        };
        assert_eq!(sha256, Sha256::of(&bytes));
        assert_eq!((count, head.len()), (u64::try_from(bytes.len()).unwrap(), TEXT_BYTES_MAX));
    }

    #[test]
    fn text_is_bounded_and_never_markup() {
        let mut budget = PageBudget { hashed_bytes: 0, text_bytes: 100 };
        let mut show = |bytes: u64, head: &[u8]| {
            let shown = content(bytes, head, &mut budget);
            (shown.markup.into_string(), shown.is_whole)
        };
        let (shown, is_whole) = show(30, b"<script>\x1b[2J");
        assert!(shown.contains("&lt;script&gt;\\u{1b}[2J") && !is_whole, "{shown}");
        assert!(shown.contains("18 more bytes"), "{shown}");
        let (shown, is_whole) = show(89, &[b'a'; 89]);
        assert!(shown.contains("enough text") && !is_whole, "{shown}");
        let (shown, is_whole) = show(3, b"a\0b");
        assert!(shown.contains("Binary") && !is_whole, "{shown}");
        let (shown, is_whole) = show(88, &[b'a'; 88]);
        assert!(shown.contains("aaaa") && is_whole, "{shown}");
    }
}

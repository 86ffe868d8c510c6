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
/// Limit of the shown text of one input, and of all.
const TEXT_BYTES_MAX: usize = 64 * 1024;
const TEXTS_BYTES_MAX: usize = 256 * 1024;

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
pub(super) fn section(console: &ConsoleState, id: &RequestId, request: &Request) -> Markup {
    let (mut hashed_left, mut text_left) = (HASHED_BYTES_MAX, TEXTS_BYTES_MAX);
    let mut shown = Vec::new();
    for input in request.inputs() {
        let found = find(console, id, input, hashed_left);
        if let FoundDraftInput::Hashed { bytes, .. } = &found {
            hashed_left = hashed_left.saturating_sub(*bytes);
        }
        shown.push(input_markup(input, &found, &mut text_left));
    }
    html! {
        h2 { "Inputs" }
        @if shown.is_empty() { p { "None." } }
        @for markup in shown { (markup) }
    }
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

fn input_markup(input: &Input, found: &FoundDraftInput, text_left: &mut usize) -> Markup {
    let digest = input.sha256().to_string();
    html! {
        h3 { code { "/in/" (text::line(input.name())) } }
        dl {
            dt { "SHA-256 in the request" }
            dd { code { (digest) } }
            dt { "File beside the draft" }
            dd { (state_of(input, found)) }
        }
        @if let FoundDraftInput::Hashed { bytes, head, .. } = found {
            (content(*bytes, head, text_left))
        }
    }
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
fn content(bytes: u64, head: &[u8], text_left: &mut usize) -> Markup {
    let is_text = !head.contains(&0);
    if !is_text || head.len() > *text_left {
        let why = if is_text { "The page has enough text." } else { "Binary." };
        return html! { p.quiet { (why) " Not shown." } };
    }
    *text_left = text_left.saturating_sub(head.len());
    let shown = u64::try_from(head.len()).unwrap_or(u64::MAX);
    let warnings = input_warnings(&String::from_utf8_lossy(head));
    html! {
        @for warning in warnings.iter().take(20) {
            p.wait { "line " (warning.line) ": " (text::line(&warning.message)) }
        }
        (text::lines(head))
        @if bytes > shown {
            p.wait { (bytes - shown) " more bytes are hashed and not shown." }
        }
    }
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
        let mut left = 100;
        let shown = content(30, b"<script>\x1b[2J", &mut left).into_string();
        assert!(shown.contains("&lt;script&gt;\\u{1b}[2J") && left < 100, "{shown}");
        assert!(shown.contains("18 more bytes"), "{shown}");
        assert!(content(200, &[b'a'; 200], &mut left).into_string().contains("enough text"));
        assert!(content(3, b"a\0b", &mut left).into_string().contains("Binary"));
    }
}

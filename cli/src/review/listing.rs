//! The text of one input on the page: each line with its number, `!` before what is worth a look, and
//! what that is below it. What is left out is said.

use validator::{Request, reveal_line};

use super::human::{Page, Texts};
use super::reading::{Reading, Text};
use crate::inputs::{Found, Seen};

pub(super) fn text(page: &mut Page, seen: &Seen, request: &Request, texts: Texts) {
    let Ok(found) = &seen.found else { return };
    page.title(&format!("/in/{}", reveal_line(&seen.name)));
    match Reading::of(&seen.name, found, is_run(&seen.name, request), texts) {
        Reading::Binary(kind) => page.line(format_args!("  {kind}, not shown")),
        Reading::Text(text) => lines(page, &text, found),
    }
}

/// Whether the command executes the file: it is the first that any word names.
pub(super) fn is_run(name: &str, request: &Request) -> bool {
    let named = request.argv().iter().skip(1).find_map(|word| {
        let word = word.strip_prefix("/in/").unwrap_or(word).trim_start_matches("./");
        request.inputs().iter().map(validator::Input::name).find(|input| *input == word)
    });
    named == Some(name)
}

fn lines(page: &mut Page, text: &Text, found: &Found) {
    if found.bytes == 0 {
        page.line(format_args!("  empty"));
    }
    if text.not_utf8 > 0 {
        page.line(format_args!("  ! {} bytes are no UTF-8, shown as \\x..", text.not_utf8));
    }
    let width = text.lines.last().map_or(1, |line| line.number).to_string().len();
    for line in &text.lines {
        let mark = if line.marks.is_empty() { ' ' } else { '!' };
        page.line(format_args!("{mark} {:>width$} | {}", line.number, line.text));
        if line.chars_more > 0 {
            page.line(format_args!("  {:>width$}   … {} more characters", "", line.chars_more));
        }
        for (code, message) in &line.marks {
            page.line(format_args!("! {:>width$}   ^ {code}: {}", "", reveal_line(message)));
        }
    }
    if text.lines_more > 0 {
        let marked = match text.marked_more {
            0 => String::new(),
            marked => format!(", {marked} of them marked"),
        };
        page.line(format_args!("… {} more lines{marked}; --full shows them", text.lines_more));
    }
    if text.bytes_more > 0 {
        let why = "read and hashed, and looked at by nobody here";
        page.line(format_args!("… {} more bytes: {why}", text.bytes_more));
    }
}

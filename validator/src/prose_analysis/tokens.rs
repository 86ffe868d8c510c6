//! Splits prose into words with positions. Marks only separate words: nothing may hide in markup.

use std::borrow::Cow;

use crate::table::WordTable;

/// The unit of text that begins with a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum TokenStart {
    Inside,
    /// After a comma or a bracket.
    Clause,
    /// A sentence, a list item, a table column, a line of code.
    Sentence,
}

pub(crate) struct ProseToken<'a> {
    /// The line within the text, from 0.
    pub(crate) line: usize,
    /// The byte offset of the bare word in the line.
    pub(crate) at: usize,
    /// The word without the punctuation around it.
    pub(crate) text: &'a str,
    pub(crate) lower: Cow<'a, str>,
    pub(crate) start: TokenStart,
    /// True within backquotes or a fence.
    pub(crate) in_code: bool,
    /// True if a `|` directly precedes the word.
    pub(crate) piped: bool,
}

const ABBREVIATIONS: WordTable =
    WordTable::new(&["approx", "ca", "cf", "e.g", "etc", "fig", "i.e", "incl", "no", "resp", "vs"]);

/// The most words for which memory is reserved: a hostile text has few long ones.
const RESERVED_MAX: usize = 1024;

pub(crate) fn read<'a>(lines: impl Iterator<Item = &'a str> + Clone) -> Vec<ProseToken<'a>> {
    let bytes: usize = lines.clone().map(str::len).sum();
    let mut reader = ProseTokenizer {
        words: Vec::with_capacity((bytes / 5).min(RESERVED_MAX)),
        start: TokenStart::Sentence,
        in_code: false,
        piped: false,
    };
    let mut fenced = false;
    for (number, line) in lines.enumerate() {
        let bare = line.trim_start();
        let fence = bare.starts_with("```") || bare.starts_with("~~~");
        if fence || fenced || begins_block(line, bare) {
            reader.start = TokenStart::Sentence;
        }
        reader.in_code = fenced;
        reader.piped = false;
        reader.line(number, line);
        fenced ^= fence;
        if fence {
            reader.start = TokenStart::Sentence;
        }
    }
    reader.words
}

fn begins_block(line: &str, bare: &str) -> bool {
    bare.is_empty()
        || bare.starts_with(['#', '>', '|', '-', '*', '+', '<'])
        || line.starts_with("    ")
        || line.starts_with('\t')
}

struct ProseTokenizer<'a> {
    words: Vec<ProseToken<'a>>,
    start: TokenStart,
    in_code: bool,
    piped: bool,
}

impl<'a> ProseTokenizer<'a> {
    fn line(&mut self, number: usize, line: &'a str) {
        let (mut from, mut at) = (0, 0);
        while let Some(byte) = line.as_bytes().get(at) {
            if INSIDE_WORDS[usize::from(*byte)] {
                at += 1;
                continue;
            }
            let Some(c) = line.get(at..).and_then(|rest| rest.chars().next()) else { break };
            let end = at + c.len_utf8();
            if separates(c, line, at) {
                self.word(number, line, from, at);
                self.apply_separator(c);
                from = end;
            }
            at = end;
        }
        self.word(number, line, from, line.len());
    }

    /// Applies the effect of a separator to the next word.
    fn apply_separator(&mut self, c: char) {
        match c {
            ',' | '(' | '[' | '{' => self.start = self.start.max(TokenStart::Clause),
            ';' | '<' | '>' | '\u{2013}' | '\u{2014}' => self.start = TokenStart::Sentence,
            '|' => {
                self.start = TokenStart::Sentence;
                self.piped = true;
            }
            '`' => self.in_code = !self.in_code,
            _ => {}
        }
    }

    fn word(&mut self, number: usize, line: &'a str, from: usize, to: usize) {
        let raw = line.get(from..to).unwrap_or("");
        if raw.is_empty() {
            return;
        }
        let bare = trim_end(trim_start(raw));
        if bare.is_empty() {
            // An ellipsis continues the sentence; a dash, a prompt, a list mark or a comment mark
            // begins a new one.
            if !raw.bytes().all(|byte| byte == b'.') {
                self.start = TokenStart::Sentence;
            }
            return;
        }
        let next = line.get(to..).and_then(|rest| rest.chars().next());
        let counts = self.start == TokenStart::Sentence
            && (bare.bytes().all(|b| b.is_ascii_digit()) || (bare == "x" && next == Some(']')));
        if counts {
            return;
        }
        let at = from + (raw.len() - trim_start(raw).len());
        let lower = if bare.bytes().any(|b| b.is_ascii_uppercase()) {
            Cow::Owned(bare.to_ascii_lowercase())
        } else {
            Cow::Borrowed(bare)
        };
        let ends = raw.ends_with(['.', ':', '!', '?', '\u{2026}', '&']);
        let ends = ends && !(raw.ends_with('.') && ABBREVIATIONS.has(&lower));
        let (in_code, piped, start) = (self.in_code, self.piped, self.start);
        self.words.push(ProseToken { line: number, at, text: bare, lower, start, in_code, piped });
        self.start = if ends { TokenStart::Sentence } else { TokenStart::Inside };
        self.piped = false;
    }
}

/// True for the ASCII bytes that [`separates`] passes.
static INSIDE_WORDS: [bool; 256] = {
    let mut inside = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        inside[byte as usize] = !matches!(
            byte,
            b'"' | b'`'
                | b','
                | b';'
                | b'('
                | b')'
                | b'['
                | b']'
                | b'{'
                | b'}'
                | b'<'
                | b'>'
                | b'|'
                | b'*'
                | b'\''
                | b' '
                | b'\t'..=b'\r'
        );
        byte += 1;
    }
    inside
};

fn separates(c: char, line: &str, at: usize) -> bool {
    match c {
        '"' | '`' | ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '|' | '*' => true,
        '\u{ab}' | '\u{bb}' | '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{2013}' | '\u{2014}' => {
            true
        }
        // An apostrophe is part of a word; a single quote is not.
        '\'' | '\u{2018}' | '\u{2019}' => {
            let before = line.get(..at).and_then(|head| head.chars().next_back());
            let after = line.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
            !(before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric))
        }
        _ => c.is_whitespace(),
    }
}

/// Strips leading punctuation. A path's dots, an option's dashes and `$HOME` are parts of the word.
fn trim_start(raw: &str) -> &str {
    if raw.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric) {
        return raw;
    }
    let bare = raw.trim_start_matches(['_', '#', '+', '!', '?', ':', '=', '&', '%', '^']);
    let bare = if bare.starts_with("$HOME") { bare } else { bare.trim_start_matches('$') };
    if bare.bytes().all(|byte| byte == b'-')
        || bare.bytes().all(|byte| byte == b'.') && bare != ".."
    {
        return "";
    }
    bare
}

fn trim_end(bare: &str) -> &str {
    if bare.as_bytes().last().is_some_and(u8::is_ascii_alphanumeric) {
        return bare;
    }
    if bare == ".." || bare.ends_with("/..") {
        return bare;
    }
    bare.trim_end_matches(['.', ':', '!', '?', '_', '#', '$', '+', '=', '-', '&', '\u{2026}'])
}

#[cfg(test)]
mod tests {
    use super::{INSIDE_WORDS, separates};

    #[test]
    fn bytes_inside_words_separate_nothing() {
        for byte in 0..128_u8 {
            let c = char::from(byte);
            let line = format!(" {c} ");
            assert_eq!(INSIDE_WORDS[usize::from(byte)], !separates(c, &line, 1), "{c:?}");
        }
        assert!(!INSIDE_WORDS[128..].contains(&true));
    }
}

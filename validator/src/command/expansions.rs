//! Classifies a finished word as bash does: an assignment, a home directory, a reserved word. From
//! bash's manual; a test compares with bash itself. The rules never depend on this host.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CharQuoting {
    Bare,
    /// After a backslash, or within quotes.
    Quoted,
    /// The end of a quoted part, which may be empty; it is not a character of the word.
    QuoteEnd,
}

pub(crate) type QuotedChar = (char, CharQuoting);

/// Reserved words of bash in the position of a command name.
const RESERVED: [&str; 22] = [
    "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do",
    "done", "in", "function", "time", "{", "}", "!", "[[", "]]", "coproc",
];

pub(crate) fn is_reserved(text: &str) -> bool {
    RESERVED.contains(&text)
}

/// Returns the value's index in `NAME=…`, `NAME+=…`, `NAME[…]=…`. Only a subscript may be quoted.
pub(crate) fn assignment(word: &[QuotedChar]) -> Option<usize> {
    let name = name_length(word)?;
    let mut at = name;
    if bare(word, at) == Some('[') {
        at = subscript_end(word, at)?;
    }
    if bare(word, at) == Some('+') {
        at += 1;
    }
    (bare(word, at) == Some('=')).then_some(at + 1)
}

/// Returns the length of the bare variable name at the start of the word.
fn name_length(word: &[QuotedChar]) -> Option<usize> {
    bare(word, 0).filter(|c| begins_name(*c))?;
    let of_name = |(c, how): &&QuotedChar| *how == CharQuoting::Bare && is_of_name(*c);
    Some(word.iter().take_while(of_name).count())
}

pub(crate) fn begins_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

pub(crate) fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the index after the bracket that closes the one at `open`.
fn subscript_end(word: &[QuotedChar], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, &(c, how)) in word.iter().enumerate().skip(open) {
        match c {
            '[' if how == CharQuoting::Bare => depth += 1,
            ']' if how == CharQuoting::Bare => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(index + 1);
        }
    }
    None
}

/// Returns the first bare `~` for which bash would look up a home directory: at the start of a
/// word, or in an assignment after its `=` or a `:`. A quote before the next slash makes it plain.
pub(crate) fn home_tilde(word: &[QuotedChar]) -> Option<usize> {
    if bare(word, 0) == Some('~') {
        return is_login(word, 1, &['/']).then_some(0);
    }
    let value = assignment(word)?;
    let after_mark = |at: usize| at == value || bare(word, at - 1) == Some(':');
    (1..word.len()).find(|&at| {
        bare(word, at) == Some('~') && after_mark(at) && is_login(word, at + 1, &['/', ':'])
    })
}

/// Returns true if the text after a `~` is bare up to one of these ends.
fn is_login(word: &[QuotedChar], from: usize, ends: &[char]) -> bool {
    let rest = word.get(from..).unwrap_or_default();
    let end = rest.iter().find(|(c, how)| *how != CharQuoting::Bare || ends.contains(c));
    end.is_none_or(|(_, how)| *how == CharQuoting::Bare)
}

fn bare(word: &[QuotedChar], at: usize) -> Option<char> {
    word.get(at).filter(|(_, how)| *how == CharQuoting::Bare).map(|(c, _)| *c)
}

//! What bash would make of a finished word: an assignment, a home directory, a word of its own.
//! Rules of bash's manual, held to bash itself by a test; nothing is ever looked up on this host.

/// How a character of a word was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Written {
    Bare,
    /// After a backslash, or within quotes.
    Quoted,
    /// No character of the word: a quoted part, maybe an empty one, ended here.
    QuoteEnd,
}

pub(crate) type Marked = (char, Written);

/// The words that bash takes for its own where a command name may stand.
const RESERVED: [&str; 22] = [
    "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do",
    "done", "in", "function", "time", "{", "}", "!", "[[", "]]", "coproc",
];

pub(crate) fn is_reserved(text: &str) -> bool {
    RESERVED.contains(&text)
}

/// Where the value begins if the word is `NAME=…`, `NAME+=…` or `NAME[…]=…`: nothing of the name
/// is quoted, while a subscript may be.
pub(crate) fn assignment(word: &[Marked]) -> Option<usize> {
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

/// How many characters of a variable's name the word begins with, all bare.
fn name_length(word: &[Marked]) -> Option<usize> {
    bare(word, 0).filter(|c| begins_name(*c))?;
    let of_name = |(c, how): &&Marked| *how == Written::Bare && is_of_name(*c);
    Some(word.iter().take_while(of_name).count())
}

pub(crate) fn begins_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

pub(crate) fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The index after the bracket that closes the one at `open`.
fn subscript_end(word: &[Marked], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, &(c, how)) in word.iter().enumerate().skip(open) {
        match c {
            '[' if how == Written::Bare => depth += 1,
            ']' if how == Written::Bare => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(index + 1);
        }
    }
    None
}

/// The first bare `~` for which bash would look up a home directory: at the start of a word, and
/// in what looks like an assignment after its `=` and after each `:`. A quote before the next
/// slash makes it plain.
pub(crate) fn home(word: &[Marked]) -> Option<usize> {
    if bare(word, 0) == Some('~') {
        return is_login(word, 1, &['/']).then_some(0);
    }
    let value = assignment(word)?;
    let after_mark = |at: usize| at == value || bare(word, at - 1) == Some(':');
    (1..word.len()).find(|&at| {
        bare(word, at) == Some('~') && after_mark(at) && is_login(word, at + 1, &['/', ':'])
    })
}

/// Whether what follows a `~` is bare up to one of these ends.
fn is_login(word: &[Marked], from: usize, ends: &[char]) -> bool {
    let rest = word.get(from..).unwrap_or_default();
    let end = rest.iter().find(|(c, how)| *how != Written::Bare || ends.contains(c));
    end.is_none_or(|(_, how)| *how == Written::Bare)
}

fn bare(word: &[Marked], at: usize) -> Option<char> {
    word.get(at).filter(|(_, how)| *how == Written::Bare).map(|(c, _)| *c)
}

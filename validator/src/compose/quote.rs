//! Quotes command words and YAML scalars. Our readers and bash must read back exactly the input.

use model::has_deceptive;

use super::line::{NotOneLine, OneLine};

/// Reserved words of bash as a command name. Quoting covers `{`, `!` and `[[` as characters.
const RESERVED: [&str; 17] = [
    "if", "then", "elif", "else", "fi", "for", "in", "while", "until", "do", "done", "case",
    "esac", "select", "function", "time", "coproc",
];

/// Returns a command line that our tokenizer and bash split into exactly these words. Words of
/// plain characters stay bare; all others are single-quoted.
///
/// # Errors
/// A word contains a line end or a control character, which a command line cannot.
pub fn quote_words<S: AsRef<str>>(words: &[S]) -> Result<OneLine, NotOneLine> {
    let mut line = String::new();
    for (index, word) in words.iter().enumerate() {
        let word = word.as_ref();
        if index > 0 {
            line.push(' ');
        }
        if is_plain(word) && (index > 0 || is_plain_name(word)) {
            line.push_str(word);
        } else {
            line.push('\'');
            line.push_str(&word.replace('\'', r"'\''"));
            line.push('\'');
        }
    }
    line.parse()
}

fn is_plain(word: &str) -> bool {
    !word.is_empty()
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(&b))
}

/// Returns true if a plain word may begin the line: no assignment, Markdown mark or reserved word.
fn is_plain_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || "_./".contains(c))
        && !word.contains('=')
        && !RESERVED.contains(&word)
}

/// Quotes text as a double-quoted YAML scalar on one line. Characters that could end the scalar,
/// hide in it or not be printed are escaped.
pub(crate) fn yaml(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            _ if is_printable(c) => quoted.push(c),
            _ => quoted.push_str(&escape(u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}

fn is_printable(c: char) -> bool {
    // YAML excludes U+FFFE and U+FFFF; the last two code points of every plane are noncharacters.
    !has_deceptive(c.encode_utf8(&mut [0; 4])) && u32::from(c) & 0xfffe != 0xfffe
}

fn escape(code: u32) -> String {
    match code {
        0..=0xff => format!("\\x{code:02X}"),
        0x100..=0xffff => format!("\\u{code:04X}"),
        _ => format!("\\U{code:08X}"),
    }
}

//! The text of a Rust file, divided into code, comments and literals.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RustPart {
    Code,
    /// A comment to the end of its line, or a block comment.
    Comment,
    /// A string literal, with its quotes.
    Text,
    /// A character literal, with its quotes.
    Char,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RustPiece<'a> {
    pub(crate) part: RustPart,
    pub(crate) text: &'a str,
    /// The line on which it begins, from 1.
    pub(crate) line: usize,
}

/// Divides a text without gaps. Code pieces are as long as possible.
pub(crate) fn pieces(text: &str) -> Vec<RustPiece<'_>> {
    let bytes = text.as_bytes();
    let (mut found, mut from, mut at) = (Vec::new(), 0, 0);
    let (mut line, mut line_of_code) = (1, 1);
    while at < bytes.len() {
        let Some((part, length)) = literal_or_comment(text, at) else {
            line += usize::from(bytes[at] == b'\n');
            at += 1;
            continue;
        };
        if from < at {
            found.push(RustPiece {
                part: RustPart::Code,
                text: &text[from..at],
                line: line_of_code,
            });
        }
        let piece = &text[at..at + length];
        found.push(RustPiece { part, text: piece, line });
        line += piece.bytes().filter(|byte| *byte == b'\n').count();
        at += length;
        (from, line_of_code) = (at, line);
    }
    if from < at {
        found.push(RustPiece { part: RustPart::Code, text: &text[from..], line: line_of_code });
    }
    found
}

/// Returns kind and length of the literal or comment at a byte.
fn literal_or_comment(text: &str, at: usize) -> Option<(RustPart, usize)> {
    let bytes = text.as_bytes();
    match bytes[at] {
        b'/' => {
            let rest = &text[at..];
            if rest.starts_with("//") {
                Some((RustPart::Comment, rest.find('\n').unwrap_or(rest.len())))
            } else if rest.starts_with("/*") {
                Some((RustPart::Comment, block_comment(rest)))
            } else {
                None
            }
        }
        b'"' => Some((RustPart::Text, quoted(&text[at..], b'"'))),
        b'r' if matches!(bytes.get(at + 1), Some(b'"' | b'#')) => {
            raw_string(&text[..at], &text[at..]).map(|length| (RustPart::Text, length))
        }
        b'\'' => {
            let rest = &text[at..];
            let is_char = rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'');
            is_char.then(|| (RustPart::Char, quoted(rest, b'\'')))
        }
        _ => None,
    }
}

/// Returns the length of a block comment. Block comments nest.
fn block_comment(rest: &str) -> usize {
    let (bytes, mut depth, mut at) = (rest.as_bytes(), 0_usize, 0);
    while at + 1 < bytes.len() {
        match (bytes[at], bytes[at + 1]) {
            (b'/', b'*') => depth += 1,
            (b'*', b'/') => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// Returns the length of a raw string, if one begins here.
fn raw_string(before: &str, rest: &str) -> Option<usize> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    if before.ends_with(|c| word(c) && c != 'b') {
        return None;
    }
    let inner = &rest[1..];
    let hashes = inner.len() - inner.trim_start_matches('#').len();
    if !inner[hashes..].starts_with('"') {
        return None;
    }
    let close = format!("\"{}", "#".repeat(hashes));
    let body = &rest[hashes + 2..];
    Some(body.find(&close).map_or(rest.len(), |end| end + 2 * hashes + 3))
}

/// Returns the length of a quoted literal.
fn quoted(rest: &str, quote: u8) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            b'\\' if !escaped => escaped = true,
            _ if byte == quote && !escaped => return at + 1,
            _ => escaped = false,
        }
    }
    rest.len()
}

/// Returns the text with a blank in place of each comment and each literal.
pub(crate) fn code_of(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece.part {
            RustPart::Code => code.push_str(piece.text),
            _ => code.push(' '),
        }
    }
    code
}

pub(crate) fn has_word(code: &str, word: &str) -> bool {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
}

#[test]
fn the_reader_of_code_knows_words_from_texts() {
    let text = r##"/* unsafe */ let a = "unsafe \" unsafe"; // unsafe
        let b = r#"un"safe"#; let c = '"'; let d = '\''; fn e<'a>() { unsafe_code(); }"##;
    assert!(!has_word(&code_of(text), "unsafe"), "{}", code_of(text));
    assert!(has_word(&code_of(&format!("{text} unsafe {{}}")), "unsafe"));
}

#[test]
fn pieces_leave_no_gap_and_know_their_lines() {
    let text = "/* a /* b\n */ */ x(\"é\\\"\n\", 'é', '\\'', br##\"\"# \"##) // y\n/// z\nw<'a>";
    let found = pieces(text);
    assert_eq!(found.iter().map(|it| it.text).collect::<String>(), text);
    let wanted = [
        (RustPart::Comment, "/* a /* b\n */ */", 1),
        (RustPart::Text, "\"é\\\"\n\"", 2),
        (RustPart::Char, "'é'", 3),
        (RustPart::Char, "'\\''", 3),
        (RustPart::Text, "r##\"\"# \"##", 3),
        (RustPart::Comment, "// y", 3),
        (RustPart::Comment, "/// z", 4),
    ];
    let found = found.into_iter().filter(|it| it.part != RustPart::Code);
    assert_eq!(found.map(|it| (it.part, it.text, it.line)).collect::<Vec<_>>(), wanted);
}

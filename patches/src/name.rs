//! Names as git writes them. A name must never end its line early, and must never begin a line.

/// Returns a path below `a/` or `b/`, in quotes and with C escapes if a reader would otherwise
/// misread it. Letters beyond ASCII stay as they are.
pub(crate) fn quoted(prefix: &str, path: &str) -> String {
    if path.chars().all(is_plain) {
        return format!("{prefix}{path}");
    }
    let mut text = format!("\"{prefix}");
    for c in path.chars() {
        match escape(c) {
            Some(letter) => text.extend(['\\', letter]),
            None if is_plain(c) => text.push(c),
            None => text.push_str(&format!("\\{:03o}", u32::from(c))),
        }
    }
    text.push('"');
    text
}

/// Returns a path for a line with `---` or `+++`. A tab ends a name that contains a blank.
pub(crate) fn label(prefix: &str, path: &str) -> String {
    let end = if path.contains(' ') { "\t" } else { "" };
    format!("{}{end}", quoted(prefix, path))
}

fn is_plain(c: char) -> bool {
    !c.is_ascii_control() && !matches!(c, '"' | '\\')
}

/// Returns the letter of a character that has an escape of its own.
fn escape(c: char) -> Option<char> {
    match c {
        '"' | '\\' => Some(c),
        '\x07' => Some('a'),
        '\x08' => Some('b'),
        '\t' => Some('t'),
        '\n' => Some('n'),
        '\x0b' => Some('v'),
        '\x0c' => Some('f'),
        '\r' => Some('r'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_only_where_needed() {
        let cases = [
            ("src/main.rs", "a/src/main.rs"),
            ("a b", "a/a b"),
            ("-rf", "a/-rf"),
            ("grün/日本", "a/grün/日本"),
            ("it's", "a/it's"),
            ("a\"b", "\"a/a\\\"b\""),
            ("a\\b", "\"a/a\\\\b\""),
            ("a\tb\nc\r", "\"a/a\\tb\\nc\\r\""),
            ("\x07\x08\x0b\x0c", "\"a/\\a\\b\\v\\f\""),
            ("\x01é\x7f", "\"a/\\001é\\177\""),
        ];
        for (path, wanted) in cases {
            assert_eq!(quoted("a/", path), wanted);
        }
    }

    #[test]
    fn a_tab_ends_a_label_with_a_blank() {
        assert_eq!(label("b/", "a b"), "b/a b\t");
        assert_eq!(label("b/", "ab"), "b/ab");
        assert_eq!(label("b/", "a \"b"), "\"b/a \\\"b\"\t");
    }
}

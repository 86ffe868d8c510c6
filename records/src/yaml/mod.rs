//! Output of the front matter's YAML, a small subset in one fixed shape: block maps, block lists of
//! maps, flow lists of scalars, JSON-like double-quoted strings. It must never write text from
//! outside without quotes. The same tree must always give the same bytes.

mod parse;

use model::escape_line;

pub(crate) use parse::parse;

pub(crate) enum FactNode {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    /// A formatted number.
    Number(String),
    /// A constant of this program, written without quotes.
    Keyword(&'static str),
    /// Any text.
    Text(String),
    /// Text with escaped characters: the same to a machine, but no pattern to a reader or the lint.
    Masked(String, TextMask),
    List(Vec<FactNode>),
    Map(FactMap),
}

/// The share of a masked text's characters that are escaped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TextMask {
    All,
    /// Every third, so that no three plain characters are adjacent; no secret has a shorter prefix.
    /// Hardly longer than plain quotes.
    Third,
}

/// Keys, which are constants of this program, and values in output order.
pub(crate) type FactMap = Vec<(&'static str, FactNode)>;

impl FactNode {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    pub(crate) fn maps(maps: impl IntoIterator<Item = FactMap>) -> Self {
        Self::List(maps.into_iter().map(Self::Map).collect())
    }

    /// Makes a count; an unknown one is `unknown`, never zero.
    pub(crate) fn count(count: Option<u64>) -> Self {
        count.map_or(Self::Keyword("unknown"), Self::Uint)
    }

    fn scalar(&self) -> Option<String> {
        match self {
            Self::Null => Some("null".to_owned()),
            Self::Bool(value) => Some(value.to_string()),
            Self::Int(value) => Some(value.to_string()),
            Self::Uint(value) => Some(value.to_string()),
            Self::Number(digits) => Some(digits.clone()),
            Self::Keyword(word) => Some((*word).to_owned()),
            Self::Text(text) => Some(quoted(text)),
            Self::Masked(text, mask) => Some(masked(text, *mask)),
            Self::List(_) | Self::Map(_) => None,
        }
    }
}

/// Writes the map as a block at this indentation, ending in a line feed.
pub(crate) fn block(map: &FactMap, indent: usize) -> String {
    let mut text = String::new();
    for (key, node) in map {
        text.push_str(&" ".repeat(indent));
        text.push_str(key);
        text.push(':');
        text.push_str(&value(node, indent));
    }
    text
}

/// Writes the text after `key:`, with its last line feed.
fn value(node: &FactNode, indent: usize) -> String {
    match node {
        FactNode::Map(map) if map.is_empty() => " {}\n".to_owned(),
        FactNode::Map(map) => format!("\n{}", block(map, indent + 2)),
        FactNode::List(items) => list(items, indent),
        scalar => format!(" {}\n", scalar.scalar().unwrap_or_default()),
    }
}

fn list(items: &[FactNode], indent: usize) -> String {
    // A list of scalars is one line. Records have no lists of lists.
    let scalars: Vec<String> = items.iter().filter_map(FactNode::scalar).collect();
    if scalars.len() == items.len() {
        return format!(" [{}]\n", scalars.join(", "));
    }
    let mut text = String::from("\n");
    for item in items {
        let FactNode::Map(map) = item else { continue };
        let block = block(map, indent + 4);
        // The first key follows the dash.
        text.push_str(&" ".repeat(indent + 2));
        text.push_str("- ");
        text.push_str(block.trim_start_matches(' '));
    }
    text
}

pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        push_quoted(&mut quoted, c);
    }
    quoted.push('"');
    quoted
}

fn push_quoted(quoted: &mut String, c: char) {
    match c {
        '"' => quoted.push_str("\\\""),
        '\\' => quoted.push_str("\\\\"),
        '\n' => quoted.push_str("\\n"),
        '\r' => quoted.push_str("\\r"),
        '\t' => quoted.push_str("\\t"),
        c if is_printable(c) => quoted.push(c),
        c => quoted.push_str(&code_point_escape(c)),
    }
}

fn masked(text: &str, mask: TextMask) -> String {
    let mut masked = String::from("\"");
    for (index, c) in text.chars().enumerate() {
        match u8::try_from(c) {
            _ if mask == TextMask::Third && index % 3 != 2 => push_quoted(&mut masked, c),
            Ok(byte) => masked.push_str(&format!("\\x{byte:02x}")),
            Err(_) => masked.push_str(&code_point_escape(c)),
        }
    }
    masked.push('"');
    masked
}

/// Escapes a character by its code point. YAML has eight digits where JSON needs two surrogates.
fn code_point_escape(c: char) -> String {
    let code = u32::from(c);
    if code <= 0xffff { format!("\\u{code:04x}") } else { format!("\\U{code:08x}") }
}

/// Returns whether a character is written as it is. Not so are characters that the standard library
/// escapes for debugging (control, format with bidi, other space, combining, unassigned), and those
/// that only the lint considers invisible, such as the Hangul fillers.
pub(crate) fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    let mut bytes = [0; 4];
    let text: &str = c.encode_utf8(&mut bytes);
    c.escape_debug().eq([c]) && escape_line(text) == text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_cannot_break_out() {
        let text = "a\"\\\n---\n# x: \u{202e}\u{1b}[0m\u{0}\u{85}\u{2028}\u{e0041}é漢'";
        let expected =
            "\"a\\\"\\\\\\n---\\n# x: \\u202e\\u001b[0m\\u0000\\u0085\\u2028\\U000e0041é漢'\"";
        assert_eq!(quoted(text), expected);
        let back: String = serde_yaml::from_str(expected).unwrap();
        assert_eq!(back, text);
        for mask in [TextMask::All, TextMask::Third] {
            let masked: String = serde_yaml::from_str(&masked(text, mask)).unwrap();
            assert_eq!(masked, text);
        }
    }

    #[test]
    fn nothing_shines_through_a_mask() {
        let secrets = [
            "AKIAABCDEFGHIJKLMNOP",
            "sk-abcdefghij0123456789abcd",
            "hf_abcdefghijklmnopqrstuvwxyzabcdef",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x",
            "-----BEGIN EC PRIVATE KEY-----",
            "bearer abcdefghijklmnopqrst0123",
            "http://user:hunter2hunter2@host/",
            "pwd=hunter2hunter2",
            "pwd=\\\\\\\\",
            "pwd=\u{301}\u{301}",
        ];
        for secret in secrets {
            assert!(validator::withholding_code(&quoted(secret)).is_some(), "{secret}");
            for (phase, mask) in
                [0, 1, 2].into_iter().flat_map(|n| [(n, TextMask::All), (n, TextMask::Third)])
            {
                let masked = masked(&format!("{}{secret}", "-".repeat(phase)), mask);
                assert_eq!(validator::withholding_code(&masked), None, "{masked}");
            }
        }
    }

    #[test]
    fn what_the_lint_refuses_in_a_front_matter_is_not_printable() {
        for c in (0..=u32::from(char::MAX)).filter_map(char::from_u32).filter(|c| is_printable(*c))
        {
            assert_eq!(escape_line(&c.to_string()), c.to_string());
        }
        assert_eq!(quoted("\u{3164}\u{115f}"), "\"\\u3164\\u115f\"");
    }

    #[test]
    fn the_shape_is_the_one_of_upstream() {
        let file = || vec![("path", FactNode::text("a")), ("kept", FactNode::Bool(true))];
        let map: FactMap = vec![
            ("none", FactNode::List(vec![])),
            ("words", FactNode::texts(["x", "y"])),
            ("files", FactNode::maps([file(), file()])),
            (
                "nested",
                FactNode::Map(vec![
                    ("deep", FactNode::maps([file()])),
                    ("n", FactNode::count(None)),
                ]),
            ),
            ("nothing", FactNode::Map(vec![])),
        ];
        let expected = r#"none: []
words: ["x", "y"]
files:
  - path: "a"
    kept: true
  - path: "a"
    kept: true
nested:
  deep:
    - path: "a"
      kept: true
  n: unknown
nothing: {}
"#;
        assert_eq!(block(&map, 0), expected);
    }
}

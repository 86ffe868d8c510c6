//! A fast parser of front matter in the exact shape of records. `None` means that the text has
//! another shape and needs a full YAML parser. Text accepted here means the same to all parsers.

use serde_json::{Map, Value};

use super::is_printable;

const DEPTH_MAX: usize = 16;

/// Plain words that some YAML parser does not read as text.
const NOT_TEXT: [&str; 8] = ["yes", "no", "on", "off", "y", "n", "inf", "nan"];

/// Parses the text between the `---` lines as a map.
pub(crate) fn parse(front: &str) -> Option<Value> {
    let mut lines = FactLines { line: None, rest: Some(front), depth: 0 };
    lines.next();
    let map = lines.map(0, None)?;
    lines.line.is_none().then_some(Value::Object(map))
}

struct FactLines<'a> {
    /// The next line; `None` after the last.
    line: Option<&'a str>,
    /// The text after that line, if any.
    rest: Option<&'a str>,
    depth: usize,
}

impl<'a> FactLines<'a> {
    /// Returns the next line after exactly this many spaces, if it has that indentation.
    fn peek(&self, indent: usize) -> Option<&'a str> {
        let (spaces, rest) = self.line?.split_at_checked(indent)?;
        (spaces.bytes().all(|byte| byte == b' ') && !rest.starts_with(' ')).then_some(rest)
    }

    fn next(&mut self) {
        (self.line, self.rest) = match self.rest {
            Some(rest) => rest
                .split_once('\n')
                .map_or((Some(rest), None), |(line, rest)| (Some(line), Some(rest))),
            None => (None, None),
        };
    }

    /// Parses the keys at this indentation. The first may follow a dash.
    fn map(&mut self, indent: usize, first: Option<&'a str>) -> Option<Map<String, Value>> {
        self.depth += 1;
        let mut map = Map::new();
        let mut next = first.or_else(|| self.peek(indent));
        while let Some(line) = next {
            let (key, value) = entry(line)?;
            self.next();
            let value = if value.is_empty() { self.below(indent)? } else { inline(value)? };
            if map.insert(key.to_owned(), value).is_some() {
                return None;
            }
            next = self.peek(indent);
        }
        self.depth -= 1;
        (!map.is_empty() && self.depth < DEPTH_MAX).then_some(map)
    }

    /// Parses the value below a key.
    fn below(&mut self, indent: usize) -> Option<Value> {
        if self.depth >= DEPTH_MAX {
            return None;
        }
        let mut items = Vec::new();
        while let Some(item) = self.peek(indent + 2).and_then(|line| line.strip_prefix("- ")) {
            if entry(item).is_some() {
                items.push(Value::Object(self.map(indent + 4, Some(item))?));
            } else {
                items.push(scalar(item)?);
                self.next();
            }
        }
        if items.is_empty() {
            return Some(Value::Object(self.map(indent + 2, None)?));
        }
        Some(Value::Array(items))
    }
}

/// Splits a line into its key and the text after the colon.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let plain = key.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    let begins = key.starts_with(|c: char| c.is_ascii_lowercase()) && !NOT_TEXT.contains(&key);
    let value = if value.is_empty() { "" } else { value.strip_prefix(' ')? };
    let named = !["null", "true", "false"].contains(&key);
    (plain && begins && named).then_some((key, value))
}

fn inline(text: &str) -> Option<Value> {
    if text == "{}" {
        return Some(Value::Object(Map::new()));
    }
    let Some(list) = text.strip_prefix('[') else { return scalar(text) };
    let (mut items, mut rest) = (Vec::new(), list);
    while rest != "]" {
        if !items.is_empty() {
            rest = rest.strip_prefix(", ")?;
        }
        let (item, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_text(quoted)?,
            None => {
                let end = rest.find([',', ']'])?;
                let (item, after) = rest.split_at_checked(end)?;
                (plain(item)?, after)
            }
        };
        items.push(item);
        rest = after;
    }
    Some(Value::Array(items))
}

fn scalar(text: &str) -> Option<Value> {
    match text.strip_prefix('"') {
        Some(quoted) => {
            quoted_text(quoted).filter(|(_, rest)| rest.is_empty()).map(|(text, _)| text)
        }
        None => plain(text),
    }
}

/// Parses a JSON number or a plain word.
fn plain(text: &str) -> Option<Value> {
    match text {
        "null" => return Some(Value::Null),
        "true" => return Some(Value::Bool(true)),
        "false" => return Some(Value::Bool(false)),
        _ => {}
    }
    if text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        let known = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'.'));
        return known.then(|| serde_json::from_str(text).ok()).flatten();
    }
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_- ".contains(&b);
    let begins = text.starts_with(|c: char| c.is_ascii_lowercase());
    let word = begins && !text.ends_with(' ') && text.bytes().all(inner);
    (word && !NOT_TEXT.contains(&text)).then(|| Value::from(text))
}

/// Parses a text after its opening quote. Returns it with the rest after the closing quote.
fn quoted_text(text: &str) -> Option<(Value, &str)> {
    let mut unquoted = String::new();
    let mut rest = text;
    loop {
        let at = rest.find(['"', '\\'])?;
        let (raw, mark) = rest.split_at_checked(at)?;
        // A writer escapes all other characters.
        if !raw.chars().all(is_printable) {
            return None;
        }
        unquoted.push_str(raw);
        let mut marked = mark.chars();
        if marked.next() == Some('"') {
            return Some((Value::String(unquoted), marked.as_str()));
        }
        let c = marked.next()?;
        rest = marked.as_str();
        unquoted.push(match c {
            '"' | '\\' => c,
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' | 'U' => {
                let (digits, after) = rest.split_at_checked(if c == 'u' { 4 } else { 8 })?;
                rest = after;
                let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                let code = hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()?;
                char::from_u32(code)?
            }
            _ => return None,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn same(text: &str) {
        let theirs: Value = serde_yaml::from_str(text).unwrap();
        assert_eq!(parse(text), Some(theirs), "{text}");
    }

    #[test]
    fn what_is_written_is_read_as_yaml_has_it() {
        same("a: 1\nb: -1\nc: 0.500000\nd: null\ne: true\nf: not observable\ng: \"x: # y\"");
        same(
            "none: []\nempty: {}\nflow: [\"a, ]\", 1, unknown, \"\\u202e\\U000e0041\\n\\\"\\\\\"]",
        );
        same(
            "files:\n  - path: \"a\"\n    deep:\n      - x: 1\n        z: [2]\n      - x: 2\n  - path: b",
        );
        same("map:\n  inner:\n    kept: unknown\n  last: \"é漢𝄞\"\nend: 0");
        same("list:\n  - \"a: b\"\n  - \"c\"\nend: 0");
    }

    #[test]
    fn every_other_shape_is_left_to_a_reader_of_yaml() {
        let others = [
            "",
            "a",
            "a: 1\na: 2",
            "a: yes",
            "y: 1",
            "a: 1 # more",
            "a: 'x'",
            "a: |\n  x",
            "a: &x 1",
            "a: 0x1",
            "a: 01",
            "a: 1_0",
            "a: 1e3",
            "a: .5",
            "a: \"x",
            "a: \"x\" y",
            "a: \"\\x41\"",
            "a: \"\u{85}\"",
            "a: \"\u{202e}\"",
            "a: \"x\n  y\"",
            "a: [1,2]",
            "a: [1, [2]]",
            "a: [1, ]",
            "a: {b: 1}",
            "a:\n",
            "a:",
            "a:\n- 1",
            "a:\n   b: 1",
            "a:\n  b: 1\n c: 2",
            "a: 1\n",
            "a: 1\n\nb: 2",
            "a: 1\r\nb: 2",
            "a: 1 ",
            "a:  1",
            "A: 1",
            "<<: 1",
            "a: 2026-11-21T12:00:00Z",
            "---\na: 1",
        ];
        for text in others {
            assert_eq!(parse(text), None, "{text:?}");
        }
        let mut deep = String::new();
        for depth in 0..40 {
            deep.push_str(&format!("{}a:\n", " ".repeat(2 * depth)));
        }
        assert_eq!(parse(&deep), None);
    }
}

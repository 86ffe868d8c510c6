//! The positions of the values in a JSON text. `serde_json` accepts the text first, and limits its
//! depth, so this reader only has to find the ends of values.

use std::ops::Range;

use serde_json::Value;

use super::model::EditRefusal;

/// A value with its position in the text.
pub(super) struct JsonNode {
    pub(super) span: Range<usize>,
    pub(super) items: JsonItems,
}

/// The items of a value.
pub(super) enum JsonItems {
    /// A text, a number, `true`, `false` or `null`.
    Scalar,
    Members(Vec<JsonMember>),
    Elements(Vec<JsonNode>),
}

/// A key and its value.
pub(super) struct JsonMember {
    name: String,
    begin: usize,
    pub(super) value: JsonNode,
}

/// Reads a text.
///
/// # Errors
/// The text is not plain JSON; the refusal has the position.
pub(super) fn read(text: &str) -> Result<JsonNode, EditRefusal> {
    serde_json::from_str::<Value>(text).map_err(|error| {
        let why = error.to_string();
        // The position follows the path of the file instead.
        let why = why.split(" at line ").next().unwrap_or_default();
        EditRefusal::malformed((error.line(), error.column()), format!("not plain JSON: {why}"))
    })?;
    JsonScan { text, at: 0 }.value().ok_or_else(EditRefusal::bug)
}

impl JsonNode {
    /// Returns the spans of the items, keys included.
    pub(super) fn spans(&self) -> Vec<Range<usize>> {
        match &self.items {
            JsonItems::Scalar => Vec::new(),
            JsonItems::Members(members) => {
                members.iter().map(|member| member.begin..member.value.span.end).collect()
            }
            JsonItems::Elements(elements) => elements.iter().map(|it| it.span.clone()).collect(),
        }
    }

    /// Returns the position among the members, and the value, of a key.
    pub(super) fn member(&self, key: &str) -> Result<Option<(usize, &Self)>, EditRefusal> {
        let JsonItems::Members(members) = &self.items else {
            let why = format!("what should contain `{key}` is not an object");
            return Err(EditRefusal::new(why, "correct it by hand"));
        };
        let mut found = members.iter().enumerate().filter(|(_, member)| member.name == key);
        let first = found.next().map(|(at, member)| (at, &member.value));
        match found.next() {
            None => Ok(first),
            Some(_) => {
                let why = format!("`{key}` is there twice");
                Err(EditRefusal::new(why, "remove one of them by hand"))
            }
        }
    }
}

struct JsonScan<'t> {
    text: &'t str,
    at: usize,
}

impl JsonScan<'_> {
    /// Skips blanks and returns the next byte.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn value(&mut self) -> Option<JsonNode> {
        let open = self.peek()?;
        let begin = self.at;
        let items = match open {
            b'{' => JsonItems::Members(self.items(b'}', Self::read_member)?),
            b'[' => JsonItems::Elements(self.items(b']', Self::value)?),
            b'"' => {
                self.string()?;
                JsonItems::Scalar
            }
            _ => {
                self.word();
                JsonItems::Scalar
            }
        };
        Some(JsonNode { span: begin..self.at, items })
    }

    fn items<T>(&mut self, close: u8, read: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut found = Vec::new();
        self.at += 1;
        loop {
            match self.peek()? {
                b',' => self.at += 1,
                next if next == close => break,
                _ => found.push(read(self)?),
            }
        }
        self.at += 1;
        Some(found)
    }

    fn read_member(&mut self) -> Option<JsonMember> {
        self.peek()?;
        let begin = self.at;
        let key = self.string()?;
        let name = serde_json::from_str(self.text.get(key)?).ok()?;
        self.peek()?;
        // The colon.
        self.at += 1;
        Some(JsonMember { name, begin, value: self.value()? })
    }

    /// Skips a text and returns its span, quotes included.
    fn string(&mut self) -> Option<Range<usize>> {
        let begin = self.at;
        self.at += 1;
        loop {
            match self.text.as_bytes().get(self.at)? {
                b'\\' => self.at += 2,
                b'"' => break,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(begin..self.at)
    }

    /// Skips a number, `true`, `false` or `null`.
    fn word(&mut self) {
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || b",]}".contains(byte);
        self.at += 1;
        while self.text.as_bytes().get(self.at).is_some_and(|byte| !is_end(byte)) {
            self.at += 1;
        }
    }
}

//! The tree of a YAML text. A value keeps its written text, and its kind is derived from that text.
//! A value must never become another one.

use model::SourceSpan;

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) spot: SourceSpan,
    pub(crate) value: Value,
}

#[derive(Debug)]
pub(crate) enum Value {
    /// A scalar; `plain` means without quotes, so that YAML may give it a type other than text.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) spot: SourceSpan,
    pub(crate) node: Node,
}

/// The kind of a scalar by YAML's core schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ScalarKind {
    Null,
    Bool,
    Number,
    Text,
}

impl Node {
    pub(crate) fn scalar(&self) -> Option<(&str, ScalarKind)> {
        match &self.value {
            Value::Scalar { text, plain: true } => Some((text, plain_kind(text))),
            Value::Scalar { text, plain: false } => Some((text, ScalarKind::Text)),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.scalar(), Some((_, ScalarKind::Null)))
    }

    pub(crate) fn is_empty_list(&self) -> bool {
        matches!(&self.value, Value::List(items) if items.is_empty())
    }

    /// Calls `see` with every scalar of the tree except keys.
    pub(crate) fn each_scalar(&self, see: &mut dyn FnMut(&str, SourceSpan)) {
        match &self.value {
            Value::Scalar { text, .. } => see(text, self.spot),
            Value::List(items) => items.iter().for_each(|item| item.each_scalar(see)),
            Value::Map(entries) => entries.iter().for_each(|entry| entry.node.each_scalar(see)),
        }
    }
}

fn plain_kind(text: &str) -> ScalarKind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return ScalarKind::Null,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => return ScalarKind::Bool,
        ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN" => return ScalarKind::Number,
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digit_first = unsigned.trim_start_matches('.').starts_with(|c: char| c.is_ascii_digit());
    let radix = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0o"));
    let number = match radix {
        Some(digits) => !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit()),
        None => unsigned == ".inf" || (digit_first && unsigned.parse::<f64>().is_ok()),
    };
    if number { ScalarKind::Number } else { ScalarKind::Text }
}

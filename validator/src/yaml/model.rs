//! The tree of a YAML text. A value keeps its written text, and its kind is derived from that text.
//! A value must never become another one.

use model::SourceSpan;

#[derive(Debug)]
pub(crate) struct YamlNode {
    pub(crate) spot: SourceSpan,
    pub(crate) value: YamlValue,
}

#[derive(Debug)]
pub(crate) enum YamlValue {
    /// A scalar; `plain` means without quotes, so that YAML may give it a type other than text.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<YamlNode>),
    Map(Vec<YamlEntry>),
}

#[derive(Debug)]
pub(crate) struct YamlEntry {
    pub(crate) key: String,
    pub(crate) spot: SourceSpan,
    pub(crate) node: YamlNode,
}

/// The kind of a scalar by YAML's core schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ScalarKind {
    Null,
    Bool,
    Number,
    Text,
}

impl YamlNode {
    pub(crate) fn scalar(&self) -> Option<(&str, ScalarKind)> {
        match &self.value {
            YamlValue::Scalar { text, plain: true } => Some((text, plain_kind(text))),
            YamlValue::Scalar { text, plain: false } => Some((text, ScalarKind::Text)),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.scalar(), Some((_, ScalarKind::Null)))
    }

    pub(crate) fn is_empty_list(&self) -> bool {
        matches!(&self.value, YamlValue::List(items) if items.is_empty())
    }

    /// Calls `see` with every scalar of the tree except keys.
    pub(crate) fn each_scalar(&self, see: &mut dyn FnMut(&str, SourceSpan)) {
        match &self.value {
            YamlValue::Scalar { text, .. } => see(text, self.spot),
            YamlValue::List(items) => items.iter().for_each(|item| item.each_scalar(see)),
            YamlValue::Map(entries) => entries.iter().for_each(|entry| entry.node.each_scalar(see)),
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

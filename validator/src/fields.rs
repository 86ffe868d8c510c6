//! Reads a front matter map. It reports each missing key and wrong type, and guesses no value.

use model::{SourceSpan, WithSpan, quote};

use crate::code::Code;
use crate::edit_distance::edit_distance;
use crate::report::Report;
use crate::yaml::{ScalarKind, YamlEntry, YamlNode, YamlValue};

/// One map of the front matter that is being read.
pub(crate) struct FrontMatterFields<'n> {
    entries: &'n [YamlEntry],
    spot: SourceSpan,
    /// The prefix of keys in messages, such as `inputs[0].`.
    prefix: String,
}

impl<'n> FrontMatterFields<'n> {
    /// Returns the fields of a node; reports a node that is not a map.
    pub(crate) fn of(node: &'n YamlNode, prefix: String, report: &mut Report) -> Option<Self> {
        match &node.value {
            YamlValue::Map(entries) => Some(Self { entries, spot: node.spot, prefix }),
            _ => {
                let name = prefix.trim_end_matches('.');
                let message = format!("`{name}`: must be a map of keys and values");
                report.error(Code::FrontmatterType, node.spot, message);
                None
            }
        }
    }

    pub(crate) fn name(&self, key: &str) -> String {
        format!("`{}{key}`", self.prefix)
    }

    /// Returns the first value under this key.
    pub(crate) fn peek(&self, key: &str) -> Option<&'n YamlNode> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    pub(crate) fn spot(&self) -> SourceSpan {
        self.spot
    }

    /// Returns the value under this key; reports a missing key.
    pub(crate) fn node(&self, key: &str, report: &mut Report) -> Option<&'n YamlNode> {
        let node = self.peek(key);
        if node.is_none() {
            let message = format!("{}: the key is missing", self.name(key));
            report.error(Code::FrontmatterMissingKey, self.spot, message);
        }
        node
    }

    /// Returns the text under this key; reports a missing key or another type.
    pub(crate) fn text(&self, key: &str, report: &mut Report) -> Option<WithSpan<&'n str>> {
        let node = self.node(key, report)?;
        self.text_of(key, node, report)
    }

    pub(crate) fn text_of(
        &self,
        key: &str,
        node: &'n YamlNode,
        report: &mut Report,
    ) -> Option<WithSpan<&'n str>> {
        let wrong = match node.scalar() {
            Some((text, ScalarKind::Text)) => {
                return Some(WithSpan { value: text, span: node.spot });
            }
            Some((_, ScalarKind::Null)) => "must be text, not empty",
            Some((_, ScalarKind::Number)) => "must be text; put the number in quotes",
            Some((_, ScalarKind::Bool)) => "must be text; put the word in quotes",
            None => "must be text, not a list or a map",
        };
        let message = format!("{}: {wrong}", self.name(key));
        report.error(Code::FrontmatterType, node.spot, message);
        None
    }

    /// Returns the text under this key, which must be one line and not empty.
    pub(crate) fn sentence(&self, key: &str, report: &mut Report) -> Option<WithSpan<&'n str>> {
        let text = self.text(key, report)?;
        self.one_line(key, text, report)
    }

    /// Returns the text if it is one line and not empty; reports `frontmatter.value` otherwise.
    pub(crate) fn one_line(
        &self,
        key: &str,
        text: WithSpan<&'n str>,
        report: &mut Report,
    ) -> Option<WithSpan<&'n str>> {
        let wrong = if text.value.trim().is_empty() {
            "must not be empty"
        } else if text.value.contains(['\n', '\r']) {
            "must be one line"
        } else if model::has_deceptive(text.value) {
            // YAML escapes can produce characters that the check of the raw text does not see.
            "must not contain control, direction or invisible characters"
        } else {
            return Some(text);
        };
        let message = format!("{}: {wrong}", self.name(key));
        report.error(Code::FrontmatterValue, text.span, message);
        None
    }

    /// Returns the text if no line has deceptive characters; reports `frontmatter.value` otherwise.
    pub(crate) fn readable(
        &self,
        key: &str,
        text: WithSpan<&'n str>,
        report: &mut Report,
    ) -> Option<WithSpan<&'n str>> {
        if !text.value.split('\n').any(model::has_deceptive) {
            return Some(text);
        }
        let wrong = "must not contain control, direction or invisible characters";
        report.error(Code::FrontmatterValue, text.span, format!("{}: {wrong}", self.name(key)));
        None
    }

    /// Returns the number under this key as written, without quotes.
    pub(crate) fn number(&self, key: &str, report: &mut Report) -> Option<WithSpan<&'n str>> {
        let node = self.node(key, report)?;
        if let Some((text, ScalarKind::Number)) = node.scalar() {
            return Some(WithSpan { value: text, span: node.spot });
        }
        let message = format!("{}: must be a number without quotes", self.name(key));
        report.error(Code::FrontmatterType, node.spot, message);
        None
    }

    pub(crate) fn list(&self, key: &str, report: &mut Report) -> Option<&'n [YamlNode]> {
        let node = self.node(key, report)?;
        self.list_of(key, node, report)
    }

    pub(crate) fn list_of(
        &self,
        key: &str,
        node: &'n YamlNode,
        report: &mut Report,
    ) -> Option<&'n [YamlNode]> {
        if let YamlValue::List(items) = &node.value {
            return Some(items);
        }
        let message = format!("{}: must be a list; `[]` if it is empty", self.name(key));
        report.error(Code::FrontmatterType, node.spot, message);
        None
    }

    /// Returns the extension keys.
    pub(crate) fn extensions(&self) -> impl Iterator<Item = &'n str> {
        self.entries.iter().map(|entry| entry.key.as_str()).filter(|key| is_extension(key))
    }

    /// Reports every key that is neither in `known` nor, if `extensible`, an extension.
    pub(crate) fn refuse_unknown(&self, known: &[&str], extensible: bool, report: &mut Report) {
        for entry in self.entries {
            let key = entry.key.as_str();
            if known.contains(&key) || key == "<<" || (extensible && is_extension(key)) {
                continue;
            }
            // Nothing is searched for a violation that would be dropped.
            if report.is_full() {
                return;
            }
            let message = format!("{}{}: not a key of this schema", self.prefix, quote(key));
            let hint = match (key, self.misspelt(key, known)) {
                ("sha256" | "description" | "name" | "path", _) if extensible => {
                    "indent it under the list item that it belongs to".to_owned()
                }
                (_, Some(meant)) => format!("write `{meant}`"),
                _ if extensible => {
                    "remove it, or begin the name of an extension with `x-`".to_owned()
                }
                _ => "remove it".to_owned(),
            };
            report.error_hint(Code::FrontmatterUnknownKey, entry.spot, message, hint);
        }
    }

    /// Returns the absent key of which this one seems to be a misspelling.
    fn misspelt<'k>(&self, key: &str, known: &[&'k str]) -> Option<&'k str> {
        const DISTANCE_MAX: usize = 2;
        if !(4..=64).contains(&key.chars().count()) {
            return None;
        }
        let (distance, meant) = known.iter().map(|it| (edit_distance(key, it), *it)).min()?;
        let is_absent = self.entries.iter().all(|entry| entry.key != meant);
        (distance <= DISTANCE_MAX && is_absent).then_some(meant)
    }
}

fn is_extension(key: &str) -> bool {
    const LONGEST: usize = 64;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    key.strip_prefix("x-")
        .is_some_and(|rest| (1..=LONGEST).contains(&rest.len()) && rest.bytes().all(plain))
}

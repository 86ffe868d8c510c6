//! Fills in the approver and the time of approval where a request leaves them empty. Every other
//! byte must stay the same: the approver signs the bytes that they read.

use std::fmt;

use model::{TextLine, UtcTime};

use crate::compose::{OneLine, yaml};
use crate::document::{REQUEST_FRONT_MATTER_MAX, RequestDocument};
use crate::report::Report;
use crate::schema;
use crate::yaml::{YamlEntry, YamlNode, YamlValue};

/// A request with its approval filled in.
#[derive(Debug)]
pub struct FilledRequest {
    /// The whole text.
    pub bytes: Vec<u8>,
    /// The keys that were empty; if there were none, the text is unchanged.
    pub keys: Vec<&'static str>,
}

/// The reason why nothing was filled in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FillError {
    /// The front matter is missing or unreadable; the check of the text reports why.
    FrontMatter,
    /// The key is missing.
    Missing(&'static str),
    /// The key is empty, but not on a line of its own.
    UnsupportedForm(&'static str),
}

impl fmt::Display for FillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FrontMatter => f.write_str(
                "the front matter cannot be read; help: find the error with `toolexec lint`",
            ),
            Self::Missing(key) => {
                write!(f, "the line `{key}: \"\"` to fill in is missing; help: add the line")
            }
            Self::UnsupportedForm(key) => write!(
                f,
                "`{key}` is not empty on a line of its own; help: write the line `{key}: \"\"`"
            ),
        }
    }
}

impl std::error::Error for FillError {}

/// Fills in `approved_by` and `approved_utc` where they are empty.
///
/// # Errors
/// [`FillError`]: a key is missing, or its empty value cannot be separated from the text.
pub fn fill_approval(bytes: &[u8], by: &OneLine, at: UtcTime) -> Result<FilledRequest, FillError> {
    fill(bytes, by.as_str(), at)
}

/// Fills in the approver `placeholder`, for checks and digests that do not depend on the approver.
///
/// # Errors
/// As [`fill_approval`].
pub fn fill_placeholder_approval(bytes: &[u8], at: UtcTime) -> Result<FilledRequest, FillError> {
    fill(bytes, "placeholder", at)
}

fn fill(bytes: &[u8], by: &str, at: UtcTime) -> Result<FilledRequest, FillError> {
    let text = std::str::from_utf8(bytes).map_err(|_| FillError::FrontMatter)?;
    let values = [("approved_by", yaml(by)), ("approved_utc", yaml(&at.to_string()))];
    let mut unread = Report::default();
    let document = RequestDocument::read(text, REQUEST_FRONT_MATTER_MAX, &mut unread);
    let entries = entries(&document).ok_or(FillError::FrontMatter)?;
    let mut edits = Vec::new();
    for (key, value) in &values {
        let key = *key;
        let entry = entries.iter().find(|it| it.key == key).ok_or(FillError::Missing(key))?;
        if !schema::is_empty_approval(&entry.node) {
            continue;
        }
        let mut lines = document.front_matter_lines.iter();
        let line = lines.find(|line| line.number == entry.spot.line);
        let edit =
            line.and_then(|line| edit(line, key, value)).ok_or(FillError::UnsupportedForm(key))?;
        edits.push((key, edit));
    }
    edits.sort_by_key(|(_, edit)| edit.start);
    let (mut filled, mut from) = (String::with_capacity(text.len() + 64), 0);
    for (_, edit) in &edits {
        filled.push_str(text.get(from..edit.start).unwrap_or_default());
        filled.push_str(&edit.written);
        from = edit.end;
    }
    filled.push_str(text.get(from..).unwrap_or_default());
    let keys: Vec<&'static str> = edits.iter().map(|(key, _)| *key).collect();
    // Reads the text again, so that an unforeseen form of YAML cannot change the request.
    match keys.iter().find(|key| !has_expected_values(&filled, entries, &keys, &values, key)) {
        Some(key) => Err(FillError::UnsupportedForm(key)),
        None => Ok(FilledRequest { bytes: filled.into_bytes(), keys }),
    }
}

fn entries<'d>(document: &'d RequestDocument<'_>) -> Option<&'d [YamlEntry]> {
    match &document.front_matter.as_ref()?.value {
        YamlValue::Map(entries) => Some(entries),
        _ => None,
    }
}

/// A range of the text in bytes, and its replacement.
struct ApprovalEdit {
    start: usize,
    end: usize,
    written: String,
}

/// Returns the edit for an empty value on a line `key: ""`, which may have a comment.
fn edit(line: &TextLine<'_>, key: &str, value: &str) -> Option<ApprovalEdit> {
    let rest = line.text.strip_prefix(key)?;
    let after = rest.trim_start_matches([' ', '\t']).strip_prefix(':')?;
    let colon = line.text.len() - after.len();
    let behind = after.trim_start_matches([' ', '\t']);
    let blank = after.len() - behind.len();
    let written = match behind.find(" #").or_else(|| behind.find("\t#")) {
        _ if behind.starts_with('#') => "",
        Some(comment) => behind.get(..comment)?,
        None => behind,
    };
    let written = written.trim_end_matches([' ', '\t']);
    let inner = written.trim_matches(['"', '\'']);
    if !inner.trim().is_empty() && !["~", "null", "Null", "NULL"].contains(&written) {
        return None;
    }
    let offset = line.offset + colon;
    let (lead, start) = match (blank, written) {
        (0, _) => (" ", offset),
        // A blank is kept only if text follows it.
        (_, "") if !behind.is_empty() => (" ", offset),
        _ => ("", offset + blank),
    };
    let end = if written.is_empty() { start } else { offset + blank + written.len() };
    Some(ApprovalEdit { start, end, written: format!("{lead}{value}") })
}

/// Returns true if the filled text has the same values as before, plus the approval.
fn has_expected_values(
    filled: &str,
    before: &[YamlEntry],
    keys: &[&str],
    values: &[(&str, String)],
    key: &str,
) -> bool {
    let mut unread = Report::default();
    let document = RequestDocument::read(filled, REQUEST_FRONT_MATTER_MAX, &mut unread);
    let Some(after) = entries(&document) else { return false };
    let same = before.len() == after.len()
        && before.iter().zip(after).all(|(before, after)| {
            before.key == after.key
                && (keys.contains(&before.key.as_str()) || is_same(&before.node, &after.node))
        });
    let written = values.iter().find(|(name, _)| *name == key).map(|(_, value)| value);
    let found = after.iter().find(|entry| entry.key == key).and_then(|entry| entry.node.scalar());
    same && found.zip(written).is_some_and(|((text, _), written)| yaml(text) == *written)
}

fn is_same(one: &YamlNode, other: &YamlNode) -> bool {
    match (&one.value, &other.value) {
        (YamlValue::Scalar { text, plain }, YamlValue::Scalar { text: text2, plain: plain2 }) => {
            text == text2 && plain == plain2
        }
        (YamlValue::List(items), YamlValue::List(others)) => {
            items.len() == others.len() && items.iter().zip(others).all(|(a, b)| is_same(a, b))
        }
        (YamlValue::Map(entries), YamlValue::Map(others)) => {
            entries.len() == others.len()
                && entries
                    .iter()
                    .zip(others)
                    .all(|(a, b)| a.key == b.key && is_same(&a.node, &b.node))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{FillError, fill_approval};

    fn fill(front: &str) -> Result<String, FillError> {
        let text = format!("---\r\n{front}\nlanguage: python\n---\n\napproved_by: \"\"\n");
        let at = "2026-02-09T16:12:00Z".parse().expect("a time");
        let filled = fill_approval(text.as_bytes(), &"al\"ice".parse().expect("a name"), at)?;
        let filled = String::from_utf8(filled.bytes).expect("text");
        let rest = filled.strip_prefix("---\r\n").expect("the fence as it was");
        let rest = rest.strip_suffix("\nlanguage: python\n---\n\napproved_by: \"\"\n");
        Ok(rest.expect("the rest as it was").to_owned())
    }

    const BY: &str = "approved_by: \"al\\\"ice\"";
    const AT: &str = "approved_utc: \"2026-02-09T16:12:00Z\"";

    #[test]
    fn empty_values_are_filled_and_nothing_else_changes() {
        for (by, filled) in [
            ("approved_by: \"\"", BY),
            ("approved_by: ''", BY),
            ("approved_by:", BY),
            ("approved_by: ", BY),
            ("approved_by: ~", BY),
            ("approved_by: \" \"  # who?", "approved_by: \"al\\\"ice\"  # who?"),
            ("approved_by:  \"\"", "approved_by:  \"al\\\"ice\""),
            ("approved_by: # who?", "approved_by: \"al\\\"ice\" # who?"),
            ("approved_by : \"\"\r", "approved_by : \"al\\\"ice\"\r"),
            ("approved_by: \"bob\"", "approved_by: \"bob\""),
        ] {
            let rest = "created_utc: \"\" # approved_by: \"\"";
            let front = format!("{by}\n{rest}\napproved_utc: \"\"");
            assert_eq!(fill(&front), Ok(format!("{filled}\n{rest}\n{AT}")), "{by:?}");
        }
    }

    #[test]
    fn a_filled_in_approval_is_unchanged() {
        let front = "approved_by:   bob   # me\napproved_utc: x";
        assert_eq!(fill(front).as_deref(), Ok(front));
    }

    #[test]
    fn an_unsupported_form_is_refused() {
        for (front, why) in [
            ("approved_utc: \"\"", FillError::Missing("approved_by")),
            ("approved_by: \"\"", FillError::Missing("approved_utc")),
            (
                "\"approved_by\": \"\"\napproved_utc: \"\"",
                FillError::UnsupportedForm("approved_by"),
            ),
            ("approved_by: |\n\napproved_utc: \"\"", FillError::UnsupportedForm("approved_by")),
            ("a: {approved_by: \"\"}\nx", FillError::FrontMatter),
        ] {
            assert_eq!(fill(front), Err(why), "{front}");
        }
    }
}

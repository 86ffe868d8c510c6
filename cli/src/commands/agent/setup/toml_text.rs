//! Adds a table to a TOML text, replaces it or removes it. The parser gives positions only: it must
//! never write the rest of a file, whose line ends it would change.

use std::ops::Range;

use toml_edit::{Document, Table, TomlError};

use super::json_style::eol_of;
use super::model::{ConfigEntry, ENTRY_NAME, EditRefusal, ServerEntry};

/// Our table in a text.
struct FoundTable {
    /// Whole lines, from the header to the last value.
    span: Range<usize>,
    entry: ServerEntry,
}

/// Returns our entry in a text.
pub(super) fn find(text: &str, servers: &str) -> Result<Option<ConfigEntry>, EditRefusal> {
    Ok(locate(text, servers)?.map(|found| ConfigEntry::Server(found.entry)))
}

fn locate(text: &str, servers: &str) -> Result<Option<FoundTable>, EditRefusal> {
    let document = Document::parse(text).map_err(|error| malformed(text, &error))?;
    let servers = document.as_table().get(servers).and_then(|it| it.as_table_like());
    let Some(item) = servers.and_then(|it| it.get(ENTRY_NAME)) else { return Ok(None) };
    let found = item.as_table().and_then(|table| ours(text, table));
    found.map(Some).ok_or_else(|| EditRefusal::foreign(&format!("`{ENTRY_NAME}`")))
}

fn malformed(text: &str, error: &TomlError) -> EditRefusal {
    let at = error.span().map_or(0, |span| span.start);
    let before = text.get(..at).unwrap_or(text);
    let last = before.rsplit('\n').next().unwrap_or_default();
    let position = (before.matches('\n').count() + 1, last.chars().count() + 1);
    EditRefusal::malformed(position, format!("not TOML: {}", error.message()))
}

/// Returns our table if it has the keys of `setup` only, each on lines of its own.
fn ours(text: &str, table: &Table) -> Option<FoundTable> {
    let header = table.span()?;
    let mut end = header.end;
    for (_, item) in table.iter() {
        end = end.max(item.as_value()?.span()?.end);
    }
    let args = table.get("args")?.as_array()?.iter();
    let args: Option<Vec<String>> = args.map(|word| word.as_str().map(str::to_owned)).collect();
    let command = table.get("command")?.as_str()?.to_owned();
    let entry = ServerEntry { transport: None, command, args: args? };
    let is_ours = table.len() == 2 && ConfigEntry::Server(entry.clone()).is_ours();
    let begin = text.get(..header.start)?.rfind('\n').map_or(0, |at| at + 1);
    let end = text.get(end..)?.find('\n').map_or(text.len(), |at| end + at + 1);
    is_ours.then_some(FoundTable { span: begin..end, entry })
}

/// Returns a text, or the beginning of a file, with an entry that it does not have.
pub(super) fn insert(
    text: Option<&str>,
    servers: &str,
    entry: &ConfigEntry,
) -> Result<String, EditRefusal> {
    let text = text.unwrap_or_default();
    let eol = eol_of(text);
    let mut edited = text.to_owned();
    if !text.is_empty() {
        if !text.ends_with('\n') {
            edited.push_str(eol);
        }
        edited.push_str(eol);
    }
    edited.push_str(&table_text(servers, entry, eol)?);
    Ok(edited)
}

/// Returns a text with another entry in place of ours.
pub(super) fn replace(
    text: &str,
    servers: &str,
    entry: &ConfigEntry,
) -> Result<String, EditRefusal> {
    let found = locate(text, servers)?.ok_or_else(EditRefusal::bug)?;
    let mut edited = text.to_owned();
    edited.replace_range(found.span, &table_text(servers, entry, eol_of(text))?);
    Ok(edited)
}

/// Returns a text without our table.
pub(super) fn cut(text: &str, servers: &str) -> Result<String, EditRefusal> {
    let Range { start, end } = locate(text, servers)?.ok_or_else(EditRefusal::bug)?.span;
    let (before, after) = text.get(..start).zip(text.get(end..)).ok_or_else(EditRefusal::bug)?;
    let eol = eol_of(text);
    // Of the empty lines on both sides, one is ours.
    let is_apart = after.is_empty() || after.starts_with(eol);
    let before = match before.strip_suffix(eol) {
        Some(rest) if is_apart && (rest.is_empty() || rest.ends_with('\n')) => rest,
        _ => before,
    };
    Ok(format!("{before}{after}"))
}

fn table_text(servers: &str, entry: &ConfigEntry, eol: &str) -> Result<String, EditRefusal> {
    let ConfigEntry::Server(entry) = entry else { return Err(EditRefusal::bug()) };
    let args: Vec<String> = entry.args.iter().map(|word| quoted(word)).collect::<Result<_, _>>()?;
    let (command, args) = (quoted(&entry.command)?, args.join(", "));
    let lines = [
        format!("[{servers}.{ENTRY_NAME}]"),
        format!("command = {command}"),
        format!("args = [{args}]"),
    ];
    Ok(lines.map(|line| line + eol).concat())
}

/// Returns a TOML text. It has the escapes of JSON, and one more character must be escaped.
fn quoted(word: &str) -> Result<String, EditRefusal> {
    let json = serde_json::to_string(word).map_err(|_| EditRefusal::bug())?;
    Ok(json.replace('\u{7f}', "\\u007F"))
}

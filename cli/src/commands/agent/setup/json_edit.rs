//! Adds an entry to a JSON text, replaces it or removes it. Every byte around it stays.

use std::ops::Range;

use serde::ser::{Serialize, SerializeMap as _, Serializer};

use super::json_style::{JsonStyle, blanks_before, eol_of, indent_of_line, unit_of};
use super::json_text::{self, JsonItems, JsonNode};
use super::model::{ConfigEntry, EditRefusal, EntryKey, JsonPlace};

/// The key of the version that some agents ask for.
const VERSION: &str = "version";

/// An entry in containers that do not exist yet.
struct NestedEntry<'a> {
    /// The version of a new file.
    version: Option<u8>,
    keys: &'a [&'a str],
    key: EntryKey,
    entry: &'a ConfigEntry,
}

impl Serialize for NestedEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { version, keys, key, entry } = *self;
        match (keys.split_first(), key) {
            (None, EntryKey::Element(_)) => [entry].serialize(serializer),
            (None, EntryKey::Member(name)) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry(name, entry)?;
                map.end()
            }
            (Some((outer, keys)), _) => {
                let mut map = serializer.serialize_map(None)?;
                if let Some(version) = version {
                    map.serialize_entry(VERSION, &version)?;
                }
                map.serialize_entry(outer, &NestedEntry { version: None, keys, key, entry })?;
                map.end()
            }
        }
    }
}

/// Our entry in a text.
struct FoundJson<'n> {
    /// The containers from the root to that of the entry.
    containers: Vec<&'n JsonNode>,
    /// The position of the entry in the last container.
    index: usize,
    node: &'n JsonNode,
    entry: ConfigEntry,
}

/// Returns our entry in a text.
pub(super) fn find(text: &str, place: JsonPlace) -> Result<Option<ConfigEntry>, EditRefusal> {
    let root = json_text::read(text)?;
    Ok(locate(text, &root, place)?.map(|found| found.entry))
}

/// Returns the containers along the keys, as far as they exist, the root first.
fn containers<'n>(root: &'n JsonNode, keys: &[&str]) -> Result<Vec<&'n JsonNode>, EditRefusal> {
    let (mut node, mut found) = (root, vec![root]);
    for key in keys {
        let Some((_, value)) = node.member(key)? else { break };
        node = value;
        found.push(node);
    }
    Ok(found)
}

fn locate<'n>(
    text: &str,
    root: &'n JsonNode,
    place: JsonPlace,
) -> Result<Option<FoundJson<'n>>, EditRefusal> {
    let containers = containers(root, place.keys)?;
    let Some(container) = containers.get(place.keys.len()).copied() else { return Ok(None) };
    let found = match place.key {
        EntryKey::Member(name) => named(text, container, name)?,
        EntryKey::Element(words) => element(text, container, place.keys, words)?,
    };
    Ok(found.map(|(index, node, entry)| FoundJson { containers, index, node, entry }))
}

type LocatedEntry<'n> = Option<(usize, &'n JsonNode, ConfigEntry)>;

fn named<'n>(
    text: &str,
    container: &'n JsonNode,
    name: &str,
) -> Result<LocatedEntry<'n>, EditRefusal> {
    let Some((index, node)) = container.member(name)? else { return Ok(None) };
    let entry = ours(text, node).ok_or_else(|| EditRefusal::foreign(&format!("`{name}`")))?;
    Ok(Some((index, node, entry)))
}

fn element<'n>(
    text: &str,
    container: &'n JsonNode,
    keys: &[&str],
    words: &str,
) -> Result<LocatedEntry<'n>, EditRefusal> {
    let JsonItems::Elements(elements) = &container.items else {
        let why = format!("`{}` is not a list", keys.join("."));
        return Err(EditRefusal::new(why, "correct it by hand"));
    };
    let is_hook = |node: &JsonNode| text_of(text, node).contains(words);
    let mut hooks = elements.iter().enumerate().filter(|(_, node)| is_hook(node));
    let Some((index, node)) = hooks.next() else { return Ok(None) };
    let entry = ours(text, node).filter(|_| hooks.next().is_none());
    let entry = entry.ok_or_else(|| EditRefusal::foreign("the hook of toolexec"))?;
    Ok(Some((index, node, entry)))
}

fn text_of<'t>(text: &'t str, node: &JsonNode) -> &'t str {
    text.get(node.span.clone()).unwrap_or_default()
}

fn ours(text: &str, node: &JsonNode) -> Option<ConfigEntry> {
    let entry: ConfigEntry = serde_json::from_str(text_of(text, node)).ok()?;
    entry.is_ours().then_some(entry)
}

/// Returns a text, or the beginning of a file, with an entry that it does not have.
pub(super) fn insert(
    text: Option<&str>,
    place: JsonPlace,
    entry: &ConfigEntry,
) -> Result<String, EditRefusal> {
    let JsonPlace { keys, key, version } = place;
    let Some(text) = text else {
        let nested = NestedEntry { version, keys, key, entry };
        return Ok(JsonStyle::of_new_file().render(&nested)? + "\n");
    };
    let text = &with_version(text, version)?;
    let root = json_text::read(text)?;
    let containers = containers(&root, keys)?;
    let container = containers.last().copied().ok_or_else(EditRefusal::bug)?;
    let missing = keys.get(containers.len() - 1..).unwrap_or_default();
    match (missing.split_first(), key) {
        (Some((outer, keys)), _) => {
            let nested = NestedEntry { version: None, keys, key, entry };
            insert_item(text, &root, container, (Some(*outer), &nested))
        }
        (None, EntryKey::Member(name)) => insert_item(text, &root, container, (Some(name), entry)),
        (None, EntryKey::Element(_)) => insert_item(text, &root, container, (None, entry)),
    }
}

/// Returns the text with this version, unless it has one.
fn with_version(text: &str, version: Option<u8>) -> Result<String, EditRefusal> {
    let root = json_text::read(text)?;
    match version {
        Some(version) if root.member(VERSION)?.is_none() => {
            insert_item(text, &root, &root, (Some(VERSION), &version))
        }
        _ => Ok(text.to_owned()),
    }
}

fn insert_item(
    text: &str,
    root: &JsonNode,
    container: &JsonNode,
    (name, value): (Option<&str>, &impl Serialize),
) -> Result<String, EditRefusal> {
    let (open, close) = match container.items {
        JsonItems::Members(_) => ("{", "}"),
        JsonItems::Elements(_) => ("[", "]"),
        JsonItems::Scalar => return Err(EditRefusal::bug()),
    };
    let (begin, end) = (container.span.start, container.span.end);
    if let Some(last) = container.spans().last() {
        let blanks = blanks_before(text, last.start);
        let style = JsonStyle::after(blanks, text, root);
        let item = format!(",{blanks}{}{}", style.key(name), style.render(value)?);
        return Ok(splice(text, last.end..last.end, &item));
    }
    // An empty container of a file with several lines, or an empty file.
    if text.contains('\n') || begin == root.span.start {
        let (outer, unit, eol) = (indent_of_line(text, begin), unit_of(text, root), eol_of(text));
        let style = JsonStyle::indented(&format!("{outer}{unit}"), text, root);
        let item = format!("{}{}", style.key(name), style.render(value)?);
        let whole = format!("{open}{eol}{outer}{unit}{item}{eol}{outer}{close}");
        return Ok(splice(text, begin..end, &whole));
    }
    let item = JsonStyle::Compact.key(name) + &JsonStyle::Compact.render(value)?;
    Ok(splice(text, begin..end, &format!("{open}{item}{close}")))
}

fn splice(text: &str, range: Range<usize>, new: &str) -> String {
    let mut edited = text.to_owned();
    edited.replace_range(range, new);
    edited
}

/// Returns a text with another entry in place of ours.
pub(super) fn replace(
    text: &str,
    place: JsonPlace,
    entry: &ConfigEntry,
) -> Result<String, EditRefusal> {
    let root = json_text::read(text)?;
    let found = locate(text, &root, place)?.ok_or_else(EditRefusal::bug)?;
    let span = found.node.span.clone();
    let style = match text_of(text, found.node).contains('\n') {
        true => JsonStyle::indented(indent_of_line(text, span.start), text, &root),
        false => JsonStyle::Compact,
    };
    Ok(splice(text, span, &style.render(entry)?))
}

/// Returns a text without our entry, and without the containers that it leaves empty.
pub(super) fn cut(text: &str, place: JsonPlace) -> Result<String, EditRefusal> {
    let root = json_text::read(text)?;
    let FoundJson { containers, mut index, .. } =
        locate(text, &root, place)?.ok_or_else(EditRefusal::bug)?;
    for (depth, container) in containers.iter().enumerate().rev() {
        let spans = container.spans();
        if spans.len() > 1 {
            return cut_item(text, &spans, index).ok_or_else(EditRefusal::bug);
        }
        let Some(above) = depth.checked_sub(1) else { break };
        let (outer, key) =
            containers.get(above).zip(place.keys.get(above)).ok_or_else(EditRefusal::bug)?;
        index = outer.member(key)?.ok_or_else(EditRefusal::bug)?.0;
    }
    Ok(splice(text, root.span.clone(), "{}"))
}

/// Removes an item with one comma.
fn cut_item(text: &str, spans: &[Range<usize>], index: usize) -> Option<String> {
    let span = spans.get(index)?;
    let range = match (spans.get(index + 1), index.checked_sub(1)) {
        (Some(next), _) => span.start..next.start,
        (None, Some(before)) => spans.get(before)?.end..span.end,
        (None, None) => return None,
    };
    Some(splice(text, range, ""))
}

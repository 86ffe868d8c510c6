//! The text of a configuration file with our entry, and without it. This is pure: files are read
//! and written elsewhere. A result is read again before it is returned.

use super::model::{ConfigEntry, ConfigPlace, EditRefusal};
use super::{json_edit, toml_text};

/// The result of a removal.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum RemovedText {
    /// The text has no entry of ours.
    Unchanged,
    /// The text without the entry.
    Text(String),
    /// The original, byte for byte: only the entry was added since.
    Original(String),
    /// The file consists of the entry only.
    NoFile,
}

/// Returns our entry in a text.
///
/// # Errors
/// The text is malformed, or has the entry in another form.
pub(super) fn find(text: &str, place: ConfigPlace) -> Result<Option<ConfigEntry>, EditRefusal> {
    match place {
        ConfigPlace::Json(place) => json_edit::find(text, place),
        ConfigPlace::Toml(servers) => toml_text::find(text, servers),
    }
}

fn insert(
    text: Option<&str>,
    place: ConfigPlace,
    entry: &ConfigEntry,
) -> Result<String, EditRefusal> {
    match place {
        ConfigPlace::Json(place) => json_edit::insert(text, place, entry),
        ConfigPlace::Toml(servers) => toml_text::insert(text, servers, entry),
    }
}

/// Returns the text with the entry. `None` is a file that does not exist.
///
/// # Errors
/// The text is malformed, has the entry in another form, or has no place for it.
pub(super) fn add(
    text: Option<&str>,
    place: ConfigPlace,
    entry: &ConfigEntry,
) -> Result<String, EditRefusal> {
    let edited = match (text, text.map(|text| find(text, place)).transpose()?.flatten()) {
        (Some(text), Some(found)) if found == *entry => return Ok(text.to_owned()),
        (Some(text), Some(_)) => match place {
            ConfigPlace::Json(place) => json_edit::replace(text, place, entry)?,
            ConfigPlace::Toml(servers) => toml_text::replace(text, servers, entry)?,
        },
        (text, _) => insert(text, place, entry)?,
    };
    match find(&edited, place) {
        Ok(Some(found)) if found == *entry => Ok(edited),
        // Such as a table of servers that is written in braces.
        _ => {
            let why = "has no place where the entry can be added";
            Err(EditRefusal::new(why, "add it by hand"))
        }
    }
}

/// Returns the text without the entry. `original` is the content from before the first change.
///
/// # Errors
/// The text is malformed, or has the entry in another form.
pub(super) fn remove(
    text: &str,
    original: Option<&str>,
    place: ConfigPlace,
) -> Result<RemovedText, EditRefusal> {
    let Some(entry) = find(text, place)? else { return Ok(RemovedText::Unchanged) };
    if insert(original, place, &entry).is_ok_and(|with_entry| with_entry == text) {
        let original = original.map(|original| RemovedText::Original(original.to_owned()));
        return Ok(original.unwrap_or(RemovedText::NoFile));
    }
    let edited = match place {
        ConfigPlace::Json(place) => json_edit::cut(text, place)?,
        ConfigPlace::Toml(servers) => toml_text::cut(text, servers)?,
    };
    match find(&edited, place)? {
        None => Ok(RemovedText::Text(edited)),
        Some(_) => Err(EditRefusal::bug()),
    }
}

#[cfg(test)]
mod tests;

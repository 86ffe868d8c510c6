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

/// Returns the text without the entries at these places, which are in the order of their addition.
/// `original` is the content from before the first change.
///
/// # Errors
/// The text is malformed, or has an entry in another form.
pub(super) fn remove(
    text: &str,
    original: Option<&str>,
    places: impl IntoIterator<Item = ConfigPlace>,
) -> Result<RemovedText, EditRefusal> {
    let mut found = Vec::new();
    for place in places {
        found.extend(find(text, place)?.map(|entry| (place, entry)));
    }
    if found.is_empty() {
        return Ok(RemovedText::Unchanged);
    }
    if with_entries(original, &found).is_ok_and(|again| again.as_deref() == Some(text)) {
        let original = original.map(|original| RemovedText::Original(original.to_owned()));
        return Ok(original.unwrap_or(RemovedText::NoFile));
    }
    let mut edited = text.to_owned();
    for (place, _) in found.iter().rev() {
        edited = match place {
            ConfigPlace::Json(place) => json_edit::cut(&edited, *place)?,
            ConfigPlace::Toml(servers) => toml_text::cut(&edited, servers)?,
        };
        if find(&edited, *place)?.is_some() {
            return Err(EditRefusal::bug());
        }
    }
    Ok(RemovedText::Text(edited))
}

/// Returns a text to which the entries were added in this order.
fn with_entries(
    original: Option<&str>,
    entries: &[(ConfigPlace, ConfigEntry)],
) -> Result<Option<String>, EditRefusal> {
    let mut text = original.map(str::to_owned);
    for (place, entry) in entries {
        text = Some(insert(text.as_deref(), *place, entry)?);
    }
    Ok(text)
}

#[cfg(test)]
mod tests;

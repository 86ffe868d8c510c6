//! Maps a key of a policy file to its line, and a line to its key, for messages only. It reads
//! indentation, not YAML, so no decision may depend on its answer.

/// A key of a block mapping: its line from 1, its indentation, and its path from the top.
struct KeyPosition {
    line: usize,
    indent: usize,
    path: String,
}

fn key_positions(text: &str) -> impl Iterator<Item = KeyPosition> + '_ {
    let mut above: Vec<(usize, &str)> = Vec::new();
    text.lines().enumerate().filter_map(move |(index, line)| {
        let trimmed = line.trim_start_matches(' ');
        let indent = line.len() - trimmed.len();
        let (key, _) = trimmed.split_once(':')?;
        let key = key.trim_matches(['"', '\'']);
        if key.is_empty() || !key.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
        {
            return None;
        }
        above.retain(|&(outer, _)| outer < indent);
        above.push((indent, key));
        let keys: Vec<&str> = above.iter().map(|&(_, key)| key).collect();
        Some(KeyPosition { line: index + 1, indent, path: keys.join(".") })
    })
}

/// Returns the line of this key, or of the nearest key around it. A flow mapping is one line.
pub(crate) fn line_of(text: &str, path: &str) -> Option<usize> {
    let mut wanted = path;
    loop {
        if let Some(place) = key_positions(text).find(|place| place.path == wanted) {
            return Some(place.line);
        }
        (wanted, _) = wanted.rsplit_once('.')?;
    }
}

/// Returns the path of the key on this line, or `None` if the line does not begin with a key.
pub(crate) fn key_on(text: &str, line: usize) -> Option<String> {
    key_positions(text).find(|place| place.line == line).map(|place| place.path)
}

/// Returns the path of the mapping around a position (1-based); empty for the top-level mapping.
pub(crate) fn mapping_at(text: &str, line: usize, column: usize) -> String {
    let Some(place) = key_positions(text).find(|place| place.line == line) else {
        return String::new();
    };
    // A position after the line's own key is inside that key's flow mapping.
    if column > place.indent + 1 {
        return place.path;
    }
    place.path.rsplit_once('.').map(|(outer, _)| outer.to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{key_on, line_of, mapping_at};

    const TEXT: &str = "# top: no\na: 1\nb:\n  c: 2   # d: no\n  d:\n    e: {f: 1}\n  g: 3\nh: 4\n";

    #[test]
    fn keys_are_found_by_their_path() {
        assert_eq!(line_of(TEXT, "a"), Some(2));
        assert_eq!(line_of(TEXT, "b.d.e"), Some(6));
        assert_eq!(line_of(TEXT, "b.d.e.f"), Some(6));
        assert_eq!(line_of(TEXT, "b.g"), Some(7));
        assert_eq!(line_of(TEXT, "c"), None);
    }

    #[test]
    fn lines_are_named_by_their_key() {
        assert_eq!(key_on(TEXT, 6).as_deref(), Some("b.d.e"));
        assert_eq!(key_on(TEXT, 1), None);
        assert_eq!(mapping_at(TEXT, 7, 3), "b");
        assert_eq!(mapping_at(TEXT, 6, 9), "b.d.e");
        assert_eq!(mapping_at(TEXT, 8, 1), "");
    }
}

//! The names of hosts in a fleet, and of the labels of hosts.

/// The longest name of a host or label in bytes: that of a PostgreSQL role.
const HOST_NAME_BYTES_MAX: usize = 63;

/// Returns whether a text is the name of a host, a label or a fleet: lowercase letters, digits, `-`,
/// `_` and `.`, beginning with a letter.
#[must_use]
pub fn is_host_name(text: &str) -> bool {
    let is_part = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
    let begins = text.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
    begins && text.len() <= HOST_NAME_BYTES_MAX && text.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_begins_with_a_letter_and_has_few_characters() {
        let longest = "a".repeat(HOST_NAME_BYTES_MAX);
        for name in ["a", "host-a", "eu_west.1", longest.as_str()] {
            assert!(is_host_name(name), "{name}");
        }
        let longer = format!("{longest}a");
        for text in ["", "1a", "-a", "A", "host a", "host\n", "hôst", "a\"", longer.as_str()] {
            assert!(!is_host_name(text), "{text:?}");
        }
    }
}

//! Words that look like other words (UTS #39): letters of one script between letters of another,
//! and letters that all stand for ASCII ones. Only words with other letters than ASCII are looked
//! at; nothing here may refuse a person's name for being written in their own script.

use model::{Line, Placed, SourceSpan, escape_line, has_deceptive};
use unicode_security::MixedScript;
use unicode_security::confusable_detection::skeleton;

use crate::code::Code;
use crate::report::Report;
use crate::violation::Violation;

/// Enough of a word to judge it; what is longer is no word that a person compares.
const WORD_CHARS_MAX: usize = 64;

/// Refuses a name in which scripts are mixed: whoever reads it takes it for another.
pub(crate) fn check_name(key: &str, name: Placed<&str>, report: &mut Report) {
    let mixed = name.value.split_whitespace().any(|word| {
        let word = head(word);
        !word.is_ascii() && !word.is_single_script()
    });
    if mixed {
        let message = format!("`{key}`: letters of several scripts stand in one word");
        let hint = "write the name in one script";
        report.error_hint(Code::TextConfusable, name.spot, message, hint);
    }
}

/// What keeps a reader from telling a name by its looks, if anything does: a character that is not
/// seen or turns the text round, or letters of several scripts in one word.
#[must_use]
pub fn misleading(name: &str) -> Option<&'static str> {
    if has_deceptive(name) {
        return Some("a character in it that nobody sees, or that changes the direction");
    }
    let mixed = |word: &str| !word.is_ascii() && !word.is_single_script();
    name.split(|c: char| !c.is_alphanumeric())
        .any(mixed)
        .then_some("letters of several scripts in one word")
}

/// Two names in the spellings by which to compare them where one must not be taken for another:
/// without regard to case, and where one is not all ASCII also by looks (UTS #39, skeleton).
#[must_use]
pub fn looks(name: &str, other: &str) -> Vec<(String, String)> {
    let lower = |name: &str| name.to_lowercase();
    let look = |name: &str| -> String { skeleton(&lower(name)).collect() };
    let mut pairs = vec![(lower(name), lower(other))];
    if !(name.is_ascii() && other.is_ascii()) {
        pairs.push((look(name), look(other)));
    }
    pairs
}

/// Whether a reader could take one name for the other.
#[must_use]
pub fn are_alike(name: &str, other: &str) -> bool {
    looks(name, other).iter().any(|(name, other)| name == other)
}

/// Warns of the first word of a line that imitates an ASCII word with a few foreign letters.
pub(crate) fn check_line(line: &Line<'_>, report: &mut Report) {
    let mut from = 0;
    for word in line.text.split(|c: char| !c.is_alphanumeric()) {
        let at = from;
        from += word.len()
            + line
                .text
                .get(at + word.len()..)
                .and_then(|r| r.chars().next())
                .map_or(0, char::len_utf8);
        if imitates(word) {
            let message = format!("text: {} looks like another word", escaped(word));
            let spot = line.spot(at).wide(word.chars().count());
            let row = Violation::warning(Code::TextConfusable, message).within(spot);
            report.add(row.hint("some of its letters are not Latin ones; write it in one script"));
            return;
        }
    }
}

/// Whether a word mixes ASCII letters with others that stand for ASCII ones.
fn imitates(word: &str) -> bool {
    // Cheap questions first: nearly every foreign word is foreign throughout.
    !word.is_ascii()
        && word.bytes().any(|b| b.is_ascii_alphabetic())
        && !head(word).is_single_script()
        && imitates_ascii(word)
}

/// Whether a reader would take the word for one of ASCII letters alone.
pub(crate) fn imitates_ascii(word: &str) -> bool {
    !word.is_ascii() && skeleton(head(word)).all(|c| c.is_ascii())
}

fn head(word: &str) -> &str {
    word.char_indices().nth(WORD_CHARS_MAX).and_then(|(end, _)| word.get(..end)).unwrap_or(word)
}

/// The word with everything beyond ASCII shown by number, or the message would mislead as well.
fn escaped(word: &str) -> String {
    let mut shown = String::new();
    for c in head(word).chars() {
        if c.is_ascii() {
            shown.push(c);
        } else {
            shown.extend(c.escape_unicode());
        }
    }
    format!("`{}`", escape_line(&shown))
}

/// Refuses a host whose ASCII form stands for letters that imitate others.
pub(crate) fn check_host(host: &str, spot: SourceSpan, report: &mut Report) {
    if !host.split('.').any(|label| label.starts_with("xn--")) {
        return;
    }
    let (unicode, _) = idna::domain_to_unicode(host);
    let misleads =
        |label: &str| !label.is_ascii() && (!label.is_single_script() || imitates_ascii(label));
    if unicode.split('.').any(misleads) {
        let message = format!("`network_allowlist`: {host} is made to look like another name");
        let hint = "its letters imitate Latin ones; name the host that is meant";
        report.error_hint(Code::TextConfusable, spot, message, hint);
    }
}

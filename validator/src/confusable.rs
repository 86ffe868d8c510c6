//! Words that look like other words (UTS #39): letters of one script between letters of another,
//! and letters that all stand for ASCII ones. Only words with other letters than ASCII are looked
//! at; nothing here may refuse a person's name for being written in their own script.

use unicode_security::MixedScript;
use unicode_security::confusable_detection::skeleton;

use crate::code::Code;
use crate::fields::Placed;
use crate::report::{Report, Spot};
use crate::text::{Line, escape_line};
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
pub(crate) fn check_host(host: &str, spot: Spot, report: &mut Report) {
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

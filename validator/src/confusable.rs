//! Detects words that look like others (UTS #39): of mixed scripts, or of letters that all look
//! ASCII. ASCII words are not checked. A name must never be refused for its owner's script.

use model::{SourceSpan, TextLine, WithSpan, escape_line, has_deceptive};
use unicode_security::MixedScript;
use unicode_security::confusable_detection::skeleton;

use crate::code::Code;
use crate::report::Report;
use crate::violation::Violation;

/// Enough of a word to classify it; people do not compare longer ones.
const WORD_CHARS_MAX: usize = 64;

/// Refuses a name of mixed scripts: a reader takes it for another name.
pub(crate) fn check_name(key: &str, name: WithSpan<&str>, report: &mut Report) {
    let mixed = name.value.split_whitespace().any(|word| {
        let word = bounded(word);
        !word.is_ascii() && !word.is_single_script()
    });
    if mixed {
        let message = format!("`{key}`: one word mixes letters of several scripts");
        let hint = "write the name in one script";
        report.error_hint(Code::TextConfusable, name.span, message, hint);
    }
}

/// Returns the reason why a name misleads: an invisible character, a direction, mixed scripts.
#[must_use]
pub fn misleading_reason(name: &str) -> Option<&'static str> {
    if has_deceptive(name) {
        return Some("an invisible character, or one that changes the direction");
    }
    let mixed = |word: &str| !word.is_ascii() && !word.is_single_script();
    name.split(|c: char| !c.is_alphanumeric())
        .any(mixed)
        .then_some("letters of several scripts in one word")
}

/// Returns the pairs of spellings to compare when one name must not be taken for another. The first
/// ignores case. If a name is not all ASCII, a second compares appearance (UTS #39, skeleton).
#[must_use]
pub fn comparable_spellings(name: &str, other: &str) -> Vec<(String, String)> {
    let lower = |name: &str| name.to_lowercase();
    let look = |name: &str| -> String { skeleton(&lower(name)).collect() };
    let mut pairs = vec![(lower(name), lower(other))];
    if !(name.is_ascii() && other.is_ascii()) {
        pairs.push((look(name), look(other)));
    }
    pairs
}

/// Returns true if a reader could take one name for the other.
#[must_use]
pub fn are_alike(name: &str, other: &str) -> bool {
    comparable_spellings(name, other).iter().any(|(name, other)| name == other)
}

/// Warns about the first word of a line that imitates an ASCII word with a few foreign letters.
pub(crate) fn check_line(line: &TextLine<'_>, report: &mut Report) {
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
            let spot = line.span_at(at).with_width(word.chars().count());
            let row = Violation::warning(Code::TextConfusable, message).within(spot);
            report.add(row.hint("write it in one script; some of its letters are not Latin"));
            return;
        }
    }
}

/// Returns true if a word mixes ASCII letters with letters that look like ASCII ones.
fn imitates(word: &str) -> bool {
    // The cheap tests come first: nearly every foreign word is entirely foreign.
    !word.is_ascii()
        && word.bytes().any(|b| b.is_ascii_alphabetic())
        && !bounded(word).is_single_script()
        && imitates_ascii(word)
}

/// Returns true if the word looks as if it consisted of ASCII letters only.
pub(crate) fn imitates_ascii(word: &str) -> bool {
    !word.is_ascii() && skeleton(bounded(word)).all(|c| c.is_ascii())
}

fn bounded(word: &str) -> &str {
    word.char_indices().nth(WORD_CHARS_MAX).and_then(|(end, _)| word.get(..end)).unwrap_or(word)
}

/// Formats the word with non-ASCII characters escaped; the message would mislead otherwise.
fn escaped(word: &str) -> String {
    let mut shown = String::new();
    for c in bounded(word).chars() {
        if c.is_ascii() {
            shown.push(c);
        } else {
            shown.extend(c.escape_unicode());
        }
    }
    format!("`{}`", escape_line(&shown))
}

/// Refuses a host whose Punycode form decodes to letters that imitate others.
pub(crate) fn check_host(host: &str, spot: SourceSpan, report: &mut Report) {
    if !host.split('.').any(|label| label.starts_with("xn--")) {
        return;
    }
    let (unicode, _) = idna::domain_to_unicode(host);
    let misleads =
        |label: &str| !label.is_ascii() && (!label.is_single_script() || imitates_ascii(label));
    if unicode.split('.').any(misleads) {
        let message = format!("`network_allowlist`: {host} imitates another name");
        let hint = "name the intended host; its letters imitate Latin ones";
        report.error_hint(Code::TextConfusable, spot, message, hint);
    }
}

//! Warnings for a reader of an input file: deceptive characters, secrets, package installations.
//! They never refuse a file, whose content is the tool's business. No warnings prove nothing.

use model::{SourceSpan, TextLine, escape_line};

use crate::code::Code;
use crate::confusable;
use crate::packages;
use crate::report::Report;
use crate::secrets;
use crate::text;
use crate::violation::Violation;

/// Returns the warnings about any text by position, at most a thousand, as severe as in a request.
#[must_use]
pub fn input_warnings(text: &str) -> Vec<Violation> {
    let mut report = Report::default();
    let lines = model::lines(text);
    text::check(text, &lines, &mut report);
    mark_imitations(&lines, &mut report);
    mark_secrets(text, &lines, &mut report);
    mark_installs(&lines, &mut report);
    report.into_rows()
}

/// Escapes the line like [`escape_line`], and the letters that make a word look like an ASCII one.
#[must_use]
pub fn reveal_line(line: &str) -> String {
    if line.is_ascii() {
        return escape_line(line);
    }
    let mut shown = String::with_capacity(line.len());
    for piece in line.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
        if is_imitation(word) {
            for c in word.chars() {
                if c.is_ascii() { shown.push(c) } else { shown.extend(c.escape_unicode()) }
            }
        } else {
            // Some letters are invisible.
            shown.push_str(&escape_line(word));
        }
        shown.push_str(&escape_line(&piece[word.len()..]));
    }
    shown
}

/// Returns true for an imitation of two or more letters; one letter is a word in many languages.
fn is_imitation(word: &str) -> bool {
    !word.is_ascii() && word.chars().nth(1).is_some() && confusable::imitates_ascii(word)
}

/// Reports words that imitate ASCII. In a program, even all-foreign words can pose as other names.
fn mark_imitations(lines: &[TextLine<'_>], report: &mut Report) {
    for line in lines.iter().filter(|line| !line.text.is_ascii()) {
        if report.has_enough_warnings() {
            return;
        }
        let mut words = line.text.split(|c: char| !c.is_alphanumeric());
        let Some(word) = words.find(|word| is_imitation(word)) else { continue };
        let at = line.text.find(word).unwrap_or(0);
        let message = format!("text: `{}` imitates another word", reveal_line(word));
        let spot = line.span_at(at).with_width(word.chars().count());
        report.warning(Code::TextConfusable, spot, message);
    }
}

fn mark_secrets(text: &str, lines: &[TextLine<'_>], report: &mut Report) {
    for found in secrets::find_in_text(text) {
        let after = lines.partition_point(|line| line.offset <= found.offset);
        let Some(line) = after.checked_sub(1).and_then(|index| lines.get(index)) else { continue };
        let meant = text.get(found.offset..found.offset + found.width).unwrap_or("");
        let width = meant.lines().next().unwrap_or("").chars().count();
        let spot = line.span_at(found.offset - line.offset).with_width(width);
        secrets::report(&found, spot, report);
    }
}

/// Reports package installations. A call that spans two lines is reported on the first one.
fn mark_installs(lines: &[TextLine<'_>], report: &mut Report) {
    let mut next = lines.iter().skip(1);
    let mut marked_before = false;
    for line in lines {
        let after = next.next().map_or("", |line| line.text);
        let alone = packages::mentions_install(line.text);
        let joined = !alone
            && !packages::mentions_install(after)
            && packages::mentions_install(&format!("{} {after}", line.text));
        if (alone || (joined && !marked_before)) && !report.has_enough_warnings() {
            let message = "text: this seems to install packages";
            report.add(
                Violation::warning(Code::PackageInstall, message)
                    .within(SourceSpan::new(line.number, 0))
                    .hint(packages::HINT),
            );
        }
        marked_before = alone || joined;
    }
}

#[cfg(test)]
mod tests {
    use super::{input_warnings, reveal_line};

    fn codes(text: &str) -> Vec<(String, usize)> {
        input_warnings(text).iter().map(|row| (row.code.as_str().into_owned(), row.line)).collect()
    }

    #[test]
    fn misleading_text_is_reported_in_its_line() {
        let key = ["AKIA", "QYLPMN5HFIQR7XYZ"].concat();
        let text = format!(
            "import os\nos.system('pip install x')\nkey = '{key}'\nif a:\u{202e} b\n\
             p\u{430}ss = 1\n\u{43e}\u{440}\u{435}n = 2\nrun([\"pip\",\n  \"install\", \"x\"])\n"
        );
        assert_eq!(
            codes(&text),
            [
                ("package.install", 2),
                ("secret.aws-key", 3),
                ("text.bidi", 4),
                ("text.confusable", 5),
                ("text.confusable", 6),
                ("package.install", 7),
            ]
            .map(|(code, line)| (code.to_owned(), line))
        );
        assert_eq!(codes("x = 1\nприлагательное = 'г'\ncafé = 2\n"), []);
    }

    #[test]
    fn a_revealed_line_shows_every_letter_that_is_another() {
        assert_eq!(reveal_line("p\u{430}ss = 1\u{202e};\u{7}"), "p\\u{430}ss = 1\\u{202e};\\u{7}");
        assert_eq!(reveal_line("café, число\tx"), "café, число\tx");
        assert_eq!(reveal_line(""), "");
        for invisible in ['\u{3164}', '\u{115f}', '\u{1160}', '\u{ffa0}'] {
            let number = invisible.escape_unicode();
            assert_eq!(reveal_line(&format!("a,{invisible}}}")), format!("a,{number}}}"));
            let (mixed, shown) = (format!("été{invisible}x = 1"), format!("été{number}x = 1"));
            assert_eq!(reveal_line(&mixed), shown);
            let (word, shown) = (format!("admin{invisible} = 1"), format!("admin{number} = 1"));
            assert_eq!(reveal_line(&word), shown);
        }
    }
}

//! The parameters of a standing approval, and the values that they accept.

use model::{SourceSpan, WithSpan, quote};

use super::model::{ParameterKind, StandingParameter, TextAlphabet};
use crate::code::Code;
use crate::fields::FrontMatterFields;
use crate::report::Report;
use crate::yaml::{ScalarKind, YamlNode};

pub(super) const CHOICES_MAX: usize = 100;
pub(super) const CHARS_MAX: u64 = 200;

/// A parameter with the position of its name.
pub(super) struct ReadParameter {
    pub(super) parameter: StandingParameter,
    pub(super) span: SourceSpan,
}

impl ParameterKind {
    /// Returns whether this is a permitted value. It is compared as the value that it is, never as
    /// text of a command.
    #[must_use]
    pub fn accepts(&self, value: &str) -> bool {
        match self {
            // A number has one spelling: the one in which it is printed.
            Self::Integer { min, max } => value
                .parse::<i64>()
                .is_ok_and(|number| number.to_string() == value && (*min..=*max).contains(&number)),
            Self::Choice(all) => all.iter().any(|choice| choice == value),
            Self::Text { alphabet, chars_max } => {
                (1..=*chars_max).contains(&value.len()) && alphabet.has(value)
            }
        }
    }
}

impl TextAlphabet {
    fn has(self, text: &str) -> bool {
        match self {
            Self::Identifier => {
                let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
                text.bytes().all(plain) && !text.starts_with(|c: char| c.is_ascii_digit())
            }
            Self::Date => format!("{text}T00:00:00Z").parse::<model::UtcTime>().is_ok(),
            Self::NumberList => text.split(',').all(is_number),
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && (text == "0" || !text.starts_with('0'))
}

/// Returns whether this can be the name of a parameter or a slot.
pub(super) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=40).contains(&name.len())
        && name.bytes().all(plain)
        && name.starts_with(|c: char| c.is_ascii_lowercase())
}

pub(super) fn read(
    fields: &FrontMatterFields<'_>,
    report: &mut Report,
) -> Option<Vec<ReadParameter>> {
    let items = fields.list("parameters", report)?;
    let mut found = Vec::new();
    for (index, node) in items.iter().enumerate() {
        let prefix = format!("parameters[{index}].");
        let Some(item) = FrontMatterFields::of(node, prefix, report) else { continue };
        item.refuse_unknown(&["name", "integer", "choice", "text", "chars_max"], false, report);
        let name = name(&item, "name", report);
        let kind = kind(&item, report);
        if let (Some(name), Some(kind)) = (name, kind) {
            let parameter = StandingParameter { name: name.value.to_owned(), kind };
            found.push(ReadParameter { parameter, span: name.span });
        }
    }
    Some(found)
}

/// Reads the name of a parameter or a slot.
pub(super) fn name<'n>(
    item: &FrontMatterFields<'n>,
    key: &str,
    report: &mut Report,
) -> Option<WithSpan<&'n str>> {
    let name = item.text(key, report)?;
    if is_name(name.value) {
        return Some(name);
    }
    let message = format!("{}: {} is not a name", item.name(key), quote(name.value));
    let hint = "write up to 40 lower-case letters, digits and `-`, beginning with a letter";
    report.error_hint(Code::StandingParameter, name.span, message, hint);
    None
}

fn kind(item: &FrontMatterFields<'_>, report: &mut Report) -> Option<ParameterKind> {
    let given: Vec<&str> =
        ["integer", "choice", "text"].into_iter().filter(|key| item.peek(key).is_some()).collect();
    let [key] = given.as_slice() else {
        let message = format!("{}: needs one of `integer`, `choice` and `text`", item.name("name"));
        report.error(Code::StandingParameter, item.spot(), message);
        return None;
    };
    if *key != "text" && item.peek("chars_max").is_some() {
        let message = format!("{}: is for `text` only", item.name("chars_max"));
        report.error(Code::StandingParameter, item.spot(), message);
    }
    match *key {
        "integer" => integer(item, report),
        "choice" => choice(item, report),
        _ => text(item, report),
    }
}

fn integer(item: &FrontMatterFields<'_>, report: &mut Report) -> Option<ParameterKind> {
    let items = item.list("integer", report)?;
    let bound = |node: &YamlNode| match node.scalar() {
        Some((text, ScalarKind::Number)) => {
            text.parse::<i64>().ok().filter(|number| number.to_string() == text)
        }
        _ => None,
    };
    if let [min, max] = items
        && let (Some(min), Some(max)) = (bound(min), bound(max))
        && min <= max
    {
        return Some(ParameterKind::Integer { min, max });
    }
    let message = format!("{}: is not two whole numbers in order", item.name("integer"));
    let hint = "write the least and the greatest value, such as [1, 12]";
    report.error_hint(Code::StandingParameter, item.spot(), message, hint);
    None
}

fn choice(item: &FrontMatterFields<'_>, report: &mut Report) -> Option<ParameterKind> {
    let items = item.list("choice", report)?;
    let mut found: Vec<String> = Vec::new();
    for node in items {
        let word = item.text_of("choice", node, report)?;
        if !is_choice(word.value) || found.iter().any(|other| other == word.value) {
            let shown = quote(word.value);
            let message = format!("{}: {shown} cannot be a choice", item.name("choice"));
            let hint = "write different words of letters, digits and ._:+@%,- that do not begin \
                        with `-`";
            report.error_hint(Code::StandingParameter, word.span, message, hint);
            return None;
        }
        found.push(word.value.to_owned());
    }
    if found.is_empty() || found.len() > CHOICES_MAX {
        let message = format!("{}: needs 1 to {CHOICES_MAX} words", item.name("choice"));
        report.error(Code::StandingParameter, item.spot(), message);
        return None;
    }
    Some(ParameterKind::Choice(found))
}

/// A choice is one plain word. It must not be read as an option or leave a directory.
fn is_choice(word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:+@%,-".contains(&byte);
    (1..=64).contains(&word.len())
        && word.bytes().all(plain)
        && !word.starts_with('-')
        && !word.contains("..")
}

fn text(item: &FrontMatterFields<'_>, report: &mut Report) -> Option<ParameterKind> {
    let named = item.text("text", report)?;
    let alphabet = TextAlphabet::ALL.iter().find(|it| it.as_str() == named.value).copied();
    if alphabet.is_none() {
        let message =
            format!("{}: {} is not a form of text", item.name("text"), quote(named.value));
        let hint = format!("write {}", model::alternatives(TextAlphabet::TEXTS));
        report.error_hint(Code::StandingParameter, named.span, message, hint);
    }
    let chars_max = super::values::whole(item, "chars_max", CHARS_MAX, report)?;
    let chars_max = usize::try_from(chars_max).ok()?;
    alphabet.map(|alphabet| ParameterKind::Text { alphabet, chars_max })
}

//! The inputs of a standing approval: fixed files and folders, and slots for files.

use model::{Language, SourceSpan, quote};

use super::model::{InputSlot, NamePattern, StandingInput, is_plain_name};
use super::parameters;
use super::values::whole;
use crate::code::Code;
use crate::declarations;
use crate::fields::FrontMatterFields;
use crate::report::Report;
use crate::yaml::YamlNode;

const COUNT_MAX: u64 = 100;
const BYTES_MAX: u64 = 1 << 40;

/// An input with its position.
pub(super) struct ReadInput {
    pub(super) input: StandingInput,
    pub(super) span: SourceSpan,
}

pub(super) fn read(fields: &FrontMatterFields<'_>, report: &mut Report) -> Option<Vec<ReadInput>> {
    let items = fields.list("inputs", report)?;
    let mut found = Vec::new();
    for (index, node) in items.iter().enumerate() {
        let prefix = format!("inputs[{index}].");
        let Some(item) = FrontMatterFields::of(node, prefix, report) else { continue };
        let input = match item.peek("slot") {
            Some(_) => slot(&item, report).map(StandingInput::Slot),
            None => declarations::input(&item, report).map(StandingInput::Fixed),
        };
        found.extend(input.map(|input| ReadInput { input, span: node.spot }));
    }
    refuse_overlaps(&found, report);
    Some(found)
}

/// Returns the names of the fixed files and folders.
pub(super) fn fixed_names(found: &[ReadInput]) -> Vec<&str> {
    let fixed = found.iter().filter_map(|read| match &read.input {
        StandingInput::Fixed(fixed) => Some(fixed.name()),
        StandingInput::Slot(_) => None,
    });
    fixed.collect()
}

fn slot(item: &FrontMatterFields<'_>, report: &mut Report) -> Option<InputSlot> {
    item.refuse_unknown(&["slot", "name", "kind", "count", "bytes_max"], false, report);
    let name = parameters::name(item, "slot", report);
    let files = item.text("name", report);
    let pattern = files.and_then(|text| {
        let pattern = pattern(text.value);
        if pattern.is_none() {
            let shown = quote(text.value);
            let message =
                format!("{}: {shown} is not a name with at most one `*`", item.name("name"));
            let hint = "write letters, digits, `.`, `_` and `-`, without directories";
            report.error_hint(Code::StandingInput, text.span, message, hint);
        }
        pattern
    });
    if let Some(kind) = item.text("kind", report)
        && kind.value != "file"
    {
        let message = format!("{}: must be file, not {}", item.name("kind"), quote(kind.value));
        report.error(Code::StandingInput, kind.span, message);
    }
    let count = count(item, report);
    let bytes_max = whole(item, "bytes_max", BYTES_MAX, report);
    Some(InputSlot {
        name: name?.value.to_owned(),
        files: pattern?,
        count: count?,
        bytes_max: bytes_max?,
    })
}

fn pattern(text: &str) -> Option<NamePattern> {
    let (beginning, end) = match text.split_once('*') {
        None => (text, None),
        Some((beginning, end)) => (beginning, Some(end.to_owned())),
    };
    // One more letter shows whether every matching name is plain.
    let sample = format!(
        "{beginning}{}{}",
        if end.is_some() { "x" } else { "" },
        end.as_deref().unwrap_or("")
    );
    let no_more = end.as_deref().is_none_or(|end| !end.contains('*'));
    (no_more && is_plain_name(&sample))
        .then(|| NamePattern { beginning: beginning.to_owned(), end })
}

fn count(item: &FrontMatterFields<'_>, report: &mut Report) -> Option<(u64, u64)> {
    let items = item.list("count", report)?;
    let number = |node: &YamlNode| -> Option<u64> {
        let (text, _) = node.scalar()?;
        text.parse().ok().filter(|number: &u64| number.to_string() == text)
    };
    if let [min, max] = items
        && let (Some(min), Some(max)) = (number(min), number(max))
        && min <= max
        && (1..=COUNT_MAX).contains(&max)
    {
        return Some((min, max));
    }
    let message =
        format!("{}: is not two numbers in order, the second 1 to {COUNT_MAX}", item.name("count"));
    report.error_hint(Code::StandingInput, item.spot(), message, "write [1, 1] for one file");
    None
}

/// A file of a request must belong to one input only.
fn refuse_overlaps(found: &[ReadInput], report: &mut Report) {
    for (index, one) in found.iter().enumerate() {
        for other in found.iter().take(index) {
            if let Some(name) = overlap(&one.input, &other.input) {
                let message = format!("`inputs`: {} belongs to two entries", quote(&name));
                let hint = "give each entry names of its own";
                report.error_hint(Code::StandingInput, one.span, message, hint);
            }
        }
    }
}

/// Returns a name that belongs to both, comparing without case: some file systems do.
fn overlap(one: &StandingInput, other: &StandingInput) -> Option<String> {
    match (one, other) {
        (StandingInput::Fixed(one), StandingInput::Fixed(other)) => {
            let same = one.path().eq_ignore_ascii_case(other.path());
            let nested = is_below(one.path(), other.path()) || is_below(other.path(), one.path());
            (same || nested).then(|| one.name().to_owned())
        }
        // A fixed input takes precedence over a pattern, and never over another name.
        (StandingInput::Fixed(fixed), StandingInput::Slot(slot))
        | (StandingInput::Slot(slot), StandingInput::Fixed(fixed)) => {
            let same =
                slot.files.end.is_none() && slot.files.beginning.eq_ignore_ascii_case(fixed.path());
            same.then(|| fixed.name().to_owned())
        }
        (StandingInput::Slot(one), StandingInput::Slot(other)) => {
            let (a, b) = (&one.files, &other.files);
            let lower = |text: &str| text.to_ascii_lowercase();
            let (begin_a, begin_b) = (lower(&a.beginning), lower(&b.beginning));
            let (end_a, end_b) = (a.end.as_deref().map(lower), b.end.as_deref().map(lower));
            let meet = match (&end_a, &end_b) {
                (None, None) => begin_a == begin_b,
                (None, Some(end)) => {
                    begin_a.starts_with(&begin_b) && begin_a.ends_with(end.as_str())
                }
                (Some(end), None) => {
                    begin_b.starts_with(&begin_a) && begin_b.ends_with(end.as_str())
                }
                (Some(end_a), Some(end_b)) => {
                    let begins = begin_a.starts_with(&begin_b) || begin_b.starts_with(&begin_a);
                    begins && (end_a.ends_with(end_b.as_str()) || end_b.ends_with(end_a.as_str()))
                }
            };
            meet.then(|| one.name.clone())
        }
    }
}

/// Returns whether the path is below another one. No directory has both a file `a` and `a/b`.
fn is_below(path: &str, above: &str) -> bool {
    let parts = path.split_at_checked(above.len());
    parts.is_some_and(|(beginning, rest)| {
        rest.starts_with('/') && beginning.eq_ignore_ascii_case(above)
    })
}

/// Returns whether a file of this slot could be a program of the language, which an interpreter may
/// run or import although no word names it.
pub(super) fn may_be_code(slot: &InputSlot, language: Language) -> bool {
    match &slot.files.end {
        Some(end) if !end.contains('.') => true,
        Some(end) => language.matches_file_name(&format!("x{end}")),
        None => language.matches_file_name(&slot.files.beginning),
    }
}

#[cfg(test)]
mod tests {
    use super::is_below;

    #[test]
    fn a_path_is_below_its_beginning_up_to_a_slash() {
        for (path, above) in [("a/b", "a"), ("A/b", "a"), ("a/b/c", "a/B")] {
            assert!(is_below(path, above), "{path} {above}");
            assert!(!is_below(above, path), "{path} {above}");
        }
        for (path, above) in [("a", "a"), ("ab/c", "a"), ("a.b", "a"), ("b/a", "a")] {
            assert!(!is_below(path, above), "{path} {above}");
        }
    }
}

//! The examples of a standing approval. Each states whether its command is admitted, so that a
//! signer sees what the bounds mean, and a wrong bound shows before it is signed.

use model::SourceSpan;

use super::binding::bind;
use super::model::{StandingInput, StandingTerms};
use crate::code::Code;
use crate::fields::FrontMatterFields;
use crate::report::Report;
use crate::yaml::{ScalarKind, YamlNode};

/// An example with its position.
pub(super) struct ReadExample {
    is_admitted: bool,
    words: Vec<String>,
    /// The files in the slots.
    files: Vec<String>,
    span: SourceSpan,
}

pub(super) fn read(
    fields: &FrontMatterFields<'_>,
    report: &mut Report,
) -> Option<Vec<ReadExample>> {
    let items = fields.list("examples", report)?;
    let mut found = Vec::new();
    for (index, node) in items.iter().enumerate() {
        let Some(item) = FrontMatterFields::of(node, format!("examples[{index}]."), report) else {
            continue;
        };
        item.refuse_unknown(&["admitted", "words", "files"], false, report);
        let is_admitted = super::values::flag(&item, "admitted", report);
        let words = texts(&item, "words", report);
        let files = match item.peek("files") {
            Some(_) => texts(&item, "files", report),
            None => Some(Vec::new()),
        };
        if let (Some(is_admitted), Some(words), Some(files)) = (is_admitted, words, files) {
            found.push(ReadExample { is_admitted, words, files, span: node.spot });
        }
    }
    for (admitted, word) in [(true, "admitted"), (false, "refused")] {
        if !found.iter().any(|example| example.is_admitted == admitted) && !report.failed() {
            let message = format!("`examples`: needs an {word} command at least");
            report.error(Code::StandingExample, fields.spot(), message);
        }
    }
    Some(found)
}

/// Reads a list of texts. A number without quotes counts as its text, as it is a word of a command.
fn texts(item: &FrontMatterFields<'_>, key: &str, report: &mut Report) -> Option<Vec<String>> {
    let text = |node: &YamlNode| match node.scalar() {
        Some((text, ScalarKind::Text | ScalarKind::Number)) => Some(text.to_owned()),
        _ => None,
    };
    let found: Option<Vec<String>> = item.list(key, report)?.iter().map(text).collect();
    if found.is_none() {
        let message = format!("{}: is not a list of words", item.name(key));
        report.error(Code::FrontmatterType, item.spot(), message);
    }
    found
}

/// Reports each example whose command is judged otherwise than it states.
pub(super) fn check(terms: &StandingTerms, examples: &[ReadExample], report: &mut Report) {
    let fixed = terms.inputs.iter().filter_map(|input| match input {
        StandingInput::Fixed(fixed) => Some(fixed.name()),
        StandingInput::Slot(_) => None,
    });
    let fixed: Vec<&str> = fixed.collect();
    for example in examples {
        let files = example.files.iter().map(String::as_str);
        let inputs: Vec<&str> = fixed.iter().copied().chain(files).collect();
        let is_admitted = bind(terms, &example.words, &inputs).is_ok();
        if is_admitted != example.is_admitted {
            let found = if is_admitted { "admitted" } else { "refused" };
            let message = format!("`examples`: this command is {found}");
            let hint = "correct the example, or the bounds";
            report.error_hint(Code::StandingExample, example.span, message, hint);
        }
    }
}

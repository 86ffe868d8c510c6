//! Reads the YAML of a policy file or a fleet list, and turns parser errors, also of other files,
//! into messages for operators. It must never accept more of YAML than plain mappings, lists and
//! scalars: no anchors, aliases, merges, foreign tags or second documents.

use serde::Deserialize;
use serde_yaml::budget::BudgetBreach;
use serde_yaml::{Error, MergeKeyPolicy};

use crate::locate;
use crate::problem::{PolicyError, PolicyProblem};

/// Reads a document. `show_advice` says where a complete one can be seen.
pub(crate) fn read<'t, T: Deserialize<'t>>(
    text: &'t str,
    origin: &str,
    show_advice: &'static str,
) -> Result<T, PolicyError> {
    let options = serde_yaml::options! {
        budget: serde_yaml::budget! {
            max_anchors: 0,
            max_aliases: 0,
            max_merge_keys: 0,
            max_documents: 1,
            max_inclusion_depth: 0,
            max_depth: 12,
            max_nodes: 20_000,
            max_events: 60_000,
        },
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        reject_unsupported_tags: true,
        reject_tagged_field_names: true,
        with_snippet: false,
    };
    serde_yaml::from_str_with_options(text, options)
        .map_err(|error| PolicyError::one(origin, problem(text, &error, show_advice)))
}

fn problem(text: &str, error: &Error, show_advice: &'static str) -> PolicyProblem {
    let whole = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let place = error.location().map(|at| (whole(at.line()), whole(at.column())));
    let line = place.map(|(line, _)| line);
    let mapping =
        place.map(|(line, column)| locate::mapping_at(text, line, column)).unwrap_or_default();
    let inside = |field: &str| match mapping.as_str() {
        "" => field.to_owned(),
        outer => format!("{outer}.{field}"),
    };
    match error.without_snippet() {
        Error::SerdeUnknownField { field, expected, .. } => {
            let advice = format!("use one of {}", expected.join(", "));
            PolicyProblem::new(line, &inside(field), "unknown key".to_owned(), &advice)
        }
        Error::SerdeMissingField { field, .. } => {
            PolicyProblem::new(line, &inside(field), "missing".to_owned(), show_advice)
        }
        Error::DuplicateMappingKey { key, .. } => {
            let key = inside(key.as_deref().unwrap_or("?"));
            PolicyProblem::new(line, &key, "appears twice".to_owned(), "keep one of them")
        }
        other => {
            let key = line.and_then(|line| locate::key_on(text, line)).unwrap_or_default();
            let (what, advice) = describe(other, show_advice);
            PolicyProblem::new(line, &key, what, advice)
        }
    }
}

fn describe(error: &Error, show_advice: &'static str) -> (String, &'static str) {
    match error {
        Error::Message { msg, .. } => (msg.clone(), "write the value as plain decimal digits"),
        Error::Budget {
            breach: BudgetBreach::Anchors { .. } | BudgetBreach::Aliases { .. },
            ..
        } => ("anchors and aliases are not supported".to_owned(), "write out every value"),
        Error::Budget { .. } => {
            ("too large or too deeply nested".to_owned(), "write one plain document")
        }
        Error::MergeKeyNotAllowed { .. } => {
            ("merge keys are not supported".to_owned(), "write out every value")
        }
        Error::InvalidBooleanStrict { .. } => ("not a boolean".to_owned(), "write true or false"),
        Error::NullIntoString { .. } => ("has no value".to_owned(), show_advice),
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            (format!("`{variant}` is not one of {}", expected.join(", ")), show_advice)
        }
        Error::MultipleDocuments { .. } => {
            ("contains a second document".to_owned(), "keep one document per file")
        }
        other => (plain_problem(other), show_advice),
    }
}

/// Returns the line and the problem of another YAML file, as one line of text. A wrong value is
/// shown with its line.
#[must_use]
pub fn yaml_problem(text: &str, error: &Error) -> String {
    let line = error.location().and_then(|at| usize::try_from(at.line()).ok());
    let written = line.and_then(|line| text.lines().nth(line.checked_sub(1)?)).unwrap_or_default();
    let shown = |what: &str| match written.trim() {
        "" => what.to_owned(),
        written => format!("{what}: `{}`", model::escape_line(written)),
    };
    let what = match error.without_snippet() {
        Error::SerdeUnknownField { field, expected, .. } => {
            format!("unknown key `{field}`, expected one of {}", expected.join(", "))
        }
        Error::SerdeMissingField { field, .. } => format!("`{field}` is missing"),
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            format!("`{variant}` is not one of {}", expected.join(", "))
        }
        Error::DuplicateMappingKey { key: Some(key), .. } => format!("`{key}` appears twice"),
        Error::InvalidScalar { ty, .. } if ty.starts_with(['i', 'u']) => {
            shown("not a whole number")
        }
        other => shown(&plain_problem(other)),
    };
    match line {
        Some(line) => format!("line {line}: {what}"),
        None => what,
    }
}

/// Returns the problem of a parser error without its position. Another kind of value is named as an
/// operator writes it.
fn plain_problem(error: &Error) -> String {
    let Error::Unexpected { expected, .. } = error else {
        return without_place(&error.to_string());
    };
    let form = match *expected {
        "mapping start" => "`key: value` lines",
        "sequence start" => "a list",
        "scalar" | "string scalar" => "one value",
        other => other,
    };
    format!("expected {form}")
}

/// Removes the position from a parser message, because our message already begins with it.
fn without_place(message: &str) -> String {
    let first = message.lines().next().unwrap_or_default();
    first.rsplit_once(" at line ").map_or(first, |(what, _)| what).to_owned()
}

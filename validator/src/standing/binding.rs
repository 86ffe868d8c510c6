//! The comparison of a command with the words of a standing approval. It splits, joins, folds and
//! trims nothing: both sides are lists of words.

use std::collections::BTreeMap;

use super::model::{StandingInput, StandingTerms, TemplateWord, WordValue};
use crate::declarations::path_of;

/// The values that a command has chosen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Binding {
    /// The value of each parameter.
    pub parameters: BTreeMap<String, String>,
    /// The names of the files in each slot.
    pub slots: BTreeMap<String, Vec<String>>,
}

/// The reason why a command or its inputs are not as the standing approval says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BindingError {
    /// Another number of words.
    WordCount {
        /// The number in the command.
        found: usize,
        /// The number in the standing approval.
        expected: usize,
    },
    /// The word at this position, from 0, is not the literal.
    Word(usize),
    /// The word at this position, from 0, has no permitted value of this parameter.
    Value(usize, String),
    /// This parameter has two different values.
    TwoValues(String),
    /// The word at this position, from 0, does not name the only file of this slot.
    SlotWord(usize, String),
    /// An input that the standing approval does not have.
    Input(String),
    /// An input of the standing approval that is missing.
    MissingInput(String),
    /// Too few or too many files in this slot.
    SlotCount(String),
}

/// Compares the words of a command and the names of its inputs with the terms.
///
/// # Errors
/// Each [`BindingError`], in the order inputs, words.
pub fn bind(
    terms: &StandingTerms,
    words: &[String],
    inputs: &[&str],
) -> Result<Binding, Vec<BindingError>> {
    let mut errors = Vec::new();
    let mut found = Binding::default();
    bind_inputs(terms, inputs, &mut found, &mut errors);
    if words.len() == terms.words.len() {
        for (at, (expected, word)) in terms.words.iter().zip(words).enumerate() {
            if let Err(error) = bind_word(terms, (at, expected, word), &mut found) {
                errors.push(error);
            }
        }
    } else {
        errors.push(BindingError::WordCount { found: words.len(), expected: terms.words.len() });
    }
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

fn bind_inputs(
    terms: &StandingTerms,
    inputs: &[&str],
    found: &mut Binding,
    errors: &mut Vec<BindingError>,
) {
    for (index, name) in inputs.iter().enumerate() {
        let path = path_of(name);
        let is_same = |other: &str| path_of(other).eq_ignore_ascii_case(path);
        let twice = inputs.iter().take(index).any(|other| is_same(other));
        // A pattern never covers the name of a fixed input, in any case of its letters.
        let fixed = terms.inputs.iter().find_map(|input| match input {
            StandingInput::Fixed(fixed) if is_same(fixed.name()) => Some(fixed),
            _ => None,
        });
        let slot = terms.inputs.iter().find_map(|input| match input {
            StandingInput::Slot(slot) if fixed.is_none() && slot.files.matches(name) => Some(slot),
            _ => None,
        });
        match (fixed, slot) {
            (Some(fixed), _) if fixed.name() == *name && !twice => {}
            (None, Some(slot)) if !twice => {
                let names = found.slots.entry(slot.name.clone()).or_default();
                names.push((*name).to_owned());
            }
            _ => errors.push(BindingError::Input((*name).to_owned())),
        }
    }
    for input in &terms.inputs {
        match input {
            StandingInput::Fixed(fixed) if !inputs.contains(&fixed.name()) => {
                errors.push(BindingError::MissingInput(fixed.name().to_owned()));
            }
            StandingInput::Fixed(_) => {}
            StandingInput::Slot(slot) => {
                let files = found.slots.get(&slot.name).map_or(0, Vec::len);
                let files = u64::try_from(files).unwrap_or(u64::MAX);
                if !(slot.count.0..=slot.count.1).contains(&files) {
                    errors.push(BindingError::SlotCount(slot.name.clone()));
                }
            }
        }
    }
}

fn bind_word(
    terms: &StandingTerms,
    (at, expected, word): (usize, &TemplateWord, &str),
    found: &mut Binding,
) -> Result<(), BindingError> {
    let (beginning, value) = match expected {
        TemplateWord::Literal(literal) if literal == word => return Ok(()),
        TemplateWord::Literal(_) => return Err(BindingError::Word(at)),
        TemplateWord::Value { beginning, value } => (beginning, value),
    };
    let rest = word.strip_prefix(beginning.as_str());
    match value {
        WordValue::Parameter(name) => {
            let wrong = || BindingError::Value(at, name.clone());
            let parameter =
                terms.parameters.iter().find(|it| it.name == *name).ok_or_else(wrong)?;
            let text = rest.filter(|text| parameter.kind.accepts(text)).ok_or_else(wrong)?;
            match found.parameters.insert(name.clone(), text.to_owned()) {
                Some(before) if before != text => Err(BindingError::TwoValues(name.clone())),
                _ => Ok(()),
            }
        }
        WordValue::Slot(name) => match found.slots.get(name).map(Vec::as_slice) {
            Some([only]) if rest == Some(format!("/in/{only}").as_str()) => Ok(()),
            _ => Err(BindingError::SlotWord(at, name.clone())),
        },
    }
}

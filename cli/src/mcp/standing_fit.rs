//! The comparison of a command with a standing approval, before a draft exists. Files that the
//! command does not name are assumed, because a draft states them later. Only a draft is checked
//! against every bound.

use std::collections::BTreeMap;

use policies::standing::StandingDifference;
use validator::{InputSlot, StandingApproval, StandingInput, StandingTerms, bind};

/// Limit of assumed files in one slot.
const ASSUMED_MAX: u64 = 1_000;

/// Returns the parameters with which the standing approval admits the command.
///
/// # Errors
/// The first difference, as text.
pub(crate) fn fit(
    standing: &StandingApproval,
    words: &[String],
    inputs: &[String],
) -> Result<BTreeMap<String, String>, String> {
    let terms = standing.terms();
    let names = input_names(terms, words, inputs);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match bind(terms, words, &names) {
        Ok(binding) => Ok(binding.parameters),
        Err(errors) => {
            let first = errors.into_iter().next().map(StandingDifference::Binding);
            Err(first.map(|it| it.to_string()).unwrap_or_default())
        }
    }
}

/// Returns the given names, those of the fixed inputs, and those in words of the command. A slot
/// with too few files gets assumed ones.
fn input_names(terms: &StandingTerms, words: &[String], given: &[String]) -> Vec<String> {
    let mut names = given.to_vec();
    for input in &terms.inputs {
        match input {
            StandingInput::Fixed(fixed) => add(&mut names, fixed.name()),
            StandingInput::Slot(slot) => {
                let named = words.iter().filter_map(|word| input_in(word));
                named.filter(|name| slot.files.matches(name)).for_each(|it| add(&mut names, it));
                assume(&mut names, slot);
            }
        }
    }
    names
}

fn add(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|it| it == name) {
        names.push(name.to_owned());
    }
}

/// Returns the name of an input in a word such as `/in/NAME` or `--flag=/in/NAME`.
fn input_in(word: &str) -> Option<&str> {
    let value = word.split_once('=').map_or(word, |(_, value)| value);
    value.strip_prefix("/in/")
}

/// Adds names of the slot's pattern until it has its least number of files.
fn assume(names: &mut Vec<String>, slot: &InputSlot) {
    let mine = names.iter().filter(|name| slot.files.matches(name)).count();
    let missing = slot.count.0.saturating_sub(u64::try_from(mine).unwrap_or(u64::MAX));
    let pattern = slot.files.to_string();
    for number in 0..missing.min(ASSUMED_MAX) {
        add(names, &pattern.replace('*', &format!("assumed-{number}")));
    }
}

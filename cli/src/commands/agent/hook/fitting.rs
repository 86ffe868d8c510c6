//! The standing approval that a command of an agent's shell fits. The answer is advice only: the
//! daemon compares the request that follows.

use std::collections::BTreeMap;

use validator::{StandingApproval, StandingInput, StandingTerms, TemplateWord, WordValue};

use crate::mcp::standing_fit::fit;

/// A use of a standing approval.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct FittingUse {
    pub(super) id: String,
    pub(super) reference: String,
    pub(super) parameters: BTreeMap<String, String>,
    /// The names of the fixed inputs, and those in the command.
    pub(super) inputs: Vec<String>,
}

/// Returns the use that runs these words. A file may have any path in the agent's shell: its last
/// component counts.
pub(super) fn fitting_use(standing: &StandingApproval, words: &[String]) -> Option<FittingUse> {
    let terms = standing.terms();
    if words.len() != terms.words.len() {
        return None;
    }
    let mut inputs: Vec<String> = fixed_names(terms).map(str::to_owned).collect();
    let mut mapped = Vec::with_capacity(words.len());
    for (expected, word) in terms.words.iter().zip(words) {
        mapped.push(mapped_word(terms, expected, word, &mut inputs)?);
    }
    let parameters = fit(standing, &mapped, &inputs).ok()?;
    Some(FittingUse {
        id: terms.id.as_str().to_owned(),
        reference: standing.reference().to_string(),
        parameters,
        inputs,
    })
}

fn fixed_names(terms: &StandingTerms) -> impl Iterator<Item = &str> {
    terms.inputs.iter().filter_map(|input| match input {
        StandingInput::Fixed(fixed) => Some(fixed.name()),
        StandingInput::Slot(_) => None,
    })
}

/// Returns the word as a request has it. Adds the file that it names in a slot.
fn mapped_word(
    terms: &StandingTerms,
    expected: &TemplateWord,
    word: &str,
    inputs: &mut Vec<String>,
) -> Option<String> {
    match expected {
        TemplateWord::Literal(literal) => {
            let name = literal.strip_prefix("/in/").unwrap_or(literal);
            let is_fixed = fixed_names(terms).any(|fixed| fixed == name);
            let is_same = is_fixed && last_component(word) == last_component(name);
            Some(if is_same { literal.clone() } else { word.to_owned() })
        }
        TemplateWord::Value { value: WordValue::Parameter(_), .. } => Some(word.to_owned()),
        TemplateWord::Value { beginning, value: WordValue::Slot(_) } => {
            let name = last_component(word.strip_prefix(beginning.as_str())?);
            if !inputs.iter().any(|input| input == name) {
                inputs.push(name.to_owned());
            }
            Some(format!("{beginning}/in/{name}"))
        }
    }
}

fn last_component(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../../../docs/standing-approvals.md");

    /// Returns the example of the page.
    fn example() -> StandingApproval {
        let (_, text) = PAGE.split_once("```markdown\n").unwrap();
        let (text, _) = text.split_once("```").unwrap();
        let now = "2026-02-10T00:00:00Z".parse().unwrap();
        StandingApproval::read(text.as_bytes(), "SA-20260209-160501Z-means.md", now).unwrap()
    }

    fn use_of(words: &[&str]) -> Option<FittingUse> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        fitting_use(&example(), &words)
    }

    #[test]
    fn a_command_fits_with_its_values_and_files() {
        for words in [
            ["python", "means.py", "/in/sales-7.csv", "7"],
            ["python", "./means.py", "data/sales-7.csv", "7"],
            ["python", "/home/me/means.py", "sales-7.csv", "7"],
        ] {
            let found = use_of(&words).unwrap();
            assert_eq!(found.parameters["last"], "7");
            assert_eq!(found.inputs, ["means.py", "sales-7.csv"]);
            assert!(found.reference.starts_with(&format!("{}@sha256:", found.id)));
        }
    }

    #[test]
    fn another_word_value_or_file_does_not_fit() {
        for words in [
            &["python", "means.py", "/in/sales-7.csv"][..],
            &["python", "means.py", "/in/sales-7.csv", "0"],
            &["python", "means.py", "/in/other.csv", "7"],
            &["python", "means.py", "means.py", "7"],
            &["python", "other.py", "/in/sales-7.csv", "7"],
            &["python3", "means.py", "/in/sales-7.csv", "7"],
            &["python", "means.py", "/in/sales-7.csv", "7", "8"],
        ] {
            assert_eq!(use_of(words), None, "{words:?}");
        }
    }
}

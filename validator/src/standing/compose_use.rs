//! Fills in the command of a standing approval. It must never return words that [`bind`] refuses,
//! and must never choose a value that the caller did not give.

use std::collections::BTreeMap;
use std::fmt;

use model::{alternatives, quote};

use super::binding::{BindingError, bind};
use super::model::{
    InputSlot, NamePattern, ParameterKind, StandingApproval, StandingInput, StandingTerms,
    TemplateWord, TextAlphabet, WordValue,
};

/// Returns the words of the command with these values. `inputs` are the names of all inputs, those
/// of the fixed files too.
///
/// # Errors
/// Each reason why the standing approval does not admit the command; the reason begins with its
/// object.
pub fn compose_use(
    standing: &StandingApproval,
    parameters: &BTreeMap<String, String>,
    inputs: &[&str],
) -> Result<Vec<String>, Vec<String>> {
    let terms = standing.terms();
    let mut problems = parameter_problems(terms, parameters);
    let words = terms.words.iter().map(|word| filled(word, terms, parameters, inputs));
    let words: Vec<String> = words.collect();
    match bind(terms, &words, inputs) {
        Ok(_) if problems.is_empty() => return Ok(words),
        Ok(_) => {}
        Err(errors) => {
            problems.extend(errors.iter().filter_map(|error| input_problem(terms, error)));
            if problems.is_empty() {
                problems.push("command: not one that the standing approval admits".to_owned());
            }
        }
    }
    Err(problems)
}

fn parameter_problems(terms: &StandingTerms, parameters: &BTreeMap<String, String>) -> Vec<String> {
    let is_declared = |name: &str| terms.parameters.iter().any(|it| it.name == name);
    let unknown = parameters
        .keys()
        .filter(|name| !is_declared(name))
        .map(|name| format!("parameters: {} is not a parameter of {}", quote(name), terms.id));
    let wrong = terms.parameters.iter().filter_map(|parameter| {
        let (name, permitted) = (&parameter.name, parameter.kind.permitted_values());
        match parameters.get(name) {
            None => Some(format!("parameters: `{name}` is missing; it is {permitted}")),
            Some(value) if parameter.kind.accepts(value) => None,
            Some(value) => {
                Some(format!("parameters: `{name}`: {} is not {permitted}", quote(value)))
            }
        }
    });
    unknown.chain(wrong).collect()
}

/// Returns the word with its value. A missing value is empty, which the comparison refuses.
fn filled(
    word: &TemplateWord,
    terms: &StandingTerms,
    parameters: &BTreeMap<String, String>,
    inputs: &[&str],
) -> String {
    match word {
        TemplateWord::Literal(literal) => literal.clone(),
        TemplateWord::Value { beginning, value: WordValue::Parameter(name) } => {
            let value = parameters.get(name).map_or("", String::as_str);
            format!("{beginning}{value}")
        }
        TemplateWord::Value { beginning, value: WordValue::Slot(name) } => {
            let file = file_of(terms, name, inputs).unwrap_or_default();
            format!("{beginning}/in/{file}")
        }
    }
}

/// Returns the first file of a slot. The name of a fixed input belongs to none.
fn file_of<'i>(terms: &StandingTerms, slot: &str, inputs: &[&'i str]) -> Option<&'i str> {
    let slot = slot_named(terms, slot)?;
    let is_fixed = |name: &str| {
        terms.inputs.iter().any(|input| match input {
            StandingInput::Fixed(fixed) => fixed.path().eq_ignore_ascii_case(name),
            StandingInput::Slot(_) => false,
        })
    };
    inputs.iter().copied().find(|name| slot.files.matches(name) && !is_fixed(name))
}

fn slot_named<'t>(terms: &'t StandingTerms, name: &str) -> Option<&'t InputSlot> {
    terms.inputs.iter().find_map(|input| match input {
        StandingInput::Slot(slot) if slot.name == name => Some(slot),
        _ => None,
    })
}

/// Returns the problem of an input. Every other error follows from a value or an input that is
/// reported already.
fn input_problem(terms: &StandingTerms, error: &BindingError) -> Option<String> {
    match error {
        BindingError::Input(name) => Some(format!(
            "inputs: {} is not a fixed file and belongs to no slot, or is given twice",
            quote(name)
        )),
        BindingError::MissingInput(name) => {
            Some(format!("inputs: the fixed file {} is missing", quote(name)))
        }
        BindingError::SlotCount(name) => {
            let slot = slot_named(terms, name)?;
            let number = match slot.count {
                (1, 1) => "1 file".to_owned(),
                (min, max) if min == max => format!("{max} files"),
                (min, max) => format!("{min} to {max} files"),
            };
            Some(format!("inputs: slot `{name}` takes {number} named {}", slot.files))
        }
        BindingError::WordCount { .. }
        | BindingError::Word(_)
        | BindingError::Value(..)
        | BindingError::TwoValues(_)
        | BindingError::SlotWord(..) => None,
    }
}

impl ParameterKind {
    /// Returns the permitted values in words, such as `a whole number from 1 to 12`.
    #[must_use]
    pub fn permitted_values(&self) -> String {
        match self {
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Choice(all) => {
                let all: Vec<&str> = all.iter().map(String::as_str).collect();
                alternatives(&all)
            }
            Self::Text { alphabet: TextAlphabet::Identifier, chars_max } => {
                format!("an identifier of at most {chars_max} characters")
            }
            Self::Text { alphabet: TextAlphabet::Date, .. } => "a date as YYYY-MM-DD".to_owned(),
            Self::Text { alphabet: TextAlphabet::NumberList, chars_max } => {
                format!("whole numbers with commas between them, of at most {chars_max} characters")
            }
        }
    }
}

impl fmt::Display for TemplateWord {
    /// The word as the document has it, such as `--last={last}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(literal) => f.write_str(literal),
            Self::Value { beginning, value: WordValue::Parameter(name) } => {
                write!(f, "{beginning}{{{name}}}")
            }
            Self::Value { beginning, value: WordValue::Slot(name) } => {
                write!(f, "{beginning}{{in:{name}}}")
            }
        }
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.end {
            None => f.write_str(&self.beginning),
            Some(end) => write!(f, "{}*{end}", self.beginning),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BTreeMap, StandingApproval, bind, compose_use};

    const PAGE: &str = include_str!("../../../docs/standing-approvals.md");

    /// Returns the example of the page.
    fn example() -> StandingApproval {
        let (_, text) = PAGE.split_once("```markdown\n").expect("the beginning of the example");
        let (text, _) = text.split_once("```").expect("the end of the example");
        let now = "2026-02-10T00:00:00Z".parse().expect("a time");
        StandingApproval::read(text.as_bytes(), "SA-20260209-160501Z-means.md", now)
            .expect("a valid example")
    }

    fn values(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn composed_words_bind() {
        let (standing, last) = (example(), values(&[("last", "7")]));
        let inputs = ["sales-7.csv", "means.py"];
        let words = compose_use(&standing, &last, &inputs).expect("a use");
        assert_eq!(words, ["python", "means.py", "/in/sales-7.csv", "7"]);
        let binding = bind(standing.terms(), &words, &inputs).expect("the same values");
        assert_eq!(binding.parameters, last);
        assert_eq!(binding.slots["table"], ["sales-7.csv"]);
    }

    #[test]
    fn each_problem_names_its_bound() {
        let standing = example();
        let good = ["means.py", "sales-1.csv"];
        for (pairs, inputs, problems) in [
            (
                &[("last", "0")][..],
                &good[..],
                &["`last`: `0` is not a whole number from 1 to 3650"][..],
            ),
            (&[], &good, &["`last` is missing; it is a whole number from 1 to 3650"]),
            (&[("last", "07")], &good, &["`07` is not a whole number"]),
            (&[("last", "7"), ("x", "1")], &good, &["`x` is not a parameter of SA-20260209-"]),
            (&[("last", "7")], &["sales-1.csv"], &["the fixed file `means.py` is missing"]),
            (&[("last", "7")], &["means.py"], &["`table` takes 1 file named sales-*.csv"]),
            (
                &[("last", "7")],
                &["means.py", "sales-1.csv", "sales-2.csv"],
                &["`table` takes 1 file named sales-*.csv"],
            ),
            (
                &[("last", "x")],
                &["means.py", "sales-1.csv", "pandas.py"],
                &["`x` is not a whole number", "`pandas.py` is not a fixed file"],
            ),
            (&[("last", "7")], &["means.py", "MEANS.py", "sales-1.csv"], &["`MEANS.py` is not"]),
        ] {
            let found = compose_use(&standing, &values(pairs), inputs).expect_err("a problem");
            assert_eq!(found.len(), problems.len(), "{found:#?}");
            for (found, problem) in found.iter().zip(problems) {
                assert!(found.contains(problem), "{problem} is not in {found}");
            }
        }
    }
}

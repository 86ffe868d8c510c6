//! Example commands of a standing approval. Each is composed by the code that composes a use, so
//! that none is shown that the daemon would refuse.

use std::collections::BTreeMap;

use validator::{
    InputSlot, ParameterKind, StandingApproval, StandingTerms, TemplateWord, TextAlphabet,
    WordValue, compose_use, quote_words,
};

use super::terms_text;

const EXAMPLES_MAX: usize = 10;
/// As many steps change all values at once, and twice as many go through the combinations.
const STEPS: usize = 3 * EXAMPLES_MAX;
/// The number of names for the file of a word.
const NAMES: usize = 3;
/// The greatest number in the name of an example file, above any number of fixed files in its way.
const FILE_NUMBER_MAX: u32 = 1000;

/// Returns at most ten different commands, quoted as in a request.
pub(super) fn of(standing: &StandingApproval) -> Vec<String> {
    let choices = ExampleChoices::of(standing.terms());
    let mut found: Vec<String> = Vec::new();
    for command in (0..STEPS).filter_map(|step| choices.command(standing, step)) {
        if found.len() < EXAMPLES_MAX && !found.contains(&command) {
            found.push(command);
        }
    }
    found
}

/// The values among which the examples choose.
struct ExampleChoices {
    /// The names of the parameters, each with values.
    parameters: Vec<(String, Vec<String>)>,
    /// The choices of each slot, each a list of files.
    slots: Vec<Vec<Vec<String>>>,
}

impl ExampleChoices {
    fn of(terms: &StandingTerms) -> Self {
        let parameters = terms.parameters.iter();
        Self {
            parameters: parameters.map(|it| (it.name.clone(), values(&it.kind))).collect(),
            slots: terms_text::slots(terms).map(|slot| file_lists(terms, slot)).collect(),
        }
    }

    /// Returns the command of a step, if the step has one.
    fn command(&self, standing: &StandingApproval, step: usize) -> Option<String> {
        let sizes = self.parameters.iter().map(|(_, values)| values.len());
        let sizes: Vec<usize> = sizes.chain(self.slots.iter().map(Vec::len)).collect();
        let mut picks = picks(&sizes, step)?.into_iter();
        let mut chosen = BTreeMap::new();
        for ((name, values), pick) in self.parameters.iter().zip(picks.by_ref()) {
            chosen.insert(name.clone(), values.get(pick)?.clone());
        }
        let fixed = terms_text::fixed_inputs(standing.terms()).map(validator::Input::name);
        let mut inputs: Vec<&str> = fixed.collect();
        for (lists, pick) in self.slots.iter().zip(picks) {
            inputs.extend(lists.get(pick)?.iter().map(String::as_str));
        }
        let words = compose_use(standing, &chosen, &inputs).ok()?;
        Some(quote_words(&words).ok()?.as_str().to_owned())
    }
}

/// Returns the choice of each size at a step. In the first ten steps all choices advance together,
/// so that each value is seen early. Then come the combinations, each once.
fn picks(sizes: &[usize], step: usize) -> Option<Vec<usize>> {
    if sizes.contains(&0) {
        return None;
    }
    let Some(mut number) = step.checked_sub(EXAMPLES_MAX) else {
        return Some(sizes.iter().map(|size| step % size).collect());
    };
    let mut found = Vec::new();
    for size in sizes {
        found.push(number % size);
        number /= size;
    }
    (number == 0).then_some(found)
}

/// Returns a few permitted values: bounds, choices, and plausible texts.
fn values(kind: &ParameterKind) -> Vec<String> {
    let candidates: Vec<String> = match kind {
        ParameterKind::Integer { min, max } => {
            [*min, *max, min.midpoint(*max)].map(|number| number.to_string()).to_vec()
        }
        ParameterKind::Choice(all) => all.clone(),
        ParameterKind::Text { alphabet, .. } => texts(*alphabet).map(str::to_owned).to_vec(),
    };
    let mut found: Vec<String> = Vec::new();
    for value in candidates {
        if kind.accepts(&value) && !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

fn texts(alphabet: TextAlphabet) -> [&'static str; 3] {
    match alphabet {
        TextAlphabet::Identifier => ["amount", "price_2", "x"],
        TextAlphabet::Date => ["2026-01-31", "2026-06-15", "2026-12-01"],
        TextAlphabet::NumberList => ["1,2,3", "10,20", "7"],
    }
}

/// Returns the lists of files for a slot. Only a slot that a word names has more than one.
fn file_lists(terms: &StandingTerms, slot: &InputSlot) -> Vec<Vec<String>> {
    let is_named = |word: &TemplateWord| match word {
        TemplateWord::Value { value: WordValue::Slot(name), .. } => *name == slot.name,
        TemplateWord::Value { .. } | TemplateWord::Literal(_) => false,
    };
    if terms.words.iter().any(is_named) {
        return file_names(terms, slot, NAMES).into_iter().map(|name| vec![name]).collect();
    }
    let least = usize::try_from(slot.count.0).unwrap_or(usize::MAX);
    vec![file_names(terms, slot, least)]
}

/// Returns names of the slot, with `1`, `2` and so on in place of the `*`.
fn file_names(terms: &StandingTerms, slot: &InputSlot, count: usize) -> Vec<String> {
    let pattern = slot.files.to_string();
    let is_fixed = |name: &str| {
        terms_text::fixed_inputs(terms).any(|fixed| fixed.name().eq_ignore_ascii_case(name))
    };
    let last = if pattern.contains('*') { FILE_NUMBER_MAX } else { 1 };
    (1..=last)
        .map(|number| pattern.replacen('*', &number.to_string(), 1))
        .filter(|name| slot.files.matches(name) && !is_fixed(name))
        .take(count)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{StandingApproval, of, picks};

    const PAGE: &str = include_str!("../../../../../../docs/standing-approvals.md");

    /// Returns the example of the page.
    fn example() -> StandingApproval {
        let (_, text) = PAGE.split_once("```markdown\n").expect("the beginning of the example");
        let (text, _) = text.split_once("```").expect("the end of the example");
        let now = "2026-02-10T00:00:00Z".parse().expect("a time");
        StandingApproval::read(text.as_bytes(), "SA-20260209-160501Z-means.md", now)
            .expect("a valid example")
    }

    #[test]
    fn examples_show_each_bound_and_file() {
        let found = of(&example());
        assert_eq!(found.len(), 9, "{found:#?}");
        for (at, wanted) in [
            "python means.py /in/sales-1.csv 1",
            "python means.py /in/sales-2.csv 3650",
            "python means.py /in/sales-3.csv 1825",
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(found[at], wanted, "{found:#?}");
        }
    }

    #[test]
    fn each_combination_is_picked_once() {
        let all: Vec<_> = (10..30).filter_map(|step| picks(&[2, 3], step)).collect();
        assert_eq!(all.len(), 6, "{all:?}");
        assert!(all.iter().enumerate().all(|(at, one)| !all[..at].contains(one)), "{all:?}");
        assert_eq!(picks(&[2, 0], 0), None);
        assert_eq!(picks(&[], 0), Some(Vec::new()));
        assert_eq!(picks(&[], 11), None);
    }
}

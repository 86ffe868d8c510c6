//! Warnings about runs that the bounds do not make obvious. They refuse nothing: the approver
//! decides.

use std::ffi::OsStr;
use std::path::Path;

use validator::{StandingTerms, TemplateWord};

/// Programs that execute other programs, which their arguments name.
const RUNNERS: [&str; 12] =
    ["awk", "env", "find", "git", "less", "man", "rsync", "sed", "sort", "ssh", "tar", "xargs"];

/// Options that name code or a program, as the beginnings of words.
const CODE_OPTIONS: [&str; 7] =
    ["--exec=", "--command=", "--eval=", "--config=", "--pre=", "--rsh=", "-c="];

/// Returns the warnings, each a line that the caller must escape.
pub(super) fn of(terms: &StandingTerms) -> Vec<String> {
    let mut found = Vec::new();
    if terms.runs_code_of_inputs {
        found.push("the agent may run any program it writes".to_owned());
    }
    let runner = runner(terms);
    let mut before: Option<&str> = None;
    for (number, word) in (1..).zip(&terms.words) {
        let TemplateWord::Value { beginning, .. } = word else {
            before = literal(word);
            continue;
        };
        if let Some(runner) = runner {
            found.push(format!(
                "word {number}, {word}: {runner} can run other programs; check each permitted value"
            ));
        } else if names_code(beginning, before) {
            found.push(format!(
                "word {number}, {word}: its option can run code; check each permitted value"
            ));
        }
        before = None;
    }
    found
}

/// Returns the program of the command if it executes other programs.
fn runner(terms: &StandingTerms) -> Option<&str> {
    let program = Path::new(literal(terms.words.first()?)?);
    let name = program.file_name().and_then(OsStr::to_str)?;
    RUNNERS.contains(&name).then_some(name)
}

fn literal(word: &TemplateWord) -> Option<&str> {
    match word {
        TemplateWord::Literal(text) => Some(text),
        TemplateWord::Value { .. } => None,
    }
}

/// Returns whether a value is that of an option with code, in the same word or in the word before.
fn names_code(beginning: &str, before: Option<&str>) -> bool {
    let is_option = |word: &str| CODE_OPTIONS.iter().any(|it| it.strip_suffix('=') == Some(word));
    CODE_OPTIONS.contains(&beginning) || beginning.is_empty() && before.is_some_and(is_option)
}

#[cfg(test)]
mod tests {
    use super::names_code;

    #[test]
    fn options_with_code_are_found_in_both_forms() {
        assert!(names_code("--eval=", None));
        assert!(names_code("", Some("-c")));
        assert!(names_code("", Some("--pre")));
        assert!(!names_code("--last=", Some("-c")));
        assert!(!names_code("", Some("--last")));
        assert!(!names_code("", None));
    }
}

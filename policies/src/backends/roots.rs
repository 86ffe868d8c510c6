//! The root images of a virtual machine: those of the policy, or the two that
//! packaging/microvm/build makes. A word must never choose two of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use model::{Language, alternatives};

use super::model::MicrovmRoot;
use super::raw::RawMicrovmRoot;
use crate::problem::Problems;
use crate::runtime::{RuntimeRule, is_plain_absolute, is_slug, is_word};

const PYTHON: &str = "/usr/bin/python3";
/// Small programs of `root-shell`. No request can begin its command with a shell.
const SMALL_PROGRAMS: [&str; 13] = [
    "awk",
    "cat",
    "cut",
    "grep",
    "head",
    "od",
    "sed",
    "sha256sum",
    "sort",
    "tail",
    "tr",
    "uniq",
    "wc",
];

/// Returns the roots of a policy that names none.
pub(super) fn usual(backend: &str) -> Vec<MicrovmRoot> {
    let python = ["python", "python3"].map(|word| (word.to_owned(), PYTHON.to_owned()));
    let small = SMALL_PROGRAMS.map(|word| (word.to_owned(), format!("/usr/bin/{word}")));
    vec![
        root(backend, "python", Some(Language::Python), python.into()),
        // The programs are of no language that a request can declare.
        root(backend, "shell", None, small.into()),
    ]
}

/// Checks the roots that a policy names. Each problem has the key of its root.
pub(super) fn check(
    backend: &str,
    written: &BTreeMap<String, RawMicrovmRoot>,
    at: &str,
    problems: &mut Problems<'_>,
) -> Vec<MicrovmRoot> {
    if written.is_empty() {
        problems.add(at, "is empty", "name a root image, or remove the key");
    }
    let mut seen = BTreeSet::new();
    let mut roots = Vec::new();
    for (name, form) in written {
        let at = format!("{at}.{name}");
        if !is_slug(name) || name.contains('_') {
            problems.add(&at, "not a valid name", "use 1 to 32 of a-z, 0-9 and `-`");
        }
        if form.words.is_empty() {
            let key = format!("{at}.words");
            problems.add(&key, "is empty", "name at least one word and its program");
        }
        for (word, path) in &form.words {
            let key = format!("{at}.words.{word}");
            if !is_word(word) || !is_plain_absolute(Path::new(path)) {
                let advice = "write a word without a path, and the absolute path of its program";
                problems.add(&key, "not a program of the image", advice);
            }
            if !seen.insert(word.as_str()) {
                problems.add(&key, "another root offers this word", "keep one of the two");
            }
        }
        let language = form.language.as_deref().and_then(|text| language(text, &at, problems));
        roots.push(root(backend, name, language, form.words.clone()));
    }
    roots
}

fn language(written: &str, at: &str, problems: &mut Problems<'_>) -> Option<Language> {
    let found = Language::named(written);
    if found.is_none() {
        let advice = format!("write {}", alternatives(Language::TEXTS));
        problems.add(&format!("{at}.language"), "not a known language", &advice);
    }
    found
}

fn root(
    backend: &str,
    name: &str,
    language: Option<Language>,
    programs: BTreeMap<String, String>,
) -> MicrovmRoot {
    let words = programs.keys().cloned().collect();
    let runtime = RuntimeRule::of_machine(backend, language, words);
    MicrovmRoot { name: name.to_owned(), language, programs, runtime }
}

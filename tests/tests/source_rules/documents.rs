//! The tests that invariants and threats name must exist.

use std::collections::BTreeSet;
use std::fs;

use toolexec_tests::workspace;

use crate::sources::sources;

/// Returns the functions that `cargo test` runs: tests, and those run for both users by `as_both!`.
fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for source in sources() {
        let code = source.code();
        for marked in code.split("#[test]").skip(1) {
            let name = marked.split_once("fn ").unwrap().1;
            names.insert(name.split('(').next().unwrap().trim().to_owned());
        }
        for both in code.split("as_both!(").skip(1) {
            let listed = both.split(')').next().unwrap();
            names.extend(listed.split(',').map(|name| name.trim().to_owned()));
        }
    }
    names
}

#[test]
fn every_invariant_is_held_by_a_test() {
    let text = fs::read_to_string(workspace().join("ARCHITECTURE.md"));
    let text = text.expect("ARCHITECTURE.md is missing: no invariant can be checked");
    // The numbered lines, wrapped or not, of the section on invariants.
    let heading = |line: &str| line.starts_with('#') && line.to_lowercase().contains("invariant");
    let part = text.lines().skip_while(|line| !heading(line)).skip(1);
    let mut invariants: Vec<String> = Vec::new();
    for line in part.take_while(|line| !line.starts_with("## ")) {
        let (number, rest) = line.split_once(". ").unwrap_or_default();
        if !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()) {
            assert_eq!(number, (invariants.len() + 1).to_string(), "{line}");
            invariants.push(rest.to_owned());
        } else if let Some(last) = invariants.last_mut().filter(|_| !line.trim().is_empty()) {
            last.push(' ');
            last.push_str(line.trim());
        }
    }
    assert!(invariants.len() >= 5, "a numbered list below a heading with the word invariants");
    let tests = tests();
    for invariant in &invariants {
        let named = invariant.split("(test").nth(1).and_then(|rest| rest.split(')').next());
        let named = named.unwrap_or_else(|| panic!("names no test: {invariant}"));
        let named = named.trim_start_matches('s').trim_start_matches(':');
        for name in named.split(',').map(|name| name.trim().trim_matches('`')) {
            let name = name.rsplit("::").next().unwrap();
            assert!(tests.contains(name), "no test is called {name:?}: {invariant}");
        }
    }
}

/// A row without the name of an existing test promises nothing.
#[test]
fn every_threat_names_its_test() {
    let page = fs::read_to_string(workspace().join("docs/threats.md")).unwrap();
    let (tests, mut rows) = (tests(), 0);
    for row in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| |")) {
        let named = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        for name in named.split(", ") {
            let name = name.strip_prefix('`').and_then(|name| name.strip_suffix('`'));
            let name = name.unwrap_or_else(|| panic!("names no test: {row}"));
            assert!(tests.contains(name), "no test is called {name:?}: {row}");
        }
        rows += 1;
    }
    assert!(rows > 20, "{rows} rows");
}

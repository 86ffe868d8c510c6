//! The glossary: an identifier uses the standard term, never a former one. `plain_english` checks
//! comments, messages and pages.

use crate::allowances::{BreachCounts, check_allowance};
use crate::rust_text::{RustPart, pieces};
use crate::sources::sources;
use crate::terms::former_in_names;

/// Types of the standard library, and the type of a field of an HTML table.
const EXEMPT: [&str; 5] = ["Cell", "OnceCell", "RefCell", "TableCell", "UnsafeCell"];

/// Pages with HTML tables; a `cell` is one of theirs.
const PAGES: &str = "cli/src/output/page/";

/// Returns the words of an identifier in lower case: `RunInput` has `run` and `input`.
fn words(identifier: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut before = '_';
    for c in identifier.chars() {
        if c == '_' || c.is_uppercase() && !before.is_uppercase() {
            found.push(String::new());
        }
        if c != '_' {
            found.last_mut().unwrap().extend(c.to_lowercase());
        }
        before = c;
    }
    found.retain(|word| !word.is_empty());
    found
}

/// Returns the former words in the code of a file, with their lines.
fn former_terms(name: &str, text: &str) -> Vec<String> {
    let has_tables = name.starts_with(PAGES);
    let mut found = Vec::new();
    for piece in pieces(text).into_iter().filter(|piece| piece.part == RustPart::Code) {
        for (line, row) in (piece.line..).zip(piece.text.split('\n')) {
            let identifiers = row.split(|c: char| !c.is_alphanumeric() && c != '_');
            for identifier in identifiers.filter(|it| !EXEMPT.contains(it)) {
                for word in words(identifier) {
                    if word == "cell" && (has_tables || row.contains("std::cell")) {
                        continue;
                    }
                    if let Some((_, term)) = former_in_names().find(|(former, _)| *former == word) {
                        found.push(format!("line {line}: `{identifier}`: {term}"));
                    }
                }
            }
        }
    }
    found
}

#[test]
fn names_use_the_glossary() {
    let mut seen: Vec<(String, Vec<String>)> = sources()
        .iter()
        .map(|source| (source.name().to_owned(), former_terms(source.name(), &source.text)))
        .collect();
    seen.retain(|(_, terms)| !terms.is_empty());
    let found: BreachCounts =
        seen.iter().map(|(file, terms)| (file.clone(), terms.len())).collect();
    let of = format!("former terms in names, in {} files", found.len());
    check_allowance("glossary", &of, &found, |file| {
        seen.iter().find(|(name, _)| name == file).map(|(_, terms)| terms.join("\n    "))
    });
}

#[test]
fn a_former_term_is_found_in_a_name() {
    let text = "/// A seat.\nstruct WorkerSeat { cell: Cell<u8>, seating: u8 }\nfn f() { \"told\" }\n\
                const DOORS: HTTPCell = x.is_told;\n";
    let found = former_terms("x.rs", text);
    let wanted = ["line 2: `WorkerSeat`", "line 2: `cell`", "line 4: `DOORS`", "line 4: `is_told`"];
    assert_eq!(found.len(), wanted.len(), "{found:#?}");
    for (found, wanted) in found.iter().zip(wanted) {
        assert!(found.starts_with(wanted), "{wanted}: {found}");
    }
}

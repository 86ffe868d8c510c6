//! No type name is defined twice in a crate. Across crates only conventional names are.

use std::collections::BTreeMap;

use crate::allowances::{BreachCounts, check_allowance};
use crate::cycles::trees;
use crate::tokens::{RustToken, begins_item};

/// Names that each crate may define, as modules of the standard library do.
const CONVENTIONS: [&str; 4] = ["Config", "Error", "Options", "Report"];

/// Returns the names of each `struct`, `enum`, `union`, `trait`, `type`, except associated types.
pub(crate) fn definitions<'a>(code: &[RustToken<'a>]) -> Vec<&'a str> {
    let mut found = Vec::new();
    // For each open brace, whether it is of an `impl` or of a `trait`.
    let (mut open, mut next) = (Vec::new(), false);
    for (at, token) in code.iter().enumerate() {
        match token.text {
            "{" => open.push(std::mem::take(&mut next)),
            "}" => {
                open.pop();
            }
            "impl" | "trait" if token.is_word() && begins_item(code, at) => next = true,
            _ => {}
        }
        let names_a_type = match token.text {
            "type" => open.last() != Some(&true),
            "union" => code.get(at + 2).is_some_and(|it| it.is("{") || it.is("<")),
            "struct" | "enum" | "trait" => true,
            _ => false,
        };
        if names_a_type && token.is_word() {
            found.extend(code.get(at + 1).filter(|it| it.is_type_name()).map(|it| it.text));
        }
    }
    found
}

/// Returns the count of each name with too many definitions. A path begins with its crate.
fn duplicates(defined: &[(&str, &str)]) -> BTreeMap<String, usize> {
    let mut by_name: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for (name, file) in defined {
        let of_crate = file.split('/').next().unwrap();
        *by_name.entry(name).or_default().entry(of_crate).or_default() += 1;
    }
    let mut found = BTreeMap::new();
    for (name, by_crate) in by_name {
        let least = if CONVENTIONS.contains(&name) { 2 } else { 1 };
        let count: usize = by_crate.values().filter(|count| **count >= least).sum();
        if count > 1 {
            found.insert(name.to_owned(), count);
        }
    }
    found
}

#[test]
fn no_duplicate_type_names() {
    let mut defined = Vec::new();
    for module in trees().iter().flat_map(|tree| &tree.modules) {
        let names = definitions(&module.code).into_iter();
        defined.extend(names.map(|name| (name, module.file.to_str().unwrap())));
    }
    assert!(defined.len() > 1000, "only {} types: the search is broken", defined.len());
    let found: BreachCounts = duplicates(&defined);
    let of = format!("definitions of {} type names, of {} in all", found.len(), defined.len());
    check_allowance("type_names", &of, &found, |name| {
        let files = defined.iter().filter(|(it, _)| *it == name).map(|(_, file)| *file);
        Some(format!("defined in {}", files.collect::<Vec<_>>().join(", ")))
    });
}

#[test]
fn definitions_are_distinguished_from_uses() {
    let text = "pub struct A<T>(T); enum B { C } // struct X;\ntype D = A<u8>; pub(crate) trait E { type Y; }
        impl Iterator for A<u8> { type Item = u8; fn f() -> impl Iterator<Item = u8> { struct F; } }
        fn g(union: impl E) -> impl E { type G = u8; \"struct Z;\" } union H { a: u8 }
        macro_rules! m { ($name:ident) => { pub enum $name {} } } m! { enum I { J } }";
    let found = definitions(&crate::tokens::tokens(text));
    assert_eq!(found, ["A", "B", "D", "E", "F", "G", "H", "I"]);
}

#[test]
fn duplicates_are_counted_by_crate() {
    let found = duplicates(&[
        ("Once", "a/src/x.rs"),
        ("Twice", "a/src/x.rs"),
        ("Twice", "b/src/x.rs"),
        ("Error", "a/src/x.rs"),
        ("Error", "b/src/x.rs"),
        ("Config", "a/src/x.rs"),
        ("Config", "a/src/y.rs"),
        ("Config", "b/src/x.rs"),
    ]);
    let wanted = [("Config".to_owned(), 2), ("Twice".to_owned(), 2)];
    assert_eq!(found, BTreeMap::from(wanted));
}

//! The digest of the seccomp policy covers each of its texts.

use std::collections::BTreeSet;

use toolexec_tests::{list, workspace};

use crate::sources::sources;
use crate::tokens::{Kind, tokens};

/// The files of `sandbox/seccomp` that a source includes.
fn included(text: &str) -> BTreeSet<String> {
    let tokens = tokens(text);
    let texts = tokens.windows(4).filter_map(|four| match four {
        [name, bang, open, text] if name.is("include_str") && bang.is("!") && open.is("(") => {
            (text.kind == Kind::Text).then_some(text.text)
        }
        _ => None,
    });
    let names = texts.filter_map(|text| text.trim_matches('"').split_once("sandbox/seccomp/"));
    names.map(|(_, name)| name.to_owned()).collect()
}

/// A text that is missing there can change without a change of the digest that AIS evidence names.
#[test]
fn seccomp_texts_are_all_listed() {
    let directory = workspace().join("sandbox/seccomp");
    let source = sources().iter().find(|source| source.name() == "daemon/src/supply.rs").unwrap();
    let (listed, present) = (included(&source.text), BTreeSet::from_iter(list(&directory)));
    assert!(present.len() > 5, "{present:?}: the search is broken");
    let missing: Vec<_> = present.difference(&listed).collect();
    let (path, dir) = (source.name(), "sandbox/seccomp");
    assert!(
        missing.is_empty(),
        "{path}: {missing:?} of {dir} is not included\nhelp: add it to SECCOMP"
    );
    println!("\ncount: seccomp: {} texts of {} are listed", listed.len(), present.len());
}

#[test]
fn a_comment_includes_nothing() {
    let text = "const A: [&str; 1] = [include_str!(\"../../sandbox/seccomp/a.txt\")];
        // include_str!(\"../../sandbox/seccomp/b.txt\")";
    assert_eq!(included(text), BTreeSet::from(["a.txt".to_owned()]));
}

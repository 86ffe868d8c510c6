//! The record that ends a claim.

use super::*;

fn record(name: &str, document: &str, outcome: &str) -> FoundRecord {
    let (name, document_sha256) = (name.to_owned(), document.to_owned());
    FoundRecord { name, document_sha256, outcome: outcome.to_owned(), exit_code: 0 }
}

fn chosen<'a>(found: &'a [FoundRecord], known: &[&str]) -> Option<&'a str> {
    let known: Vec<String> = known.iter().map(|it| (*it).to_owned()).collect();
    final_record(found, &known, "d").map(|it| it.name.as_str())
}

#[test]
fn a_record_before_the_claim_does_not_end_it() {
    let found = [record("TS-1", "d", "refused"), record("TS-2", "d", "setup_error")];
    assert_eq!(chosen(&found, &["TS-1", "TS-2"]), None);
    assert_eq!(chosen(&found, &["TS-1"]), Some("TS-2"));
    assert_eq!(chosen(&found, &[]), Some("TS-2"), "the newest");
    assert_eq!(chosen(&[], &[]), None);
}

#[test]
fn the_record_of_the_run_is_the_end() {
    let found = [
        record("TS-1", "d", "refused"),
        record("TS-2", "d", "exit_nonzero"),
        record("TS-3", "d", "refused"),
    ];
    assert_eq!(chosen(&found, &[]), Some("TS-2"));
    assert_eq!(chosen(&found, &["TS-1", "TS-2"]), Some("TS-2"), "it ran before the claim");
    assert_eq!(chosen(&found, &["TS-1", "TS-2", "TS-3"]), None, "the claim is not answered");
}

#[test]
fn the_record_of_another_document_is_not_the_end() {
    let found = [record("TS-1", "e", "ok"), record("TS-2", "d", "refused")];
    assert_eq!(chosen(&found, &[]), Some("TS-2"));
    assert_eq!(chosen(&found[..1], &[]), None);
}

//! The glossary: standard terms, and the former words and phrases for them. `glossary` searches
//! names for them, `plain_english` comments, messages and pages.

/// The texts in which the former words of a row are a breach.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TermPlace {
    Names,
    /// The words are common ones, and names may have them.
    Prose,
    Both,
}

use TermPlace::{Both, Names, Prose};

/// The standard term or the replacement, the place, and the former words.
const TERMS: [(&str, TermPlace, &[&str]); 32] = [
    ("sandbox", Both, &["cell", "cells"]),
    ("backend", Both, &["lane", "lanes"]),
    ("worker slot, or process identity", Both, &["seat", "seats"]),
    ("control socket", Both, &["door", "doors"]),
    ("base root", Both, &["house", "houses"]),
    ("runtime mount", Both, &["furnishing", "furnishings"]),
    ("self-test probe", Both, &["canary", "canaries"]),
    ("child arguments", Both, &["embryo"]),
    (
        "report, record, status or log",
        Both,
        &["tell", "tells", "teller", "told", "telling", "untold"],
    ),
    ("record input, or history", Both, &["story", "stories"]),
    ("progress", Both, &["journey", "journeys"]),
    ("permission request", Both, &["lodge", "lodged", "lodging"]),
    ("leftover, or invalid object", Both, &["rubbish"]),
    (
        "name the actor",
        Both,
        &["whoever", "whomever", "nobody", "nobodys", "somebody", "anybody", "everybody"],
    ),
    ("output, or message", Names, &["said"]),
    ("continuation", Names, &["wish", "wishes"]),
    ("timeout, or deadline", Names, &["patience"]),
    ("heartbeat", Names, &["pulse"]),
    ("reasons, or rationale", Names, &["grounds"]),
    ("preview", Names, &["outlook"]),
    ("sidecar", Names, &["companion", "companions"]),
    ("fsck, or report", Names, &["survey"]),
    ("name the thing", Prose, &["whatever", "wherever", "whichever"]),
    ("receive, read or learn", Prose, &["hear", "hears", "heard", "hearing"]),
    ("fix or repair", Prose, &["mend", "mends", "mended", "mending"]),
    ("is, is written, holds", Prose, &["stands", "lies", "stand for"]),
    ("is deleted, is moved", Prose, &["goes with", "go with", "by its word"]),
    ("is not a, does not exist", Prose, &["is no", "are no", "was no", "were no", "be no"]),
    ("already exists", Prose, &["is there already", "are there already", "is already there"]),
    ("active", Prose, &["in force"]),
    ("trusted computing base", Prose, &["trust base"]),
    ("authorization checks", Prose, &["four authorities"]),
];

/// Returns each former word of a name, with its standard term.
pub(crate) fn former_in_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    former(Prose)
}

/// Returns each former word or phrase of prose, with its replacement.
pub(crate) fn former_in_prose() -> impl Iterator<Item = (&'static str, &'static str)> {
    former(Names)
}

fn former(exempt: TermPlace) -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = TERMS.iter().filter(move |(_, place, _)| *place != exempt);
    rows.flat_map(|(standard, _, words)| words.iter().map(|word| (*word, *standard)))
}

//! Arbitrary bytes, and valid documents with arbitrary damage: the validator always answers, and
//! every answer meets its guarantees. Past findings of the fuzzer are named tests here.

#[path = "support/answers.rs"]
mod answers;

use std::fs;
use std::path::Path;

use crate::support;
use answers::{of_command, of_lines, of_request, of_result};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

const RESULT: &str = include_str!("../benches/check/result.md");

/// Pieces of the documents, and breaking ones that mutation alone would not produce.
const PIECES: [&str; 40] = [
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\0",
    "\u{feff}",
    "\u{202e}",
    "\u{200b}",
    "\u{e9}",
    "\u{1f600}",
    "---\n",
    "\n---\n",
    "## Command\n",
    "\n## Risk Assessment\n",
    "## ",
    "```\n",
    "<!--",
    "-->",
    "> ",
    "- ",
    "'",
    "\"",
    "\\",
    "`",
    "$(",
    "{a,b}",
    "|",
    ": ",
    "? ",
    "&a ",
    "*a",
    "!t ",
    "[",
    "{",
    "}",
    "/in/other.csv ",
    "/etc/passwd ",
    "password=hunter2hunter2 ",
    "pip install x ",
    "~",
];

fn check_both(bytes: &[u8]) {
    of_request(bytes);
    of_result(bytes);
    let text = String::from_utf8_lossy(bytes);
    of_command(&text);
    of_lines(&text);
}

#[derive(Clone, Debug)]
enum Damage {
    Put(prop::sample::Index, &'static str),
    Byte(prop::sample::Index, u8),
    Cut(prop::sample::Index, usize),
    Again(prop::sample::Index, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        4 => (at(), prop::sample::select(&PIECES[..])).prop_map(|(at, piece)| Damage::Put(at, piece)),
        1 => (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        1 => (at(), 1usize..80).prop_map(|(at, length)| Damage::Cut(at, length)),
        1 => (at(), 1usize..80).prop_map(|(at, length)| Damage::Again(at, length)),
    ]
}

fn damaged(document: &str, harms: &[Damage]) -> Vec<u8> {
    let mut bytes = document.as_bytes().to_vec();
    for harm in harms {
        let (Damage::Put(at, _) | Damage::Byte(at, _) | Damage::Cut(at, _) | Damage::Again(at, _)) =
            harm;
        let at = at.index(bytes.len() + 1);
        let part = |length: usize| at..bytes.len().min(at + length);
        match *harm {
            Damage::Put(_, piece) => drop(bytes.splice(at..at, piece.bytes())),
            Damage::Byte(_, byte) => drop(bytes.splice(part(1), [byte])),
            Damage::Cut(_, length) => drop(bytes.drain(part(length))),
            Damage::Again(_, length) => bytes.extend_from_within(part(length)),
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        // A finding is added by hand as a named test.
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::default()
    })]

    #[test]
    fn bytes(bytes in vec(any::<u8>(), 0..4096)) {
        check_both(&bytes);
    }

    #[test]
    fn pieces(pieces in vec(prop::sample::select(&PIECES[..]), 0..200)) {
        check_both(pieces.concat().as_bytes());
    }

    #[test]
    fn damaged_requests(harms in vec(damage(), 1..6)) {
        check_both(&damaged(&support::valid(), &harms));
    }

    #[test]
    fn damaged_results(harms in vec(damage(), 1..6)) {
        check_both(&damaged(RESULT, &harms));
    }

    #[test]
    fn damaged_commands(harms in vec(damage(), 1..6)) {
        let line = damaged("python -c 'print(1)' --in \"/in/a b.csv\" --out=/out/x", &harms);
        of_command(&String::from_utf8_lossy(&line));
    }
}

/// All seeds of the fuzzers as input, including those of `policies`.
#[test]
fn seeds_of_the_fuzzers() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    let mut count = 0;
    for target in fs::read_dir(corpus).unwrap() {
        for seed in fs::read_dir(target.unwrap().path()).unwrap() {
            check_both(&fs::read(seed.unwrap().path()).unwrap());
            count += 1;
        }
    }
    assert!(count > 50, "only {count} seeds: the search is broken");
}

#[test]
fn a_carriage_return_inside_the_front_matter_moves_no_line() {
    check_both(support::with("purpose: ", "\r\rpurpose: \r'").as_bytes());
    check_both(support::with("inputs:\n", "inputs:\n\r\r\r\r  unknown: [\n").as_bytes());
}

#[test]
fn every_key_of_a_large_map_is_compared() {
    let keys: String = (0..4500).map(|n| format!("x-{n}: 1\n")).collect();
    let text = support::with("inputs:\n", &format!("{keys}x-4321: 2\nx-0: 3\ninputs:\n"));
    assert_eq!(support::errors(&text).join(" "), "frontmatter.duplicate-key");
    let rows = support::checked(&text).violations;
    assert_eq!(rows.iter().filter(|row| row.message.contains("appears twice")).count(), 2);
}

//! Thousands of hostile file names and streams. Each run's record verifies, every name is read back
//! exactly, and the text of request, policy and rules is as in the record of a quiet run.

use std::collections::BTreeSet;

use model::{Outcome, RejectReason};
use records::{ResultKey, Statement, Trust, attest, verify};
use sandbox::report::RejectedObject;
use serde_json::Value;

use crate::fixture::{RecordCase, RecordScratch, checked, markdown, request_text};

const SEED: u64 = 0x5eed_0007;
const RECORDS: usize = 130;
const NAMES_EACH: usize = 20;

/// White space, Markdown, YAML, characters that reorder or hide text, and the lint's patterns.
const PIECES: [&str; 119] = [
    " ",
    "\t",
    "\n",
    "\u{b}",
    "\u{c}",
    "\r",
    "\u{85}",
    "\u{a0}",
    "\u{1680}",
    "\u{2000}",
    "\u{2001}",
    "\u{2002}",
    "\u{2003}",
    "\u{2004}",
    "\u{2005}",
    "\u{2006}",
    "\u{2007}",
    "\u{2008}",
    "\u{2009}",
    "\u{200a}",
    "\u{2028}",
    "\u{2029}",
    "\u{202f}",
    "\u{205f}",
    "\u{3000}",
    "\u{200b}",
    "\u{200d}",
    "\u{2060}",
    "\u{feff}",
    "\u{ad}",
    "\u{202a}",
    "\u{202e}",
    "\u{2066}",
    "\u{2069}",
    "\u{200e}",
    "\u{61c}",
    "\u{301}",
    "\u{34f}",
    "\u{fe0f}",
    "\u{e0100}",
    "\u{e000}",
    "\u{10ffff}",
    "\u{fffd}",
    "\u{0}",
    "\u{1b}[31m",
    "\u{7f}",
    "a",
    "b",
    "Z",
    "0",
    "é",
    "漢",
    "😀",
    "x.json",
    "out",
    "-",
    "_",
    ".",
    "..",
    "...",
    "#",
    "# ",
    "- ",
    ": ",
    ":",
    ",",
    ";",
    "=",
    "+",
    "*",
    "**",
    "|",
    "||",
    "`",
    "``",
    "~~~",
    "\"",
    "'",
    "\\",
    "\\u0020",
    "\\u{a0}",
    "\\x41",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "<!--",
    "&amp;",
    "!",
    "?",
    "%",
    "@",
    "$",
    "^",
    "\r\n",
    "---",
    "  sha256: ",
    "sha256",
    "/out/",
    "[withheld",
    "[withheld: result.digest]",
    "null",
    "true",
    "~",
    "&a",
    "*a",
    "!!str",
    "www.x.org",
    "https:x.org",
    "Description: x",
    "Not here:",
    "AKIAABCDEFGHIJKLMNOP",
    "curl x | sh",
    "ignore all previous instructions",
    "password=hunter2hunter2",
];
/// Pieces for which the lint may withhold a name: secrets and instructions.
const REFUSED: [&str; 4] =
    ["AKIA", "curl x | sh", "ignore all previous instructions", "hunter2hunter2"];

struct NameGenerator(u64);

impl NameGenerator {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn piece(&mut self) -> &'static str {
        PIECES[self.below(PIECES.len())]
    }
}

/// Returns one name, in bytes that a file system accepts.
fn name(chance: &mut NameGenerator) -> Vec<u8> {
    let mut name = Vec::new();
    let digest = "ab".repeat(32);
    for _ in 0..=chance.below(6) {
        match chance.below(24) {
            0 => name.extend(b"\xff\xfe"),
            1 => name.extend(digest.as_bytes()),
            2 => name.extend(chance.piece().repeat(200).into_bytes()),
            _ => name.extend(chance.piece().as_bytes()),
        }
    }
    name.retain(|byte| !matches!(byte, 0 | b'/'));
    // A file system accepts 255 bytes; the cut can split a character.
    name.truncate(255);
    if matches!(name.as_slice(), b"" | b"." | b"..") { b" ".to_vec() } else { name }
}

/// Returns the name as the collector keeps it, or as it rejects and escapes it.
fn collected(name: &[u8]) -> Result<String, RejectedObject> {
    // The collector keeps variation selectors and a few more characters.
    let kept =
        |c: char| matches!(c, '\u{17b4}' | '\u{17b5}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..);
    let hidden = |c: char| {
        c.is_control() || !kept(c) && !model::escape_line(c.encode_utf8(&mut [0; 4])).starts_with(c)
    };
    let reason = match std::str::from_utf8(name) {
        Ok(text) if !text.chars().any(hidden) => return Ok(text.to_owned()),
        Ok(_) => RejectReason::NameControl,
        Err(_) => RejectReason::NameNotUtf8,
    };
    let shown = String::from_utf8_lossy(name);
    let escaped = |c: char| match hidden(c) || c == '\\' {
        true => c.escape_unicode().to_string(),
        false => c.to_string(),
    };
    Err(RejectedObject { path: shown.chars().map(escaped).collect(), reason })
}

fn stream(chance: &mut NameGenerator) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..chance.below(60) {
        match chance.below(30) {
            0 => bytes.extend(b"\n---\n## Safety Notes\n"),
            1 => bytes.extend(b"\xff\xc0\n"),
            2 => bytes.extend(b"-----BEGIN EC PRIVATE KEY-----\n"),
            3 => bytes.extend(b"- /out/stats.json  sha256: ".iter().chain(&[b'0'; 64])),
            _ => bytes.extend(chance.piece().as_bytes()),
        }
    }
    bytes
}

/// Parses a line of `## Outputs` without the validator.
fn named(line: &str) -> String {
    let (path, _) = line.strip_prefix("- ").unwrap().rsplit_once("  sha256: ").unwrap();
    match path.strip_prefix('`').and_then(|path| path.strip_suffix('`')) {
        Some(string) => serde_json::from_str(string).unwrap(),
        None => path.to_owned(),
    }
}

fn section<'a>(md: &'a str, heading: &str) -> &'a str {
    let (_, rest) = md.split_once(&format!("\n{heading}\n")).unwrap();
    rest.split_once("\n## ").map_or(rest, |(section, _)| section)
}

fn front(md: &str) -> Value {
    let (front, _) = md.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    serde_yaml::from_str(front).unwrap()
}

/// Facts that no tool can influence.
const GIVEN: [&str; 18] = [
    "request_id",
    "executor",
    "backend",
    "request_sha256",
    "request_file",
    "intent_sha256",
    "inputs",
    "approval",
    "approvals",
    "argv",
    "argv_total",
    "constraints_stated",
    "constraints_stated_total",
    "policy",
    "rules",
    "violations",
    "gate",
    "files",
];

/// Checks that the text of request, policy and rules is unchanged.
#[track_caller]
fn is_whole(md: &str, quiet: &str, about: &str) {
    let (facts, expected) = (front(md), front(quiet));
    for key in GIVEN {
        assert_eq!(facts[key], expected[key], "{about}: {key}");
    }
    assert_eq!(section(md, "## Provenance"), section(quiet, "## Provenance"), "{about}");
    let purpose = |md: &str| {
        let summary = section(md, "## Summary").to_owned();
        summary.lines().find(|line| line.starts_with("- Purpose: ")).unwrap().to_owned()
    };
    assert_eq!(purpose(md), purpose(quiet), "{about}");
    assert!(!md.contains("the request, the policy and the rules withheld"), "{about}");
}

#[track_caller]
fn names_are_read_back(md: &str, payload: &Value, names: &BTreeSet<String>, about: &str) {
    let facts = front(md);
    let paths = |rows: &Value| -> BTreeSet<String> {
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| row["path"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(paths(&facts["artifacts"]), *names, "{about}");
    assert_eq!(paths(&payload["predicate"]["artifacts"]), *names, "{about}");
    let outputs = section(md, "## Outputs").split("\nNot here:\n").next().unwrap();
    let lines: Vec<&str> = outputs.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(lines.len(), names.len(), "{about}");
    for (line, row) in lines.iter().zip(facts["artifacts"].as_array().unwrap()) {
        let name = row["path"].as_str().unwrap();
        if line.starts_with("- [withheld: ") {
            assert!(REFUSED.iter().any(|piece| name.contains(piece)), "{about}: {name:?}");
        } else {
            assert_eq!(named(line), format!("/out/{name}"), "{about}: {line}");
        }
    }
    let (listed, total) = (&facts["rejected"], facts["rejected_total"].as_u64().unwrap());
    assert_eq!(u64::try_from(listed.as_array().unwrap().len()).unwrap(), total, "{about}");
}

/// Checks the record of a run with many names: it verifies and omits nothing.
fn holds(
    case: &mut RecordCase,
    rejected: Vec<RejectedObject>,
    key: &ResultKey,
    quiet: &str,
    about: &str,
) {
    case.collect();
    let outcome = if rejected.is_empty() { Outcome::Ok } else { Outcome::OutputRejected };
    case.finished.collected.rejected = rejected;
    let statement = Statement { outcome, ..case.statement() };
    let attested = attest(&statement, key).unwrap_or_else(|error| panic!("{about}: {error}"));
    let record = attested.record();
    let md = markdown(record);
    is_whole(&md, quiet, about);
    let payload: Value = serde_json::from_slice(attested.envelope().payload()).unwrap();
    let names = case.artifacts.iter().map(|(name, _)| name.clone()).collect();
    names_are_read_back(&md, &payload, &names, about);
    let scratch = RecordScratch::in_memory();
    let dir = case.publish_run(scratch.path(), record);
    let verified = verify(&dir, &Trust::from_key(&key.public()));
    assert!(verified.is_ok(), "{about}: {verified:?}");
}

#[test]
fn no_file_name_and_no_stream_withholds_text_of_the_request() {
    println!("seed {SEED:#x}");
    let scratch = RecordScratch::in_memory();
    let key = scratch.key("keys");
    let quiet = RecordCase::new("Statistics of the weather.", b"done\n", &[]);
    let quiet = markdown(&records::sign(&quiet.statement(), &key).unwrap());
    let mut chance = NameGenerator(SEED);
    let (mut kept, mut refused) = (0, 0);
    for number in 0..RECORDS {
        let mut case = RecordCase::new("Statistics of the weather.", &stream(&mut chance), &[]);
        case.stderr = stream(&mut chance);
        let mut rejected = Vec::new();
        let mut names = BTreeSet::new();
        for _ in 0..NAMES_EACH {
            match collected(&name(&mut chance)) {
                Ok(name) => drop(names.insert(name)),
                Err(object) => rejected.push(object),
            }
        }
        kept += names.len();
        refused += rejected.len();
        case.artifacts = names.into_iter().map(|name| (name, b"x".to_vec())).collect();
        holds(&mut case, rejected, &key, &quiet, &format!("seed {SEED:#x}, record {number}"));
    }
    println!("{kept} names kept, {refused} rejected, in {RECORDS} records");
    assert!(kept > 800 && kept + refused > 2000, "{kept} {refused}");
}

/// Names that end with each Unicode white space character that a file name may contain.
#[test]
fn a_name_that_ends_with_white_space_withholds_nothing() {
    let scratch = RecordScratch::in_memory();
    let key = scratch.key("keys");
    let quiet = RecordCase::new("Statistics of the weather.", b"done\n", &[]);
    let quiet = markdown(&records::sign(&quiet.statement(), &key).unwrap());
    let spaces =
        (0..=u32::from(char::MAX)).filter_map(char::from_u32).filter(|c| c.is_whitespace());
    let mut count = 0;
    for c in spaces {
        for name in [format!("a{c}"), format!("{c}a"), format!("{c}"), format!("a{c}{c}b")] {
            let Ok(name) = collected(name.as_bytes()) else { continue };
            let mut case =
                RecordCase::new("Statistics of the weather.", b"done\n", &[(&name, b"x")]);
            holds(&mut case, Vec::new(), &key, &quiet, &format!("{name:?}"));
            count += 1;
        }
    }
    assert!(count >= 17 * 4, "{count}");
}

#[test]
fn names_that_look_alike_when_escaped_are_two_names() {
    let scratch = RecordScratch::in_memory();
    let key = scratch.key("keys");
    let quiet = RecordCase::new("Statistics of the weather.", b"done\n", &[]);
    let quiet = markdown(&records::sign(&quiet.statement(), &key).unwrap());
    // A variation selector, which is shown as an escape, and that escape spelled out.
    let names = ["a\u{fe0e}", "a\\u{fe0e}"];
    let mut case =
        RecordCase::new("Statistics of the weather.", b"", &names.map(|name| (name, &b"x"[..])));
    holds(&mut case, Vec::new(), &key, &quiet, "two names");
}

#[test]
fn a_digest_in_a_name_or_a_description_is_no_statement() {
    let scratch = RecordScratch::in_memory();
    let key = scratch.key("keys");
    let digest = "cd".repeat(32);
    let quiet = RecordCase::new("Statistics of the weather.", b"done\n", &[]);
    let quiet = markdown(&records::sign(&quiet.statement(), &key).unwrap());
    let mut case = RecordCase::new("Statistics of the weather.", b"", &[]);
    case.artifacts =
        vec![(format!("x={digest}"), b"x".to_vec()), (format!("y {digest} z"), vec![])];
    let rejected = RejectedObject { path: format!("pipe={digest}"), reason: RejectReason::Fifo };
    holds(&mut case, vec![rejected], &key, &quiet, "digests in names");

    let text = request_text("Statistics.");
    let text = text.replace("Statistics per month.", &format!("As /out/old.json {digest}"));
    case.request = checked(&text).unwrap();
    case.artifacts = vec![("stats.json".to_owned(), b"{}".to_vec())];
    case.collect();
    let md = markdown(&records::sign(&case.statement(), &key).unwrap());
    assert!(md.contains("  Description: [withheld: result.digest]\n"), "{md}");
    assert!(md.contains("- Purpose: Statistics.\n"), "nothing else was withheld");
}

#[test]
fn a_name_of_255_bytes_and_one_of_a_space_verify() {
    let scratch = RecordScratch::in_memory();
    let key = scratch.key("keys");
    let quiet = RecordCase::new("Statistics of the weather.", b"done\n", &[]);
    let quiet = markdown(&records::sign(&quiet.statement(), &key).unwrap());
    let long = "\u{a0}".repeat(127) + " ";
    let names = [long.as_str(), " ", "  ", "..\u{2003}"];
    let mut case =
        RecordCase::new("Statistics of the weather.", b"", &names.map(|name| (name, &b"x"[..])));
    holds(&mut case, Vec::new(), &key, &quiet, "edges");
}

//! Compares the tokenizer with bash: `validator::shell_words` reads the same thousands of lines as
//! bash itself (which never runs a line, see `oracle.bash`) and bashlex.
//! - No compound line may be accepted, and no simple one refused.
//! - An accepted line must have exactly the words that bash sees.
//! - A deliberate refusal of a line that bash accepts belongs to a class of `classes.rs`; any other
//!   difference fails the test.
#![allow(clippy::unwrap_used, reason = "a test that cannot ask its oracles must fail")]

mod classes;
mod generator;
mod lines;
mod oracles;

use std::collections::BTreeMap;

use classes::SYNTAX;
use lines::LineOrigin;
use oracles::{BashReading, DollarUse};
use validator::{Severity, command_words, shell_words};

use crate::skip::skip;

type Counts = BTreeMap<String, usize>;

fn count(counts: &mut Counts, what: impl Into<String>) {
    *counts.entry(what.into()).or_default() += 1;
}

/// Our reading of a line: its words, or the codes of the errors.
type OwnReading = Result<Vec<String>, Vec<String>>;

fn ours(line: &str) -> OwnReading {
    shell_words(line).map_err(|rows| {
        let errors = rows.iter().filter(|row| row.severity == Severity::Error);
        errors.map(|row| row.code.as_str().into_owned()).collect()
    })
}

fn show(title: &str, counts: &Counts) {
    println!("{title}");
    for (what, number) in counts {
        println!("  {number:6} {what}");
    }
}

#[test]
fn every_line_is_read_as_bash_reads_it() {
    if !oracles::bash_works() {
        return skip("every_line_is_read_as_bash_reads_it", "bash is not there");
    }
    let (origins, lines): (Vec<LineOrigin>, Vec<String>) = lines::all().into_iter().unzip();
    let seen = oracles::bash(&lines);
    let (mut origin_counts, mut codes, mut kinds) = <(Counts, Counts, Counts)>::default();
    let mut disagreements = Vec::new();
    for ((origin, line), seen) in origins.iter().zip(&lines).zip(&seen) {
        let ours = ours(line);
        let verdict = if ours.is_ok() { "accepted" } else { "refused" };
        count(&mut origin_counts, format!("{origin:?}: {verdict}"));
        for code in ours.as_ref().err().into_iter().flatten() {
            count(&mut codes, code);
        }
        match compare(line, &ours, seen) {
            Ok(classes) => classes.into_iter().for_each(|class| count(&mut kinds, class)),
            Err(why) => {
                disagreements.push(format!("{why}\n    {line}\n    {ours:?}\n    {seen:?}"))
            }
        }
    }
    println!("{} lines", lines.len());
    show("by origin:", &origin_counts);
    show("refused, by code:", &codes);
    show("refused on purpose though bash would take them:", &kinds);
    println!("disagreements: {}", disagreements.len());
    disagreements.iter().take(40).for_each(|text| println!("{text}"));
    assert!(origins.iter().filter(|origin| **origin == LineOrigin::Generated).count() > 5000);
    assert_eq!(disagreements.len(), 0, "the tokenizer and bash disagree");
}

/// Returns the classes of deliberate differences for the line, or the disagreement.
fn compare(line: &str, ours: &OwnReading, seen: &BashReading) -> Result<Vec<String>, String> {
    match ours {
        Ok(_) if !seen.is_plain() || seen.dollar != DollarUse::None => {
            Err("accepted, but bash sees more than a simple command".to_owned())
        }
        Ok(words) if *words != seen.words => Err("accepted, with other words".to_owned()),
        Ok(_) => Ok(Vec::new()),
        Err(codes) => compare_codes(line, codes, seen),
    }
}

fn compare_codes(line: &str, codes: &[String], seen: &BashReading) -> Result<Vec<String>, String> {
    let has = |code: &str| codes.iter().any(|it| it == code);
    if !seen.is_plain() && !SYNTAX.iter().any(|code| has(code)) {
        return Err("refused, but not for its syntax".to_owned());
    }
    // After a mark, the words differ from those that bash sees.
    if has("command.markup") || has("command.code-fence") {
        let class = classes::of(&codes[0], line, seen).unwrap_or("a mark that is none");
        return Ok(seen.is_plain().then(|| class.to_owned()).into_iter().collect());
    }
    if !(seen.is_words() && seen.is_command() && seen.is_expanded()) {
        return Ok(Vec::new());
    }
    let mut classes = Vec::new();
    // The oracle expands a leading assignment like an argument.
    let argument = !seen.begins_with_assignment();
    for (code, there) in [
        ("command.glob", seen.has_pattern() && argument),
        ("command.expansion", (seen.has_home() || seen.has_braces()) && argument),
        ("command.assignment", seen.begins_with_assignment()),
        ("command.shell", seen.begins_with_keyword()),
    ] {
        if there && !has(code) {
            return Err(format!("bash sees what {code} stands for, and nobody said so"));
        }
        if !there && has(code) && argument {
            let class = classes::of(code, line, seen);
            classes.push(class.ok_or_else(|| format!("{code}, and bash knows nothing of it"))?);
        }
    }
    let judged = ["command.glob", "command.expansion", "command.assignment", "command.shell"];
    for code in codes.iter().filter(|code| !judged.contains(&code.as_str())) {
        let class = classes::of(code, line, seen);
        classes.push(class.ok_or_else(|| format!("{code}, and bash knows nothing of it"))?);
    }
    Ok(classes.into_iter().filter(|_| seen.is_plain()).map(str::to_owned).collect())
}

#[test]
fn every_line_of_the_corpus_is_simple() {
    let wrong: Vec<_> = lines::corpus()
        .into_iter()
        .filter_map(|line| ours(&line).err().map(|codes| (line, codes)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_command_has_the_words_of_the_shell() {
    let mut accepted = 0;
    for (_, line) in lines::all() {
        if let Ok(words) = command_words(&line) {
            accepted += 1;
            assert_eq!(shell_words(&line).as_ref(), Ok(&words), "{line}");
        }
    }
    assert!(accepted > 500, "only {accepted}");
}

#[test]
fn every_line_has_the_structure_that_bashlex_sees() {
    let (_, lines): (Vec<LineOrigin>, Vec<String>) = lines::all().into_iter().unzip();
    let parsed = match oracles::bashlex(&lines) {
        Ok(parsed) => parsed,
        Err(why) => return skip("every_line_has_the_structure_that_bashlex_sees", &why),
    };
    let mut kinds = Counts::default();
    let mut disagreements = Vec::new();
    for (line, parsed) in lines.iter().zip(&parsed) {
        let ours = ours(line);
        match classes::of_bashlex(line, &ours, parsed) {
            Some(class) => count(&mut kinds, class),
            None => disagreements.push(format!("{line}\n    {ours:?}\n    {parsed:?}")),
        }
    }
    show("bashlex:", &kinds);
    println!("disagreements: {}", disagreements.len());
    disagreements.iter().take(40).for_each(|text| println!("{text}"));
    assert_eq!(disagreements.len(), 0, "the tokenizer and bashlex disagree");
}

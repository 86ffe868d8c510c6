//! Printing: an accepted request prints as text that reads back as the same request, and so does a
//! composition. Quoted words split into the same words, here and in bash.
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use crate::composed;
use crate::support;

use std::process::Command;

use composed::{accepted_texts, composition, sentence};
use model::UtcTime;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use validator::{
    Composition, Draft, DraftCheck, FileLocation, OneLine, OwnerUid, Request, Severity, Violation,
    command_words, quote_words,
};

fn check(text: &str, name: &str, now: UtcTime) -> DraftCheck {
    let draft = Draft::new(text.as_bytes().to_vec(), name, OwnerUid::new(1000)).unwrap();
    draft.check(FileLocation::Spool, now)
}

/// Returns true for rules about content, which random text may break by chance.
fn is_about_content(violation: &Violation) -> bool {
    let code = violation.code.as_str();
    ["secret.", "package.", "path."].iter().any(|family| code.starts_with(family))
        || code == "text.confusable"
        // An answer may contain an HTML comment, which a composition keeps.
        || code == "section.hidden"
        // A word may look like an HTML element, which quoting keeps.
        || code == "command.markup"
        // By chance, prose may instruct to run a shell. A command that runs one is excluded.
        || code == "command.shell" && violation.message.starts_with("text:")
}

fn refuses_content(checked: &DraftCheck) -> bool {
    let mut errors = checked.violations.iter().filter(|it| it.severity == Severity::Error);
    checked.verdict.is_err() && errors.all(is_about_content)
}

#[track_caller]
fn assert_same(one: &Request, other: &Request) {
    assert_eq!(Composition::of(one), Composition::of(other));
    assert_eq!(one.argv(), other.argv());
    assert_eq!(one.intent_sha256(), other.intent_sha256());
    assert_eq!(one.work(), other.work());
    assert_eq!(one.inputs(), other.inputs());
    assert_eq!(one.outputs_expected(), other.outputs_expected());
    assert_eq!(one.constraints(), other.constraints());
    assert_eq!(one.network(), other.network());
    assert_eq!(one.risk(), other.risk());
    assert_eq!(one.agent(), other.agent());
    assert_eq!(one.environment(), other.environment());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_composition_is_accepted_and_reads_back_the_same(composition in composition()) {
        let text = composition.to_text();
        let name = format!("{}.md", composition.id);
        let now = composition.approval.as_ref().unwrap().1;
        let checked = check(&text, &name, now);
        prop_assume!(!refuses_content(&checked));
        let rows = checked.violations;
        let request = checked.verdict.map_err(|_| TestCaseError::fail(format!("{rows:#?}\n{text}")))?;
        prop_assert_eq!(Composition::of(&request).unwrap(), composition);
        prop_assert_eq!(request.to_text().unwrap(), text, "printing is stable");
    }

    #[test]
    fn quoted_words_split_into_the_same_words(words in vec(prop_oneof![sentence(), "[!-~]{0,4}", "[ -~]{0,9}"], 1..6)) {
        let line = quote_words(&words).unwrap();
        match command_words(line.as_str()) {
            Ok(found) => prop_assert_eq!(found, words),
            // The content of the words may be refused, but not their splitting.
            Err(rows) => {
                for row in rows.iter().filter(|row| row.severity == Severity::Error) {
                    let code = row.code.as_str();
                    let expected = is_about_content(row)
                        || ["command.shell", "command.empty"].contains(&code.as_ref());
                    prop_assert!(expected, "{}: {:?}", line, row);
                }
            }
        }
    }
}

#[test]
fn an_accepted_request_prints_as_the_same_request() {
    let name = format!("{}.md", support::ID);
    for text in accepted_texts() {
        let checked = support::checked(&text);
        let request = checked.verdict.ok();
        let request = request.unwrap_or_else(|| panic!("{:#?}\n{text}", checked.violations));
        let printed = request.to_text().unwrap();
        let again = check(&printed, &name, support::now()).verdict.ok().unwrap();
        assert_same(&request, &again);
        assert_eq!(again.to_text().unwrap(), printed);
    }
}

#[test]
fn a_request_that_would_read_differently_is_not_printed() {
    // It fits on one line, but not with one host per line.
    let hosts: Vec<String> = (0..7000).map(|index| format!("a{index:x}.b")).collect();
    let text = support::with("network: \"none\"", "network: allowlist");
    let text = text.replace("rationale:` none", "rationale:` reads tables");
    let text = text.replace("[]", &format!("[{}]", hosts.join(",")));
    let request = support::checked(&text).verdict.ok().unwrap();
    assert!(request.to_text().is_err());
}

#[test]
fn the_printed_form() {
    let request = support::checked(support::valid()).verdict.ok().unwrap();
    let text = request.to_text().unwrap();
    for (part, count) in [
        ("\nrequest_id: \"TR-20260209-160501Z-python-stats\"\n", 1),
        ("\n## Command\n\npython -u script.py --in /in/input.csv --out /out/output.json\n\n", 1),
        (&format!("\n- /in/script.py sha256: {}\n", support::HASH), 1),
        ("\n- /out/output.json\n", 1),
        ("\n- Justification: reads one table and writes its mean\n", 1),
        ("x-", 0),
    ] {
        assert_eq!(text.matches(part).count(), count, "{part}\n{text}");
    }
}

#[test]
fn the_printed_form_of_an_environment() {
    let environment = format!("charts@sha256:{}", support::HASH);
    let line = format!("x-environment: {environment}\nconstraints:\n");
    let request = support::checked(support::with("constraints:\n", &line)).verdict.ok().unwrap();
    let text = request.to_text().unwrap();
    assert_eq!(text.matches(&format!("\nx-environment: \"{environment}\"\n---\n")).count(), 1);
    let again = support::checked(&text).verdict.ok().unwrap();
    assert_same(&request, &again);
    assert_eq!(again.environment().map(ToString::to_string), Some(environment));
}

#[test]
fn the_printed_form_of_a_patch() {
    let request = support::checked(support::with_patch("input.csv/")).verdict.ok().unwrap();
    let text = request.to_text().unwrap();
    let lines = "\n    description: \"the statistics\"\n    x-patch-of: \"input.csv/\"\n";
    assert_eq!(text.matches(lines).count(), 1, "{text}");
    let again = support::checked(&text).verdict.ok().unwrap();
    assert_same(&request, &again);
    assert_eq!(again.patch(), request.patch());
}

#[test]
fn an_unapproved_composition_lacks_its_approval_only() {
    let request = support::checked(support::valid()).verdict.ok().unwrap();
    let mut composition = Composition::of(&request).unwrap();
    composition.approval = None;
    let text = composition.to_text();
    assert!(text.contains("\napproved_by: \"\"\napproved_utc: \"\"\n"), "{text}");
    assert_eq!(support::errors(text), ["approval.missing"]);
}

#[test]
fn a_word_becomes_nothing_else() {
    let quoted = |words: &[&str]| quote_words(words).unwrap().to_string();
    assert_eq!(quoted(&["python", "-u", "a.py", "--out=/out/x"]), "python -u a.py --out=/out/x");
    assert_eq!(quoted(&["a", "", "it's", "a b", "é"]), r"a '' 'it'\''s' 'a b' 'é'");
    assert_eq!(quoted(&["x=1", "x=1"]), "'x=1' x=1");
    assert_eq!(quoted(&["if", "if"]), "'if' if");
    assert_eq!(quoted(&["-", "-"]), "'-' -");
    assert_eq!(quoted(&["1.", "#", "~", "{a,b}"]), "'1.' '#' '~' '{a,b}'");
}

#[test]
fn text_with_a_line_end_is_refused() {
    for text in ["a\nb", "a\rb", "\u{1b}[31m", "a\0", "a\u{2028}b", "a\u{85}b"] {
        assert!(text.parse::<OneLine>().is_err(), "{text:?}");
        assert!(quote_words(&["echo", text]).is_err(), "{text:?}");
    }
    assert!("a\tb".parse::<OneLine>().is_ok());
    let error_of = |text: &str| text.parse::<OneLine>().unwrap_err().to_string();
    assert_eq!(error_of("a\nb"), "more than one line");
    assert_eq!(error_of("\u{7}"), "contains the control character \\u{7}");
}

#[test]
fn bash_splits_quoted_words_as_we_do() {
    let mut runner = TestRunner::deterministic();
    let lists = vec(vec(prop_oneof![sentence(), "[ -~]{0,9}"], 1..6), 300);
    let lists = lists.new_tree(&mut runner).unwrap().current();
    // The function replaces a command of any name without a slash.
    let mut script = String::new();
    for words in &lists {
        let line = quote_words(words).unwrap();
        script.push_str(&format!("printf '%s\\0' {line}; printf '\\n\\0'\n"));
    }
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let want: String = lists
        .iter()
        .map(|words| words.iter().map(|word| format!("{word}\0")).collect::<String>() + "\n\0")
        .collect();
    assert_eq!(printed, want);
}

#[test]
fn bash_takes_the_first_word_for_a_command_name() {
    for name in ["if", "time", "x=1", "[[", "{", "!", "coproc", "a b", "-", "~", "1.", "#x"] {
        let line = quote_words(&[name, "a b"]).unwrap();
        let script =
            format!("PATH=/nowhere; command_not_found_handle() {{ printf '%s|' \"$@\"; }}; {line}");
        let output = Command::new("bash").args(["-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{name}|a b|"), "{line}");
    }
}

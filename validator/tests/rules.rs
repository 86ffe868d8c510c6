//! Executes the documentation of the rules: each example has its documented outcome, each code has
//! examples, docs/rules.md is current. Only an example that no text can show may be skipped.
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]
#![allow(clippy::disallowed_methods, reason = "docs/rules.md is written on request, by a person")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use model::UtcTime;
use validator::rule_docs::{self, Base, DecidedBy, ExpectedFinding, RuleExample, RuleSeverity};
use validator::{ApprovalRequirement, Code, RuleDoc, Severity, Violation};

fn now() -> UtcTime {
    "2026-02-09T18:00:00Z".parse().unwrap()
}

fn lint(bytes: &[u8], file_name: &str) -> Vec<Violation> {
    validator::lint(bytes, file_name, ApprovalRequirement::Approved, now()).1
}

fn codes(rows: &[Violation], severity: Severity) -> Vec<String> {
    let rows = rows.iter().filter(|row| row.severity == severity);
    let mut codes: Vec<String> = rows.map(|row| row.code.as_str().into_owned()).collect();
    codes.sort();
    codes.dedup();
    codes
}

/// Returns the defect of an example, if any.
fn defect(rule: &RuleDoc, case: &RuleExample) -> Option<String> {
    let document = case.document()?;
    let rows = lint(&document.bytes, &document.file_name);
    let ours = |row: &&Violation| std::ptr::eq(RuleDoc::of(row.code), rule);
    let of = |severity| rows.iter().filter(ours).filter(|row| row.severity == severity).count();
    let errors = rows.iter().filter(|row| row.severity == Severity::Error).count();
    let fits = match case.expected() {
        ExpectedFinding::Error => of(Severity::Error) > 0 && of(Severity::Error) == errors,
        ExpectedFinding::Warning => errors == 0 && of(Severity::Warning) > 0,
        ExpectedFinding::Nothing => errors == 0 && of(Severity::Warning) == 0,
    };
    (!fits).then(|| {
        format!(
            "{} {:?} ({}): errors {:?}, warnings {:?}",
            rule.code().as_str(),
            case.caption(),
            if case.expected() == ExpectedFinding::Nothing { "accept" } else { "reject" },
            codes(&rows, Severity::Error),
            codes(&rows, Severity::Warning),
        )
    })
}

#[test]
fn the_bases_are_valid() {
    for base in [Base::Request, Base::Monty, Base::Result, Base::Standing] {
        let rows = lint(base.text().as_bytes(), base.file_name());
        assert!(rows.is_empty(), "{base:?}: {rows:?}");
    }
    // The examples are assembled from parts; no text may get lost.
    let unchanged = RuleDoc::of(Code::FrontmatterMissing).accepts().next().unwrap();
    assert_eq!(unchanged.document().unwrap().bytes, Base::Request.text().as_bytes());
}

#[test]
fn every_example_has_its_documented_outcome() {
    let mut wrong = Vec::new();
    let mut executed = 0;
    for rule in rule_docs::all() {
        for case in rule.examples() {
            executed += usize::from(case.document().is_some());
            wrong.extend(defect(rule, case));
        }
    }
    assert!(wrong.is_empty(), "{} of {executed}:\n{}", wrong.len(), wrong.join("\n"));
    println!("{executed} examples executed");
}

#[test]
fn every_code_has_examples_of_both_kinds() {
    println!("{:<30} {:>7} {:>7}", "code", "rejects", "accepts");
    for rule in rule_docs::all() {
        let code = rule.code().as_str();
        let (rejects, accepts) = (rule.rejects().count(), rule.accepts().count());
        println!("{code:<30} {rejects:>7} {accepts:>7}");
        for case in rule.rejects() {
            let never = match case.expected() {
                ExpectedFinding::Error => RuleSeverity::Warning,
                _ => RuleSeverity::Error,
            };
            assert_ne!(rule.severity(), never, "{code}: {}", case.caption());
        }
        assert!(rejects >= 2 && accepts >= 2, "{code}: {rejects} rejects, {accepts} accepts");
        let described = rule.examples().iter().filter(|case| case.document().is_none()).count();
        let wanted =
            if rule.decided_by().contains(&DecidedBy::Text) { 0 } else { rule.examples().len() };
        assert_eq!(
            described, wanted,
            "{code}: examples in words are for what is decided elsewhere"
        );
    }
}

#[test]
fn every_code_is_documented_in_its_own_words() {
    let mut whys: BTreeMap<&str, String> = BTreeMap::new();
    for rule in rule_docs::all() {
        let code = rule.code().as_str().into_owned();
        assert!(std::ptr::eq(RuleDoc::of(rule.code()), rule), "{code} has the text of another");
        for text in [rule.why(), rule.remedy(), rule.source(), rule.meaning()] {
            assert!(text.len() > 10 && !text.contains("  "), "{code}: {text:?}");
        }
        let sentences = rule.why().matches(". ").count() + 1;
        assert!(rule.why().ends_with('.') && sentences <= 3, "{code}: {sentences} sentences");
        if let Some(other) = whys.insert(rule.why(), code.clone()) {
            panic!("{other} and {code} have the same why");
        }
    }
    assert_eq!(whys.len(), Code::ALL.len() + 4);
}

#[test]
fn a_rule_fits_a_terminal() {
    for rule in rule_docs::all() {
        let code = rule.code().as_str();
        let output = rule.explain(&code);
        assert!(output.starts_with(&format!("{code}: {}\n\n", rule.meaning())), "{output}");
        for line in output.lines().skip(1) {
            assert!(line.chars().count() <= 80, "{code}: {line}");
            assert!(!line.contains(|c: char| c.is_control()), "{code}: {line:?}");
        }
        for part in ["\nSeverity:", "\nWhy: ", "\nBad: ", "\nGood: ", "\nWhat to do: ", "\nSource:"]
        {
            assert_eq!(output.matches(part).count(), 1, "{code}: {part:?} in\n{output}");
        }
    }
    let output = RuleDoc::of(Code::TextBidi).explain("text.bidi");
    assert!(output.contains("Statistics \\u{202e}elbat"), "{output}");
}

#[test]
fn a_rule_is_found_by_its_name() {
    for rule in rule_docs::all().filter(|rule| rule.members().is_empty()) {
        let code = rule.code().as_str().replace(['<', '>'], "");
        assert!(std::ptr::eq(RuleDoc::named(&code).unwrap(), rule), "{code}");
    }
    for name in ["secret.aws-key", "secret.password", "layer.cgroup", "layer.landlock.fs"] {
        assert_eq!(RuleDoc::named(name).unwrap().explain(name).split(':').next(), Some(name));
    }
    for name in ["", "secret", "secret.", "secret.<kind>", "layer.roof", "gate.A\u{1b}", "command"]
    {
        assert!(RuleDoc::named(name).is_none(), "{name:?}");
    }
}

#[test]
fn similar_codes_are_suggested() {
    for (name, first) in [
        ("command.pipelin", "command.pipeline"),
        ("comand.glob", "command.glob"),
        ("COMMAND.GLOB", "command.glob"),
        ("chaining", "command.chaining"),
        ("secret.aws-ky", "secret.aws-key"),
        ("layer.cgroups", "layer.cgroup"),
    ] {
        assert_eq!(
            rule_docs::similar_codes(name).first().map(String::as_str),
            Some(first),
            "{name}"
        );
    }
    let family = rule_docs::similar_codes("risk.no-such-thing-at-all");
    assert!(family.len() > 2 && family.iter().all(|code| code.starts_with("risk.")), "{family:?}");
    assert_eq!(rule_docs::similar_codes(&"x".repeat(1 << 20)), [""; 0]);
}

#[test]
fn docs_rules_md_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/rules.md");
    let made = rule_docs::markdown();
    if std::env::var_os("TOOLEXEC_WRITE_DOCS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &made).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let differ = written.lines().zip(made.lines()).position(|(a, b)| a != b);
    let line = differ.unwrap_or(written.lines().count().min(made.lines().count())) + 1;
    assert!(
        written == made,
        "docs/rules.md differs from line {line} on; its first lines say how to write it anew"
    );
}

/// The message, the position and the hint of every violation in the examples.
#[test]
fn example_violations_match_the_snapshot() {
    let mut text = String::new();
    for rule in rule_docs::all() {
        for case in rule.rejects() {
            let Some(document) = case.document() else { continue };
            writeln!(text, "{}: {}", rule.code().as_str(), case.caption()).unwrap();
            for row in lint(&document.bytes, &document.file_name) {
                let (code, severity) = (row.code.as_str(), row.severity.as_str());
                writeln!(text, "    {severity}[{code}] {}:{}", row.line, row.column).unwrap();
                writeln!(text, "        {}", row.message).unwrap();
                if let Some(hint) = row.hint {
                    writeln!(text, "        help: {hint}").unwrap();
                }
            }
        }
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/snapshots/violations.txt");
    let expected = snapbox::Data::read_from(&file, Some(snapbox::data::DataFormat::Text));
    snapbox::assert_data_eq!(text, expected.raw());
}

//! Renders the documentation as text: for a terminal, and as the Markdown of docs/rules.md. Both
//! show the examples unchanged, except that invisible characters are escaped.

use std::fmt::Write;

use model::escape_line;

use super::base::Base;
use super::{ExampleChange, ExpectedFinding, RuleDoc, RuleExample, all};

const COLUMNS: usize = 80;
const INDENT: &str = "    ";
const MARKS: &str = "«x × 3» means x three times, ⏎ in it a line end, «byte ff» one byte.";

impl RuleDoc {
    /// Renders the rule for a terminal of 80 columns, with one bad and one good example. `name` is
    /// the requested code, for a family that of a member. Only the first line may be longer.
    #[must_use]
    pub fn explain(&self, name: &str) -> String {
        let mut out = format!("{name}: {}\n\n", self.meaning());
        label(&mut out, "Severity", &self.severity.to_string());
        label(&mut out, "Decided by", &self.deciders());
        label(&mut out, "Source", self.source);
        let member = self.members().into_iter().find(|member| self.is_code_of(member, name));
        if let Some(member) = member {
            label(&mut out, "Kind", member.what);
        }
        paragraph(&mut out, &format!("Why: {}", self.why));
        let mut marks = false;
        for (word, case) in [("Bad", self.rejects().next()), ("Good", self.accepts().next())] {
            let Some(case) = case else { continue };
            paragraph(&mut out, &format!("{word}: {}", case.caption()));
            out.push('\n');
            for line in case.shown(COLUMNS - INDENT.len()) {
                out.push_str(format!("{INDENT}{line}").trim_end());
                out.push('\n');
            }
            marks |= case.has_marks();
        }
        if marks {
            paragraph(&mut out, &format!("({MARKS})"));
        }
        paragraph(&mut out, &format!("What to do: {}", self.remedy));
        out
    }

    fn deciders(&self) -> String {
        let names: Vec<&str> = self.decided_by.iter().map(|by| by.as_str()).collect();
        names.join(", ")
    }

    fn section(&self, out: &mut String) {
        let name = self.code.as_str();
        put(out, format_args!("\n### `{name}`\n\n{}\n\n", self.meaning()));
        put(out, format_args!("- Severity: {}\n", self.severity));
        put(out, format_args!("- Decided by: {}\n", self.deciders()));
        put(out, format_args!("- Source: {}\n", self.source));
        put(out, format_args!("\n**Why.** {}\n\n**What to do.** {}\n", self.why, self.remedy));
        if !self.members().is_empty() {
            out.push_str("\nThe last word is one of:\n\n");
        }
        for member in self.members() {
            put(out, format_args!("- `{}`: {}\n", member.name, member.what));
        }
        for (title, cases) in [
            ("Rejected", self.rejects().collect::<Vec<_>>()),
            ("Accepted", self.accepts().collect::<Vec<_>>()),
        ] {
            for case in cases {
                let base = match case.base() {
                    Base::Request => "",
                    Base::Monty => " (monty request)",
                    Base::Result => " (result)",
                    Base::Standing => " (standing approval)",
                };
                let warning = match case.expected() {
                    ExpectedFinding::Warning => ", as a warning",
                    _ => "",
                };
                put(out, format_args!("\n{title}{warning}{base}: {}\n\n", case.caption()));
                for line in case.shown(usize::MAX) {
                    out.push_str(format!("{INDENT}{line}").trim_end());
                    out.push('\n');
                }
            }
        }
    }
}

impl RuleExample {
    /// Returns the lines to show; a description is wrapped, a document never.
    fn shown(&self, columns: usize) -> Vec<String> {
        let mut lines = Vec::new();
        match self.example() {
            ExampleChange::Situation(text) => lines.extend(wrap(text, columns)),
            example => show(&example, &mut lines),
        }
        lines
    }

    fn has_marks(&self) -> bool {
        self.shown(COLUMNS).iter().any(|line| line.contains('«'))
    }
}

fn show(example: &ExampleChange, lines: &mut Vec<String>) {
    let visible = |line: &str| escape_line(line).replace('\t', "\\t");
    let mut add = |text: &str| lines.extend(text.split('\n').map(visible));
    match *example {
        ExampleChange::Front(key, "") => add(&format!("(no `{key}`)")),
        ExampleChange::Risk(start, "") => add(&format!("(no line `{start}:`)")),
        ExampleChange::Command("") => add("(nothing)"),
        ExampleChange::Command(text)
        | ExampleChange::Front(_, text)
        | ExampleChange::Risk(_, text)
        | ExampleChange::Prose(text)
        | ExampleChange::FileName(text)
        | ExampleChange::Situation(text) => add(text),
        ExampleChange::Section(title, text) => add(&format!("## {title}\n\n{text}")),
        ExampleChange::Top("\n") => add("(an empty line)\n---\nrequest_type: tool_request\n…"),
        ExampleChange::Top(text) => add(&format!("{text}---\nrequest_type: tool_request\n…")),
        ExampleChange::Sections(titles) => {
            titles.iter().for_each(|title| add(&format!("## {title}\n…")))
        }
        ExampleChange::All(examples) => {
            for (index, example) in examples.iter().enumerate() {
                if index > 0 {
                    lines.push("…".to_owned());
                }
                show(example, lines);
            }
        }
    }
}

/// Renders docs/rules.md.
#[must_use]
pub fn markdown() -> String {
    let mut out = String::from(INTRODUCTION);
    for (title, text) in [
        ("A valid request", Base::Request.text()),
        ("A valid request for the monty backend", Base::Monty.text()),
        ("A valid result", Base::Result.text()),
    ] {
        put(&mut out, format_args!("\n### {title}\n\n"));
        for line in text.lines() {
            out.push_str(format!("{INDENT}{line}").trim_end());
            out.push('\n');
        }
    }
    out.push_str("\n## All codes\n\n");
    out.push_str("| Code | Severity | Decided by | Reject cases | Accept cases |\n");
    out.push_str("|---|---|---|---:|---:|\n");
    for rule in all() {
        let name = rule.code().as_str();
        let (rejects, accepts) = (rule.rejects().count(), rule.accepts().count());
        let anchor: String =
            name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let (severity, by) = (rule.severity(), rule.deciders());
        let row =
            format_args!("| [`{name}`](#{anchor}) | {severity} | {by} | {rejects} | {accepts} |\n");
        put(&mut out, row);
    }
    let mut family = String::new();
    for rule in all() {
        let name = rule.code().as_str();
        let head = name.split('.').next().unwrap_or_default();
        if head != family {
            head.clone_into(&mut family);
            put(&mut out, format_args!("\n## {family}\n"));
        }
        rule.section(&mut out);
    }
    out
}

const INTRODUCTION: &str = "\
<!-- Made from validator/src/rule_docs; do not edit. To write it anew:
TOOLEXEC_WRITE_DOCS=1 cargo test -p validator rules -->

# The rules

Every violation that TOOL-EXEC reports has a stable code. A code may be added; it is never renamed
and never given a second meaning. `toolexec lint --explain CODE` prints the text of one code.

A document is UTF-8 without a byte order mark, of at most 256 KiB (a result: 4 MiB). Its lines may
end with a line feed or with a carriage return and a line feed; digests and signatures are always
over the bytes as they are.

An *error* makes a document invalid. A *warning* is for the person who reads it. Instructions are
judged strictly, prose is not: a request may explain why it does without a forbidden thing, so a
mere mention of a host path or of an installation is a warning.

*Decided by* names the input of the decision. If the text alone decides, `toolexec lint` reports
the violation without running anything. Other violations need the policy, the spool or the host and
are reported when the request is submitted or run; their examples are described in words.
`limits.ceiling` is reported by lint for the policy of `--policy`, by default for the built-in one.
With `--policy`, lint also reports the languages, ceilings, hosts and constraints of the request
that this policy does not permit.

Every other example is one of the three documents below with the shown part replaced; the tests
execute each. `«x × 3»` means x three times, `⏎` in it a line end, and `«byte ff»` one byte.
Invisible characters are written `\\u{…}`, a tab `\\t`.

## The documents behind the examples
";

fn label(out: &mut String, name: &str, text: &str) {
    let mut indent = format!("{:<12}", format!("{name}:"));
    for line in wrap(text, COLUMNS - indent.len()) {
        put(out, format_args!("{indent}{line}\n"));
        indent = " ".repeat(indent.len());
    }
}

fn paragraph(out: &mut String, text: &str) {
    out.push('\n');
    for line in wrap(text, COLUMNS) {
        put(out, format_args!("{line}\n"));
    }
}

fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut free = 0;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        match lines.last_mut().filter(|_| free > width) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
                free -= width + 1;
            }
            None => {
                lines.push(word.to_owned());
                free = columns.saturating_sub(width);
            }
        }
    }
    lines
}

/// Writing into a string cannot fail.
fn put(out: &mut String, what: std::fmt::Arguments<'_>) {
    out.write_fmt(what).unwrap_or_default();
}

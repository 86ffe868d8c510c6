//! Findings as users see them: line, caret, fix. They show no secret and control no terminal.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toolexec_tests::{Bench, CliOutput, RequestText};

fn good() -> RequestText {
    RequestText::python("pass")
}

fn command(bench: &Bench) -> Command {
    let mut command = bench.command("toolexec");
    command.arg("lint");
    command
}

fn lint(bench: &Bench, files: &[&PathBuf]) -> CliOutput {
    CliOutput::of(command(bench).args(files))
}

/// Returns the finding with this code: title, location, source line and carets.
#[track_caller]
fn finding<'a>(output: &'a CliOutput, code: &str) -> [&'a str; 4] {
    let title = format!("[{code}]: ");
    let mut lines = output.stdout.lines().skip_while(|line| !line.contains(&title));
    let mut next = || lines.next().unwrap_or_else(|| panic!("no {code} in {output:#?}"));
    let (title, place) = (next(), next());
    assert!(next().ends_with(" |"), "{output:#?}");
    let behind = |line: &'a str| line.split_once("| ").unwrap_or_else(|| panic!("{output:#?}")).1;
    [title, place, behind(next()), behind(next())]
}

/// Returns the text above the carets. Every character is one column wide.
fn marked(source: &str, carets: &str) -> String {
    let start = carets.find('^').unwrap();
    source.chars().skip(start).take(carets.trim().len()).collect()
}

fn line_of(text: &str, words: &str) -> usize {
    text.lines().position(|line| line.contains(words)).unwrap() + 1
}

#[test]
fn a_person_sees_the_place_and_what_to_do() {
    let bench = Bench::new();
    let request = good().command("python script.py | sort");
    let line = line_of(&request.text(), "| sort");
    let path = bench.save(&request).path;
    let output = lint(&bench, &[&path]);
    output.assert_code(2);
    let [title, place, source, carets] = finding(&output, "command.pipeline");
    assert!(title.starts_with("error[command.pipeline]: command: "), "{title}");
    let column = "python script.py ".len() + 1;
    assert_eq!(place.trim_start(), format!("--> {}:{line}:{column}", path.display()));
    assert_eq!((source, carets), ("python script.py | sort", "                 ^"));
    assert!(output.stdout.contains(" = help: let the tool write to /out, "), "{output:#?}");
    let mut last = output.stdout.lines().rev();
    assert_eq!(last.next(), Some("try: toolexec lint --explain command.pipeline"));
    let verdict = format!("{}: invalid request: 1 error, 0 warnings", path.display());
    assert_eq!(last.next(), Some(verdict.as_str()));
}

#[test]
fn a_word_is_underlined_whole_and_the_advice_is_printed_once() {
    let bench = Bench::new();
    let fine = bench.save(&good()).path;
    let undeclared = bench.save(&good().command("python other.py")).path;
    let level = bench.save(&good().edit("network: \"none\"", "network: \"some\"")).path;
    let output = lint(&bench, &[&undeclared, &fine, &level]);
    output.assert_code(2);
    let [_, _, source, carets] = finding(&output, "command.undeclared-file");
    assert_eq!(marked(source, carets), "other.py");
    let [_, _, source, carets] = finding(&output, "network.value");
    assert_eq!(marked(source, carets), "\"some\"");
    assert_eq!(output.stdout.matches("try: ").count(), 1, "{output:#?}");
    assert!(output.stdout.contains(&format!("{}: valid request: ", fine.display())), "{output:#?}");
}

#[test]
fn a_finding_about_the_whole_file_has_no_line() {
    let bench = Bench::new();
    let path = bench.save(&good().edit("## Risk Assessment", "## Risks")).path;
    let output = lint(&bench, &[&path]);
    let mut lines = output.stdout.lines();
    assert!(lines.next().unwrap().starts_with("error[section.missing]: "), "{output:#?}");
    assert_eq!(lines.next().unwrap().trim_start(), format!("--> {}", path.display()));
}

#[test]
fn hostile_text_is_escaped() {
    let bench = Bench::new();
    let path = bench.save(&good().edit("\"A test.\"", "\"A \u{1b}[31mtest\u{202e}.\"")).path;
    let hostile = bench.scratch().file("a\u{1b}[31m\n\u{202e}.md", "text\n");
    let output = lint(&bench, &[&path, &hostile]);
    output.assert_code(2);
    let [_, _, source, carets] = finding(&output, "text.control");
    assert!(source.ends_with(r#"A \u{1b}[31mtest\u{202e}.""#), "{source}");
    assert_eq!(marked(source, carets), r"\u{1b}");
    let [_, _, source, carets] = finding(&output, "text.bidi");
    assert_eq!(marked(source, carets), r"\u{202e}");
    assert!(!output.stdout.contains(['\u{1b}', '\u{202e}']), "{output:#?}");
    assert!(output.stdout.contains(r"a\u{1b}[31m\u{a}\u{202e}.md: invalid"), "{output:#?}");
}

#[test]
fn a_caret_stands_below_tabs_and_wide_letters() {
    let bench = Bench::new();
    let path = bench.save(&good().command("python script.py 日本\t| sort")).path;
    let output = lint(&bench, &[&path]);
    let [_, place, source, carets] = finding(&output, "command.pipeline");
    assert!(place.ends_with(":21"), "in characters of the file: {place}");
    assert_eq!(source, "python script.py 日本    | sort");
    assert_eq!(carets.find('^'), Some("python script.py ".len() + 2 * 2 + 4), "{output:#?}");
}

#[test]
fn a_long_line_is_cut_around_the_place() {
    let bench = Bench::new();
    let command = format!("python script.py {} | sort {}", "a".repeat(9000), "b".repeat(9000));
    let path = bench.save(&good().command(&command)).path;
    let output = lint(&bench, &[&path]);
    let [_, _, source, carets] = finding(&output, "command.pipeline");
    assert!(source.starts_with("…aaa") && source.ends_with("bbb…"), "{source}");
    assert_eq!(marked(source, carets), "|");
    let path = bench.save(&good().command(&format!("python {}", "c".repeat(9000)))).path;
    let cut = lint(&bench, &[&path]);
    let [_, _, source, carets] = finding(&cut, "command.undeclared-file");
    assert!(source.ends_with("ccc…") && carets.ends_with("^^^"), "{cut:#?}");
    for line in output.stdout.lines().chain(cut.stdout.lines()).filter(|line| line.contains(" | "))
    {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn a_secret_is_masked_wherever_its_line_is_shown() {
    let bench = Bench::new();
    let (one, two) = ("AKIAABCDEFGHIJKLMNOP", "AKIAZYXWVUTSRQPONMLK");
    let secret = format!("python script.py {one} {two} | sort /in/{two}.csv");
    let path = bench.save(&good().command(&secret)).path;
    let output = lint(&bench, &[&path]);
    let [_, _, source, carets] = finding(&output, "secret.aws-key");
    assert_eq!(marked(source, carets), "********");
    assert!(source.starts_with("python script.py ********"), "{source}");
    finding(&output, "command.pipeline");
    finding(&output, "command.undeclared-file");
    let mut sarif = command(&bench);
    let sarif = CliOutput::of(sarif.args(["--format", "sarif"]).arg(&path));
    for text in [&output.stdout, &sarif.stdout] {
        assert!(!text.contains("AKIA"), "{text}");
    }
}

#[test]
fn a_secret_is_masked_where_the_report_is_too_long_to_name_it() {
    let bench = Bench::new();
    let lines = format!("\u{202e} AKIAABCDEFGHIJKLMNOP\n{}", "\u{202e}\n".repeat(600));
    let output = lint(&bench, &[&bench.save(&good().edit("# A test\n", &lines)).path]);
    assert!(finding(&output, "text.bidi")[2].ends_with("********"), "{output:#?}");
    assert!(!output.stdout.contains("AKIA"), "{output:#?}");
}

#[test]
fn the_lines_of_a_private_key_are_not_shown() {
    let bench = Bench::new();
    let key =
        "-----BEGIN RSA PRIVATE KEY-----\nMIIB pip install it\n-----END RSA PRIVATE KEY-----\n";
    let request = good().edit("# A test\n", &format!("# A test\n\n{key}pip install all\n"));
    let output = lint(&bench, &[&bench.save(&request).path]);
    assert_eq!(finding(&output, "secret.private-key")[2], "********");
    assert!(!output.stdout.contains("MIIB"), "{output:#?}");
    assert_eq!(output.stdout.matches("[package.install]").count(), 2, "{output:#?}");
    assert!(output.stdout.contains("| pip install all\n"), "the key has an end: {output:#?}");
}

#[test]
fn findings_of_a_hopeless_file_are_limited() {
    let bench = Bench::new();
    let lines = "a \u{200b} b\n".repeat(120);
    let path = bench.save(&good().edit("# A test\n", &lines).edit("level: low", "level: x")).path;
    let output = lint(&bench, &[&path]);
    output.assert_code(2);
    finding(&output, "risk.level");
    assert_eq!(output.stdout.matches("warning[text.confusable]").count(), 99, "{output:#?}");
    assert!(output.stdout.contains("\n… and 21 more\n"), "{output:#?}");
    let output = CliOutput::of(command(&bench).args(["--format", "json"]).arg(&path));
    assert_eq!(output.json()["violations"].as_array().unwrap().len(), 121);
}

#[test]
fn colour_is_for_terminals() {
    let bench = Bench::new();
    let path = bench.save(&good().command("python script.py | sort")).path;
    let coloured = |set: &[(&str, &str)]| {
        let output = CliOutput::of(command(&bench).envs(set.iter().copied()).arg(&path));
        output.assert_code(2);
        output.stdout.contains('\u{1b}')
    };
    assert!(!coloured(&[]));
    assert!(coloured(&[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "0")]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn the_picture_in_the_documents_is_what_lint_prints() {
    const FILE: &str = "docs/pictures/TR-20260209-160501Z-faulty.md";
    let bench = Bench::new();
    let output = CliOutput::of(
        command(&bench)
            .env("CLICOLOR_FORCE", "1")
            .arg(FILE)
            .current_dir(toolexec_tests::workspace()),
    );
    output.assert_code(2);
    let drawn = Command::new(workspace_file("docs/pictures/draw.py"))
        .arg(format!("$ toolexec lint {FILE}"))
        .stdin(fs::File::open(bench.scratch().file("said", &output.stdout)).unwrap())
        .output()
        .unwrap();
    assert!(drawn.status.success(), "{drawn:?}");
    let shown = fs::read_to_string(workspace_file("docs/pictures/lint.svg")).unwrap();
    assert_eq!(
        String::from_utf8(drawn.stdout).unwrap(),
        shown,
        "draw it anew: docs/pictures/draw.py"
    );
}

fn workspace_file(name: &str) -> PathBuf {
    toolexec_tests::workspace().join(name)
}

#[test]
fn run_and_submit_show_the_same() {
    let bench = Bench::new();
    let spool = bench.scratch().dir("spool");
    fs::create_dir(spool.join("approved")).unwrap();
    let request = bench.save(&good().command("python script.py | sort"));
    let submit = bench.toolexec([Path::new("submit"), &request.path, "--spool".as_ref(), &spool]);
    for output in [submit, bench.run(&request)] {
        output.assert_code(2);
        output.assert_stderr(&["error[command.pipeline]: ", " | python script.py | sort\n"]);
    }
}

//! The recording in README.md: the programs print what `docs/pictures/session.txt` shows, and the
//! picture is drawn from it. `WRITE_PICTURES=1` writes both anew.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::process::Command;

use toolexec_tests::{Bench, CliOutput, DocPage, at_a_terminal, workspace};

const SESSION: &str = "docs/pictures/session.txt";
const PICTURE: &str = "docs/pictures/session.svg";
const TITLE: &str = "Run one command, verify its record, change the record";

/// Each digest, id and time has at least so many characters.
const ID_LEN_MIN: usize = 7;

/// An ordinary user may have a control group, and then this line is missing.
const WITHOUT_CGROUP: &str = "toolexec: ran without cgroup";

/// Types the commands of a session, and returns the text that the terminal shows.
fn typed(bench: &Bench, test: &str, session: &str) -> Option<String> {
    let page = DocPage::open("docs/getting-started.md").section("Run one command");
    CliOutput::of(&mut bench.shell(&page.script())).assert_code(0);
    let mut shown = String::new();
    for command in session.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let output = if let Some(rest) = command.strip_prefix("toolexec exec ") {
            let words: Vec<&str> = ["exec"].into_iter().chain(rest.split(' ')).collect();
            at_a_terminal(bench, test, &[("Run it?", "y")], &words)?.stdout.replace("\r\n", "\n")
        } else {
            // The last command fails, because the record was changed.
            CliOutput::of(&mut bench.shell(&format!("exec 2>&1\n{command}"))).stdout
        };
        shown.extend(["$ ", command, "\n", output.as_str()]);
    }
    Some(shown)
}

/// Returns whether a line is one of progress, such as `publishing 0 s`. Only a slow run has them.
fn is_progress(line: &str) -> bool {
    line.ends_with(" s") && line.split_whitespace().nth(1) == Some("0")
}

/// Replaces the names of this host, and drops the lines of progress.
fn as_published(bench: &Bench, shown: &str) -> String {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let shown = shown.replace(bench.home().to_str().unwrap(), "/home/alice");
    let shown = shown.replace(&format!("in the log {};", host.trim()), "in the log desk-1;");
    let lines = shown.lines().filter(|line| !is_progress(line));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Replaces each text between two others.
fn replace_between(text: &str, before: &str, after: &str) -> String {
    let mut parts = text.split(before);
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.find(after).map_or("", |end| &part[end..]);
        replaced.extend([before, "…", rest]);
    }
    replaced
}

/// Returns the lines without the texts that differ between two runs: ids, times, digests, the key
/// and the name of the log.
fn masked(text: &str) -> Vec<String> {
    let text = replace_between(text, "SHA256:", ",");
    let text = replace_between(&text, "in the log ", ";");
    let mask = |word: &str| {
        let name = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_id = name.chars().all(|c| c.is_ascii_hexdigit() || c == 'Z');
        let name_or_mask = if is_id && name.len() >= ID_LEN_MIN { "…" } else { name };
        [name_or_mask, &word[name.len()..]].concat()
    };
    let lines = text.lines().filter(|line| !line.starts_with(WITHOUT_CGROUP));
    lines
        .map(|line| line.split_inclusive(|c: char| !c.is_ascii_alphanumeric()).map(mask).collect())
        .collect()
}

/// Returns the first line that is not in the other text, in order.
fn missing<'a>(wanted: &'a [String], shown: &[String]) -> Option<&'a String> {
    let mut shown = shown.iter();
    wanted.iter().find(|line| !shown.any(|it| it == *line))
}

/// Draws the session as the picture.
fn drawn() -> String {
    let mut draw = Command::new(workspace().join("docs/pictures/draw.py"));
    draw.args(["--play", TITLE]).stdin(fs::File::open(workspace().join(SESSION)).unwrap());
    let output = draw.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_recording_shows_what_the_programs_print() {
    const TEST: &str = "the_recording_shows_what_the_programs_print";
    let session = fs::read_to_string(workspace().join(SESSION)).unwrap();
    let Some(bench) = Bench::as_ordinary_user(TEST) else { return };
    let Some(shown) = typed(&bench, TEST, &session) else { return };
    let shown = as_published(&bench, &shown);
    if std::env::var_os("WRITE_PICTURES").is_some() {
        fs::write(workspace().join(SESSION), &shown).unwrap();
        fs::write(workspace().join(PICTURE), drawn()).unwrap();
    }
    let session = fs::read_to_string(workspace().join(SESSION)).unwrap();
    let (wanted, found) = (masked(&session), masked(&shown));
    let missing = missing(&wanted, &found);
    assert_eq!(missing, None, "{SESSION}: not printed in this order; help: set WRITE_PICTURES=1");
    assert!(wanted.iter().any(|line| line.ends_with("NOT VERIFIED")), "{wanted:#?}");
}

#[test]
fn the_recording_is_drawn_from_its_session() {
    let picture = fs::read_to_string(workspace().join(PICTURE)).unwrap();
    assert_eq!(drawn(), picture, "{PICTURE}: help: set WRITE_PICTURES=1 for the other test");
}

#[test]
fn only_ids_and_names_of_the_host_are_masked() {
    let text = "$ sed -i s/3/4/ records/*/stdout\nTS-20261127-055734Z-TR-7fa5117d: ok, \
                SHA256:aB+/c, entry 0 in the log vm; mean.py (290 bytes)\n\
                toolexec: ran without cgroup, x\n";
    let wanted = [
        "$ sed -i s/3/4/ records/*/stdout",
        "TS-…-…-TR-…: ok, SHA256:…, entry 0 in the log …; mean.py (290 bytes)",
    ];
    assert_eq!(masked(text), wanted);
}

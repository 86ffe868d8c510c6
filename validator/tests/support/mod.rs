//! The valid request in which each test breaks one rule, and functions that return its codes. They
//! must never use private items of the crate.
#![allow(dead_code, reason = "each test program uses a part")]
#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use model::UtcTime;
use validator::{Draft, DraftCheck, FileLocation, OwnerUid, Severity};

pub(crate) const ID: &str = "TR-20260209-160501Z-python-stats";
pub(crate) const COMMAND: &str = "python -u script.py --in /in/input.csv --out /out/output.json";
pub(crate) const HASH: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Returns the seed's example, filled in, with its indentation and `script.py` as an input.
pub(crate) fn valid() -> String {
    format!(
        r#"---
request_type: tool_request
schema_version: 1
request_id: "{ID}"
created_utc: "2026-02-09T16:05:01Z"
requested_by: "core_draft"
approved_by: "alice"
approved_utc: "2026-02-09T16:12:00Z"
purpose: "One sentence describing why execution is needed."
language: "python"
network: "none"
network_allowlist: []
cpu_limit: "2"
memory_limit_mb: 1024
time_limit_sec: 120
inputs:
  - name: "input.csv"
    sha256: "{HASH}"
  - name: "script.py"
    sha256: "{HASH}"
outputs_expected:
  - path: "output.json"
    description: "the statistics"
constraints:
  - "No network unless allowlisted"
  - "No writes outside /out"
  - "No persistence"
---

# Statistics of one table

## Command

{COMMAND}

## Input Files

- `/in/input.csv` sha256: {HASH}
- `/in/script.py`

## Output Expectations

- `/out/output.json`: the statistics

## Risk Assessment

* `Risk level: low`
* `Justification:` reads one table and writes its mean
* `Data sensitivity:` public
* `Network rationale:` none
"#
    )
}

pub(crate) fn now() -> UtcTime {
    "2026-02-09T18:00:00Z".parse().unwrap()
}

pub(crate) fn checked(text: impl AsRef<[u8]>) -> DraftCheck {
    let name = format!("{ID}.md");
    let owner = OwnerUid::new(1000);
    Draft::new(text.as_ref().to_vec(), &name, owner).unwrap().check(FileLocation::Spool, now())
}

/// Returns the codes of all errors, sorted and without duplicates.
pub(crate) fn errors(text: impl AsRef<[u8]>) -> Vec<String> {
    codes(text, Severity::Error)
}

/// Returns the codes of all warnings, sorted and without duplicates.
pub(crate) fn warnings(text: impl AsRef<[u8]>) -> Vec<String> {
    codes(text, Severity::Warning)
}

fn codes(text: impl AsRef<[u8]>, severity: Severity) -> Vec<String> {
    let checked = checked(text);
    let fails = checked.violations.iter().any(|row| row.severity == Severity::Error);
    assert_eq!(checked.verdict.is_err(), fails, "the verdict follows the rows");
    let rows = checked.violations.iter().filter(|row| row.severity == severity);
    let mut codes: Vec<String> = rows.map(|row| row.code.as_str().into_owned()).collect();
    codes.sort();
    codes.dedup();
    codes
}

/// Returns the valid request with one piece of text replaced; the piece must exist.
pub(crate) fn with(from: &str, to: &str) -> String {
    let text = valid();
    assert!(text.contains(from), "not in the valid request: {from}");
    text.replacen(from, to, 1)
}

/// Returns the valid request with another command.
pub(crate) fn command(line: &str) -> String {
    with(&format!("\n{COMMAND}\n"), &format!("\n{line}\n"))
}

/// Returns the valid request with its table as a folder, and its output as the patch of this
/// folder. The script is named by its whole path, because the tool starts in the folder's copy.
pub(crate) fn with_patch(folder: &str) -> String {
    let output = "path: \"output.json\"\n";
    with("name: \"input.csv\"", "name: \"input.csv/\"")
        .replace(output, &format!("{output}    x-patch-of: \"{folder}\"\n"))
        .replace("-u script.py", "-u /in/script.py")
}

/// Asserts that replacing `from` by `to` gives exactly these error codes (space-separated).
#[track_caller]
pub(crate) fn expect(from: &str, to: &str, codes: &str) {
    assert_eq!(errors(with(from, to)).join(" "), codes, "{from:?} -> {to:?}");
}

/// Asserts that this command gives exactly these error codes (space-separated).
#[track_caller]
pub(crate) fn expect_command(line: &str, codes: &str) {
    let text = command(line);
    assert_eq!(errors(&text).join(" "), codes, "{line:?}: {:#?}", checked(&text).violations);
}

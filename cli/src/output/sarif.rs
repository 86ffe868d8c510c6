//! Findings as a SARIF 2.1.0 log, for code-review tools. Logs are kept and shared, so no secret and
//! no line of a document may appear in one, except for quotations in messages.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use model::{Sha256Stream, escape_line};
use serde_json::{Value, json};
use validator::{Code, RuleDoc, Violation};

use crate::failure::Failure;
use crate::output::human;
use crate::output::human::source::{SourceLine, SourceText};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The recipe of a fingerprint. A change of the recipe needs a new name.
const FINGERPRINT: &str = "codeAndLine/v1";

#[derive(Default)]
pub(crate) struct SarifLog {
    /// One entry per URI, even if a file was named several times.
    artifacts: Vec<Value>,
    artifact_indices: HashMap<String, usize>,
    rules: Vec<Value>,
    rule_indices: HashMap<Code, usize>,
    results: Vec<Value>,
    notifications: Vec<Value>,
}

impl SarifLog {
    /// Adds the findings of a file with this text.
    pub(crate) fn add(&mut self, file: &Path, text: &str, violations: &[Violation]) {
        let artifact = self.artifact(file);
        let source = SourceText::new(text, violations);
        let mut seen = BTreeMap::new();
        for rows in violations.chunk_by(|one, next| one.line == next.line) {
            let line = rows.first().and_then(|row| source.line(row.line));
            let on = line.as_ref().map_or("", |line| line.readable().trim());
            let on = digest(on.as_bytes());
            for row in rows {
                // Equal findings on equal lines are distinguished by their order.
                let code = row.code.as_str();
                let count = seen.entry(format!("{code}\n{on}")).or_insert(0_usize);
                *count += 1;
                let fingerprint = digest(format!("{code}\n{on}\n{count}").as_bytes());
                self.add_result(&artifact, line.as_ref(), row, &fingerprint);
            }
        }
    }

    fn add_result(
        &mut self,
        artifact: &Value,
        line: Option<&SourceLine<'_>>,
        row: &Violation,
        fingerprint: &str,
    ) {
        let mut place = json!({ "artifactLocation": artifact });
        if let Some(region) = region(line, row) {
            place["region"] = region;
        }
        let mut result = json!({
            "ruleId": row.code.as_str(),
            "ruleIndex": self.rule(row.code),
            "level": row.severity.as_str(),
            "message": { "text": human::message(row) },
            "locations": [{ "physicalLocation": place }],
            "partialFingerprints": { FINGERPRINT: fingerprint },
        });
        if let Some(hint) = human::hint(row) {
            // Review tools show only the message text of a result.
            result["message"]["text"] = format!("{}\nhelp: {hint}", human::message(row)).into();
            result["properties"] = json!({ "hint": hint });
        }
        self.results.push(result);
    }

    /// Adds a file that could not be read. This is a failure of the run, not a finding.
    pub(crate) fn add_unreadable(&mut self, file: &Path, failure: &Failure) {
        let artifact = self.artifact(file);
        self.notifications.push(json!({
            "level": "error",
            "message": { "text": escape_line(&failure.problem()) },
            "locations": [{ "physicalLocation": { "artifactLocation": artifact } }],
        }));
    }

    fn artifact(&mut self, file: &Path) -> Value {
        let uri = uri(file);
        let (artifacts, next) = (&mut self.artifacts, self.artifact_indices.len());
        let index = *self.artifact_indices.entry(uri.clone()).or_insert_with(|| {
            artifacts.push(json!({ "location": { "uri": uri }, "roles": ["analysisTarget"] }));
            next
        });
        json!({ "uri": uri, "index": index })
    }

    fn rule(&mut self, code: Code) -> usize {
        let (rules, next) = (&mut self.rules, self.rule_indices.len());
        *self.rule_indices.entry(code).or_insert_with(|| {
            rules.push(rule(code));
            next
        })
    }

    pub(crate) fn into_json(self, exit_code: u8) -> String {
        let mut invocation = json!({
            "executionSuccessful": self.notifications.is_empty(),
            "exitCode": exit_code,
        });
        if !self.notifications.is_empty() {
            invocation["toolExecutionNotifications"] = self.notifications.into();
        }
        let log = json!({
            "$schema": SCHEMA,
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "toolexec",
                    "version": env!("CARGO_PKG_VERSION"),
                    "informationUri": env!("CARGO_PKG_REPOSITORY"),
                    "rules": self.rules,
                }},
                "invocations": [invocation],
                "artifacts": self.artifacts,
                "results": self.results,
                "columnKind": "unicodeCodePoints",
            }],
        });
        format!("{log:#}")
    }
}

fn rule(code: Code) -> Value {
    let rule = RuleDoc::of(code);
    json!({
        "id": code.as_str(),
        "shortDescription": { "text": code.meaning() },
        "fullDescription": { "text": rule.why() },
        "help": { "text": rule.remedy() },
    })
}

/// Returns the marked region, or `None` if the finding is about the whole file.
fn region(line: Option<&SourceLine<'_>>, row: &Violation) -> Option<Value> {
    match (row.line, row.column, line) {
        (0, ..) => None,
        (number, 1.., Some(line)) => {
            let meant = line.span(row);
            Some(json!({
                "startLine": number,
                "startColumn": meant.start + 1,
                "endColumn": meant.end + 1,
            }))
        }
        (number, ..) => Some(json!({ "startLine": number })),
    }
}

/// Returns the path as a URI. A relative path remains relative.
fn uri(file: &Path) -> String {
    let mut uri = String::from(if file.is_absolute() { "file://" } else { "" });
    for &byte in file.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

fn digest(bytes: &[u8]) -> String {
    let mut hash = Sha256Stream::new();
    hash.update(bytes);
    hash.finish().to_string()
}

//! The signed record: the only place where a statement becomes a document and the document is
//! signed. It must never sign a document that the result lint refuses, or a statement that
//! contradicts itself. The same statement always gives the same document. A local key also gives
//! the same signature; an agent's may differ.

use std::fmt;

use model::{Outcome, ResultId, Sha256};
use validator::{Severity, Violation, check_result};

use crate::body::body;
use crate::front_matter::{facts, front_matter};
use crate::key_model::SigningError;
use crate::request_files::RequestFiles;
use crate::result_key::ResultKey;
use crate::statement::{PreRunStatement, Statement};
use crate::tool_text::{ToolLines, ToolRedaction};
use crate::untrusted::Redaction;
use crate::yaml::FactMap;

/// A record and its signature, in memory. Proof that exactly these bytes were linted and signed.
#[must_use]
pub struct SignedRecord {
    result_id: ResultId,
    sha256: Sha256,
    files: Vec<(String, Vec<u8>)>,
}

impl SignedRecord {
    /// Returns the result id, which is also the name of the record's directory.
    #[must_use]
    pub fn result_id(&self) -> &ResultId {
        &self.result_id
    }

    /// Returns the digest of the `.md`.
    #[must_use]
    pub fn sha256(&self) -> Sha256 {
        self.sha256
    }

    /// Returns the files by their path in the directory, the `.md` and its `.sig` first. `stdout`,
    /// `stderr` and `artifacts/` are not included: they never pass through this crate.
    #[must_use]
    pub fn files(&self) -> &[(String, Vec<u8>)] {
        &self.files
    }
}

impl fmt::Debug for SignedRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignedRecord({})", self.result_id)
    }
}

/// The reason why a record was not signed. The message begins with the record or the file.
#[derive(Debug)]
pub enum SignError {
    /// The statement contradicts itself.
    Inconsistency {
        /// The result id of the record.
        record: String,
        /// The contradiction, for the message.
        what: &'static str,
    },
    /// The lint refuses the document, even with everything from outside withheld.
    Invalid {
        /// The result id of the record.
        record: String,
        /// All errors of the last lint; the message has the first three.
        violations: Vec<Violation>,
    },
    /// The key failed.
    Key {
        /// The result id of the record.
        record: String,
        /// The error of the key or of its agent.
        source: SigningError,
    },
}

impl SignError {
    /// Returns whether a smaller statement could be signed. Otherwise the key failed.
    #[must_use]
    pub fn is_caused_by_statement(&self) -> bool {
        match self {
            Self::Inconsistency { .. } | Self::Invalid { .. } => true,
            Self::Key { source: SigningError::Agent(error), .. } => error.is_too_large(),
            Self::Key { .. } => false,
        }
    }
}

impl fmt::Display for SignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inconsistency { record, what } => {
                write!(f, "{record}: not signed: {what}; help: report this as a bug")
            }
            Self::Invalid { record, violations } => {
                write!(f, "{record}: not signed: the lint refuses it")?;
                for violation in violations.iter().take(3) {
                    let (code, message) = (violation.code.as_str(), &violation.message);
                    write!(f, "; {code}, line {}: {message}", violation.line)?;
                }
                f.write_str("; help: report this as a bug")
            }
            Self::Key { record, source } => write!(f, "{record}: cannot sign: {source}"),
        }
    }
}

impl std::error::Error for SignError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Key { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Renders, lints and signs a record. The only constructor of [`SignedRecord`].
///
/// # Errors
/// Any [`SignError`]. Nothing is signed then.
pub fn sign(statement: &Statement<'_>, key: &ResultKey) -> Result<SignedRecord, SignError> {
    sign_with_facts(statement, key).map(|(record, _)| record)
}

/// Signs a record and returns it with the facts of its front matter.
pub(crate) fn sign_with_facts(
    statement: &Statement<'_>,
    key: &ResultKey,
) -> Result<(SignedRecord, FactMap), SignError> {
    let record = || statement.result_id.to_string();
    if let Some(what) = inconsistency(statement) {
        return Err(SignError::Inconsistency { record: record(), what });
    }
    let request = RequestFiles::of(statement);
    let (md, facts) = document(statement, &request)?;
    let signature =
        key.sign(md.as_bytes()).map_err(|source| SignError::Key { record: record(), source })?;
    let md = md.into_bytes();
    let sha256 = Sha256::of(&md);
    let name = format!("{}.md", statement.result_id);
    let mut files = vec![(format!("{name}.sig"), signature.into_bytes())];
    files.insert(0, (name, md));
    files.extend(request.into_files());
    Ok((SignedRecord { result_id: statement.result_id.clone(), sha256, files }, facts))
}

fn inconsistency(statement: &Statement<'_>) -> Option<&'static str> {
    let started = statement.run.is_some();
    if started && statement.confinement_ready.is_some() {
        return Some("the sandbox is stated both as started and as not started");
    }
    if started && statement.request().is_none() {
        return Some("an unusable request cannot have run");
    }
    match statement.outcome {
        Outcome::Refused | Outcome::SetupError if started => {
            Some("the outcome excludes a run, but a run is stated")
        }
        // A request can be cancelled before its start, and a run can be lost with all its results.
        Outcome::Refused | Outcome::SetupError | Outcome::Cancelled | Outcome::Indeterminate => {
            None
        }
        _ if !started => Some("the outcome requires a run, but none is stated"),
        _ => None,
    }
}

/// The maximum number of lints of one document before all text of its tool is withheld.
const ROUNDS_MAX: usize = 4;

fn document(
    statement: &Statement<'_>,
    request: &RequestFiles<'_>,
) -> Result<(String, FactMap), SignError> {
    document_with_lint(statement, request, &check_result)
}

type ResultLint<'a> = &'a dyn Fn(&[u8], &str) -> Vec<Violation>;

fn document_with_lint(
    statement: &Statement<'_>,
    request: &RequestFiles<'_>,
    lint: ResultLint<'_>,
) -> Result<(String, FactMap), SignError> {
    let mut tool = ToolRedaction::default();
    let mut sheet = LintedDocument::of(statement, request, Redaction::Open, &tool, lint);
    if sheet.errors.is_empty() {
        return Ok((sheet.md, sheet.facts));
    }
    // The lint finds more in a document than in a line, or something is too long. First decide from
    // the text of request, policy and rules alone how much of it to show. Then withhold the tool's
    // text, line by line.
    let show = redaction_of(&statement.pre_run(), request, lint);
    for round in 0.. {
        sheet = LintedDocument::of(statement, request, show, &tool, lint);
        let Some(first) = sheet.errors.first() else { return Ok((sheet.md, sheet.facts)) };
        if tool.withheld_all_reason().is_some() {
            break;
        }
        if round == ROUNDS_MAX || !tool.withhold(&sheet.errors, &sheet.tool_lines) {
            tool = ToolRedaction::withhold_all(first.code);
        }
    }
    Err(SignError::Invalid { record: statement.result_id.to_string(), violations: sheet.errors })
}

/// Returns how much of the text that no tool influenced is shown.
fn redaction_of(
    given: &PreRunStatement<'_>,
    request: &RequestFiles<'_>,
    lint: ResultLint<'_>,
) -> Redaction {
    let tool = ToolRedaction::default();
    let alone = LintedDocument::of(given.as_statement(), request, Redaction::Open, &tool, lint);
    alone.errors.first().map_or(Redaction::Open, |first| Redaction::Withheld(first.code))
}

struct LintedDocument {
    md: String,
    facts: FactMap,
    tool_lines: ToolLines,
    errors: Vec<Violation>,
}

impl LintedDocument {
    fn of(
        statement: &Statement<'_>,
        request: &RequestFiles<'_>,
        show: Redaction,
        tool: &ToolRedaction,
        lint: ResultLint<'_>,
    ) -> Self {
        let facts = facts(statement, request, show, tool);
        let front = front_matter(&facts);
        let (body, tool_lines) = body(statement, show, tool, front.lines().count());
        let md = front + &body;
        let mut errors = lint(md.as_bytes(), &format!("{}.md", statement.result_id));
        errors.retain(|violation| violation.severity == Severity::Error);
        Self { md, facts, tool_lines, errors }
    }
}

#[cfg(test)]
mod tests;

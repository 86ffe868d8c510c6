//! The signed record: the one place where a statement becomes a document and the document gets its
//! signature. It must never sign what the lint of results refuses, or a statement that contradicts
//! itself. The same statement always gives the same document; the same key that is held here gives it
//! the same signature too, and one that an agent holds may not.

use std::fmt;

use model::{Outcome, ResultId, Sha256};
use validator::{Severity, Violation, check_result};

use crate::body::body;
use crate::front::{facts, front_matter};
use crate::key_model::SigningError;
use crate::keys::ResultKey;
use crate::outside::Showing;
use crate::request_files::RequestFiles;
use crate::statement::{Given, Statement};
use crate::tool_text::{ToolLines, ToolShowing};
use crate::yaml::Map;

/// A record and its signature, in memory: proof that exactly these bytes were linted and signed.
#[must_use]
pub struct SignedRecord {
    result_id: ResultId,
    sha256: Sha256,
    files: Vec<(String, Vec<u8>)>,
}

impl SignedRecord {
    /// Also the name of the directory that holds the record.
    #[must_use]
    pub fn result_id(&self) -> &ResultId {
        &self.result_id
    }

    /// The digest of the `.md`.
    #[must_use]
    pub fn sha256(&self) -> Sha256 {
        self.sha256
    }

    /// The files by their path in the directory, the `.md` and its `.sig` first. `stdout`, `stderr`
    /// and `artifacts/` are not among them: they were never here.
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

/// Why there is no record. The message begins with the record or the file.
#[derive(Debug)]
pub enum SignError {
    /// The statement contradicts itself.
    Contradiction {
        record: String,
        what: &'static str,
    },
    /// The lint refuses the document, even with everything from outside withheld.
    Invalid {
        record: String,
        violations: Vec<Violation>,
    },
    Key {
        record: String,
        source: SigningError,
    },
}

impl SignError {
    /// Whether it is this statement that cannot be signed, and a lesser one could be; else it is the
    /// key that signs nothing.
    #[must_use]
    pub fn is_of_the_statement(&self) -> bool {
        match self {
            Self::Contradiction { .. } | Self::Invalid { .. } => true,
            Self::Key { source: SigningError::Agent(error), .. } => error.is_too_much(),
            Self::Key { .. } => false,
        }
    }
}

impl fmt::Display for SignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Contradiction { record, what } => write!(f, "{record}: not signed: {what}"),
            Self::Invalid { record, violations } => {
                write!(f, "{record}: not signed: the lint refuses it")?;
                for violation in violations.iter().take(3) {
                    let (code, message) = (violation.code.as_str(), &violation.message);
                    write!(f, "; {code}, line {}: {message}", violation.line)?;
                }
                Ok(())
            }
            Self::Key { record, source } => write!(f, "{record}: signing: {source}"),
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

/// Renders, lints and signs. The only constructor of [`SignedRecord`].
///
/// # Errors
/// Any [`SignError`]; then nothing was signed.
pub fn sign(statement: &Statement<'_>, key: &ResultKey) -> Result<SignedRecord, SignError> {
    sign_with_facts(statement, key).map(|(record, _)| record)
}

/// Signs, and gives also the facts that stand in the front matter.
pub(crate) fn sign_with_facts(
    statement: &Statement<'_>,
    key: &ResultKey,
) -> Result<(SignedRecord, Map), SignError> {
    let record = || statement.result_id.to_string();
    if let Some(what) = contradiction(statement) {
        return Err(SignError::Contradiction { record: record(), what });
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

/// What the statement says that cannot be.
fn contradiction(says: &Statement<'_>) -> Option<&'static str> {
    let started = says.ran.is_some();
    if started && says.confinement_ready.is_some() {
        return Some("a cell cannot have started and not have started");
    }
    if started && says.request().is_none() {
        return Some("what is no request cannot have run");
    }
    match says.outcome {
        Outcome::Refused | Outcome::SetupError if started => {
            Some("the outcome is one of requests that never start, and a run is stated")
        }
        // A request can be cancelled before its start; a run can be lost with all it left.
        Outcome::Refused | Outcome::SetupError | Outcome::Cancelled | Outcome::Indeterminate => {
            None
        }
        _ if !started => Some("the outcome is one of runs, and no run is stated"),
        _ => None,
    }
}

/// Lints of one document, at most, before all text of its tool is withheld.
const ROUNDS_MAX: usize = 4;

fn document(says: &Statement<'_>, request: &RequestFiles<'_>) -> Result<(String, Map), SignError> {
    document_by(says, request, &check_result)
}

/// How the lint judges a document of this name.
type Lint<'a> = &'a dyn Fn(&[u8], &str) -> Vec<Violation>;

fn document_by(
    says: &Statement<'_>,
    request: &RequestFiles<'_>,
    lint: Lint<'_>,
) -> Result<(String, Map), SignError> {
    let mut tool = ToolShowing::default();
    let mut sheet = Sheet::of(says, request, Showing::Open, &tool, lint);
    if sheet.errors.is_empty() {
        return Ok((sheet.md, sheet.facts));
    }
    // The lint knows more of a document than of a line, or something is too long. What request, policy
    // and rules say is settled first, from them alone; then the tool's text gives way, line by line.
    let show = given(&says.given(), request, lint);
    for round in 0.. {
        sheet = Sheet::of(says, request, show, &tool, lint);
        let Some(first) = sheet.errors.first() else { return Ok((sheet.md, sheet.facts)) };
        if tool.nothing_for().is_some() {
            break;
        }
        if round == ROUNDS_MAX || !tool.withhold(&sheet.errors, &sheet.tool_lines) {
            tool = ToolShowing::nothing(first.code);
        }
    }
    Err(SignError::Invalid { record: says.result_id.to_string(), violations: sheet.errors })
}

/// How much of what no tool had a say in is shown.
fn given(given: &Given<'_>, request: &RequestFiles<'_>, lint: Lint<'_>) -> Showing {
    let tool = ToolShowing::default();
    let alone = Sheet::of(given.as_statement(), request, Showing::Open, &tool, lint);
    alone.errors.first().map_or(Showing::Open, |first| Showing::Withheld(first.code))
}

/// A document, and the errors that the lint finds in it.
struct Sheet {
    md: String,
    facts: Map,
    tool_lines: ToolLines,
    errors: Vec<Violation>,
}

impl Sheet {
    fn of(
        says: &Statement<'_>,
        request: &RequestFiles<'_>,
        show: Showing,
        tool: &ToolShowing,
        lint: Lint<'_>,
    ) -> Self {
        let facts = facts(says, request, show, tool);
        let front = front_matter(&facts);
        let (body, tool_lines) = body(says, show, tool, front.lines().count());
        let md = front + &body;
        let mut errors = lint(md.as_bytes(), &format!("{}.md", says.result_id));
        errors.retain(|violation| violation.severity == Severity::Error);
        Self { md, facts, tool_lines, errors }
    }
}

#[cfg(test)]
mod tests;

//! `toolexec lint`: every violation of every file, for people or as JSON lines. Reads, never changes.

use std::path::Path;
use std::process::ExitCode;

use validator::{Code, DocumentKind, Expect, RESULT_BYTES_MAX, Violation};

use crate::failure::Failure;
use crate::options::{Lint, LintFormat};
use crate::output;
use crate::show;
use crate::state::read_document;

pub(crate) fn lint(asked: &Lint) -> Result<ExitCode, Failure> {
    if let Some(code) = &asked.explain {
        return explain(code);
    }
    if asked.format == LintFormat::Sarif {
        return Err(Failure::Said("lint: --format sarif is not built yet; use json".into()));
    }
    let expect = if asked.draft { Expect::DraftOnly } else { Expect::Approved };
    let (mut invalid, mut unreadable) = (false, false);
    for file in &asked.files {
        match check(file, expect) {
            Ok((kind, violations)) => {
                invalid |= show::has_error(&violations);
                match asked.format {
                    LintFormat::Human | LintFormat::Sarif => print_human(file, kind, &violations)?,
                    LintFormat::Json => print_json(file, kind, &violations, None)?,
                }
            }
            Err(failure) => {
                unreadable = true;
                output::note(&failure);
                if asked.format == LintFormat::Json {
                    print_json(file, DocumentKind::Unknown, &[], Some(&failure.to_string()))?;
                }
            }
        }
    }
    Ok(ExitCode::from(match (unreadable, invalid) {
        (true, _) => 3,
        (false, true) => 2,
        (false, false) => 0,
    }))
}

fn check(file: &Path, expect: Expect) -> Result<(DocumentKind, Vec<Violation>), Failure> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    match read_document(file, RESULT_BYTES_MAX) {
        Ok(bytes) => Ok(validator::lint(&bytes, &name, expect, show::now())),
        // Too large for any document: its name alone says what it was meant to be.
        Err(Failure::TooLarge(_, most)) => {
            let (kind, _) = validator::lint(b"", &name, expect, show::now());
            Ok((kind, vec![show::too_large(most)]))
        }
        Err(failure) => Err(failure),
    }
}

fn print_human(file: &Path, kind: DocumentKind, violations: &[Violation]) -> Result<(), Failure> {
    for violation in violations {
        output::line(show::violation(file, violation))?;
    }
    let verdict = if show::has_error(violations) { "invalid" } else { "valid" };
    let (file, kind, count) = (file.display(), kind.as_str(), show::count(violations));
    output::line(format_args!("{file}: {verdict} {kind}: {count}"))
}

/// One object for every file that was named, also where it could not be read.
fn print_json(
    file: &Path,
    kind: DocumentKind,
    violations: &[Violation],
    error: Option<&str>,
) -> Result<(), Failure> {
    let mut object = serde_json::json!({
        "file": output::path(file),
        "kind": kind.as_str(),
        "valid": error.is_none() && !show::has_error(violations),
        "violations": violations,
    });
    if let Some(error) = error {
        object["error"] = error.into();
    }
    output::line(object)
}

fn explain(asked: &str) -> Result<ExitCode, Failure> {
    let families = [Code::Secret("<kind>"), Code::Layer("<name>")];
    let family = |code: &Code| {
        let text = code.as_str();
        let head = text.split('<').next().unwrap_or_default().to_owned();
        asked.starts_with(&head)
    };
    let plain = Code::ALL.iter().find(|code| code.as_str() == asked);
    match plain.copied().or_else(|| families.into_iter().find(family)) {
        Some(code) => {
            output::line(format_args!("{asked}: {}", code.meaning()))?;
            Ok(ExitCode::SUCCESS)
        }
        None => Err(Failure::Said(format!("lint --explain: '{asked}' is no code of this version"))),
    }
}

//! `toolexec lint`: every violation of every file, for people or as JSON lines. Reads, never changes.

use std::path::Path;
use std::process::ExitCode;

use validator::{Code, DocumentKind, Expect, RESULT_BYTES_MAX, Violation};

use crate::failure::Failure;
use crate::options::{Lint, LintFormat};
use crate::show;
use crate::state::read_file;

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
        let bytes = match read_file(file, RESULT_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(failure) => {
                eprintln!("toolexec: {failure}");
                unreadable = true;
                continue;
            }
        };
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let (kind, violations) = validator::lint(&bytes, &name, expect, show::now());
        invalid |= show::has_error(&violations);
        match asked.format {
            LintFormat::Human | LintFormat::Sarif => print_human(file, kind, &violations),
            LintFormat::Json => print_json(file, kind, &violations),
        }
    }
    Ok(ExitCode::from(match (unreadable, invalid) {
        (true, _) => 3,
        (false, true) => 2,
        (false, false) => 0,
    }))
}

fn word(kind: DocumentKind) -> &'static str {
    match kind {
        DocumentKind::Request => "request",
        DocumentKind::Result => "result",
        DocumentKind::Unknown => "unknown",
    }
}

fn print_human(file: &Path, kind: DocumentKind, violations: &[Violation]) {
    for violation in violations {
        println!("{}", show::violation(file, violation));
    }
    let verdict = if show::has_error(violations) { "invalid" } else { "valid" };
    println!("{}: {verdict} {}: {}", file.display(), word(kind), show::count(violations));
}

fn print_json(file: &Path, kind: DocumentKind, violations: &[Violation]) {
    let object = serde_json::json!({
        "file": file,
        "kind": word(kind),
        "valid": !show::has_error(violations),
        "violations": violations,
    });
    println!("{object}");
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
            println!("{asked}: {}", code.meaning());
            Ok(ExitCode::SUCCESS)
        }
        None => Err(Failure::Said(format!("lint --explain: '{asked}' is no code of this version"))),
    }
}

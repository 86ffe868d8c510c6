//! `toolexec lint`: reports every violation as text, JSON lines, or one SARIF log. Read-only.

mod explain;
mod monty;
mod rules;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use validator::{ApprovalRequirement, Code, DocumentKind, RESULT_BYTES_MAX, Severity, Violation};

use crate::args::files::read_document;
use crate::args::policy::named_or_embedded;
use crate::clock;
use crate::failure::Failure;
use crate::output::screen::OutputScreen;
use crate::output::{self, human, sarif};

pub(crate) use rules::{LintRules, as_approved};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintFormat {
    Human,
    /// One object per line and file
    Json,
    /// One SARIF 2.1.0 log of all files, for code review
    Sarif,
}

#[derive(Args)]
#[command(after_help = "\
Example: toolexec lint --draft TR-20260209-160501Z-python-stats.md

Code of the backend `monty` is checked by toolexec-monty, if that is installed beside this program
or in /usr/libexec/toolexec. The code never runs as a whole: toolexec-monty evaluates only
expressions that need nothing else of it, without files, clock and network.
The human format shows place and fix of the first 100 violations of a file; the other formats
contain all.
Exit status: 0 every file is valid; 2 at least one is invalid; 3 at least one cannot be read, or a
usage error.")]
pub(crate) struct LintCommand {
    /// Check these requests (TR-….md) and results (TS-….md)
    #[arg(value_name = "FILE", required_unless_present = "explain")]
    files: Vec<PathBuf>,
    /// Accept a missing approval with a warning
    #[arg(long)]
    draft: bool,
    /// Report violations of this policy's languages, ceilings, hosts and constraints too
    /// [default: only the ceilings of the built-in `embedded`]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Explain a code and exit
    #[arg(long, value_name = "CODE")]
    explain: Option<String>,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    format: LintFormat,
}

struct LintedFile {
    kind: DocumentKind,
    /// The text as the validator read it.
    text: String,
    violations: Vec<Violation>,
}

#[derive(Default)]
struct LintVerdict {
    /// The first error of all files.
    error: Option<Code>,
    unreadable: bool,
}

impl LintVerdict {
    fn add(&mut self, found: &Result<LintedFile, Failure>) {
        match found {
            Ok(checked) => {
                let error = checked.violations.iter().find(|row| row.severity == Severity::Error);
                self.error = self.error.or(error.map(|row| row.code));
            }
            Err(_) => self.unreadable = true,
        }
    }

    fn exit_code(&self) -> u8 {
        match (self.unreadable, self.error) {
            (true, _) => 3,
            (false, Some(_)) => 2,
            (false, None) => 0,
        }
    }
}

pub(in crate::commands) fn lint(args: &LintCommand) -> Result<ExitCode, Failure> {
    if let Some(named) = &args.explain {
        return explain::explain(named);
    }
    let expect =
        if args.draft { ApprovalRequirement::DraftOnly } else { ApprovalRequirement::Approved };
    let policy = named_or_embedded(args.policy.as_deref())?;
    let rules = match args.policy {
        Some(_) => LintRules::of(expect, &policy),
        None => LintRules::of_ceilings(expect, &policy),
    };
    let (mut verdict, mut log) = (LintVerdict::default(), sarif::SarifLog::default());
    for file in &args.files {
        let found = check(file, &rules);
        verdict.add(&found);
        if let Err(failure) = &found {
            output::note(failure);
        }
        match (args.format, found) {
            (LintFormat::Human, Ok(checked)) => print_human(file, &checked)?,
            (LintFormat::Human, Err(_)) => {}
            (LintFormat::Json, found) => print_json(file, &found)?,
            (LintFormat::Sarif, Ok(checked)) => log.add(file, &checked.text, &checked.violations),
            (LintFormat::Sarif, Err(failure)) => log.add_unreadable(file, &failure),
        }
    }
    match (args.format, verdict.error) {
        (LintFormat::Human, Some(code)) => {
            output::line(format_args!("try: toolexec lint --explain {}", code.as_str()))?;
        }
        (LintFormat::Sarif, _) => output::line(log.into_json(verdict.exit_code()))?,
        _ => {}
    }
    Ok(ExitCode::from(verdict.exit_code()))
}

fn check(file: &Path, rules: &LintRules) -> Result<LintedFile, Failure> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    match read_document(file, RESULT_BYTES_MAX) {
        Ok(bytes) => {
            let (kind, mut violations) = rules.check(&bytes, &name);
            if kind == DocumentKind::Request && !human::has_error(&violations) {
                violations.extend(check_code(file, &bytes, &name));
                violations.sort_by_key(|row| (row.line, row.column));
            }
            Ok(LintedFile { kind, text: String::from_utf8_lossy(&bytes).into_owned(), violations })
        }
        // Too large for any document. Its name alone determines the kind.
        Err(Failure::TooLarge(_, most)) => {
            let (kind, _) = rules.check(b"", &name);
            Ok(LintedFile { kind, text: String::new(), violations: vec![human::too_large(most)] })
        }
        Err(failure) => Err(failure),
    }
}

/// Returns what monty does not have of the code or of the script of a request. Notes that it was
/// not asked.
fn check_code(file: &Path, bytes: &[u8], name: &str) -> Option<Violation> {
    let request = as_approved(bytes, name, clock::now())?;
    let text = String::from_utf8_lossy(bytes);
    monty::check(file, &text, &request).unwrap_or_else(|why| {
        output::note(format_args!("{}: the code was not checked: {why}", human::name(file)));
        None
    })
}

fn print_human(file: &Path, checked: &LintedFile) -> Result<(), Failure> {
    let LintedFile { kind, text, violations } = checked;
    output::text(&human::violations(OutputScreen::of(&io::stdout()), file, text, violations))?;
    let verdict = if human::has_error(violations) { "invalid" } else { "valid" };
    let kind = match kind {
        DocumentKind::Unknown => "file of unknown kind, checked as a request",
        kind => kind.as_str(),
    };
    let (file, count) = (human::name(file), human::count(violations));
    output::line(format_args!("{file}: {verdict} {kind}: {count}"))
}

/// Prints one object for each file, including unreadable ones.
fn print_json(file: &Path, found: &Result<LintedFile, Failure>) -> Result<(), Failure> {
    let (kind, violations) = match found {
        Ok(checked) => (checked.kind, checked.violations.as_slice()),
        Err(_) => (DocumentKind::Unknown, &[][..]),
    };
    let mut object = serde_json::json!({
        "file": output::path(file),
        "kind": kind.as_str(),
        "valid": found.is_ok() && !human::has_error(violations),
        "violations": violations,
    });
    if let Err(failure) = found {
        object["error"] = failure.to_string().into();
    }
    output::line(object)
}

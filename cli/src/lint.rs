//! `toolexec lint`: every violation of every file, for people, as JSON lines, or as one SARIF log.
//! Reads, never changes.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use model::UtcTime;
use policies::Policy;
use validator::{
    Ceilings, Code, DocumentKind, Draft, Expect, OwnerUid, Place, RESULT_BYTES_MAX, Request,
    Severity, Violation, fill_approval,
};

use crate::args::files::read_document;
use crate::args::policy::named_or_embedded;
use crate::clock;
use crate::code;
use crate::failure::Failure;
use crate::options::{Lint, LintFormat};
use crate::output;
use crate::output::human;
use crate::output::sarif;
use crate::output::screen::Screen;

/// What was found in one file.
struct Checked {
    kind: DocumentKind,
    /// As the validator read it.
    text: String,
    violations: Vec<Violation>,
}

/// What was found in all of them.
#[derive(Default)]
struct Verdict {
    /// The first of all errors.
    error: Option<Code>,
    unreadable: bool,
}

impl Verdict {
    fn take(&mut self, found: &Result<Checked, Failure>) {
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

pub(crate) fn lint(asked: &Lint) -> Result<ExitCode, Failure> {
    if let Some(named) = &asked.explain {
        return code::explain(named);
    }
    let expect = if asked.draft { Expect::DraftOnly } else { Expect::Approved };
    let policy = named_or_embedded(asked.policy.as_deref())?;
    let rules = match asked.policy {
        Some(_) => Rules::of(expect, &policy),
        None => Rules::of_ceilings(expect, &policy),
    };
    let (mut verdict, mut log) = (Verdict::default(), sarif::Log::default());
    for file in &asked.files {
        let found = check(file, &rules);
        verdict.take(&found);
        if let Err(failure) = &found {
            output::note(failure);
        }
        match (asked.format, found) {
            (LintFormat::Human, Ok(checked)) => print_human(file, &checked)?,
            (LintFormat::Human, Err(_)) => {}
            (LintFormat::Json, found) => print_json(file, &found)?,
            (LintFormat::Sarif, Ok(checked)) => log.add(file, &checked.text, &checked.violations),
            (LintFormat::Sarif, Err(failure)) => log.add_unreadable(file, &failure),
        }
    }
    match (asked.format, verdict.error) {
        (LintFormat::Human, Some(code)) => {
            output::line(format_args!("try: toolexec lint --explain {}", code.as_str()))?;
        }
        (LintFormat::Sarif, _) => output::line(log.into_json(verdict.exit_code()))?,
        _ => {}
    }
    Ok(ExitCode::from(verdict.exit_code()))
}

/// What a document is checked against.
pub(crate) struct Rules<'a> {
    expect: Expect,
    beside: Beside<'a>,
}

/// What it is checked against beside its schema.
enum Beside<'a> {
    Nothing,
    /// Whether its limits are at the ceilings, or above.
    Ceilings(Ceilings),
    /// That, and what no approval mends.
    Policy(Ceilings, &'a Policy),
}

impl<'a> Rules<'a> {
    pub(crate) fn of_schema(expect: Expect) -> Self {
        Self { expect, beside: Beside::Nothing }
    }

    /// With the ceilings of a policy that may not be the one that the request is for.
    fn of_ceilings(expect: Expect, policy: &Policy) -> Self {
        Self { expect, beside: Beside::Ceilings(ceilings(policy)) }
    }

    /// With the bounds of the policy that the request is for.
    pub(crate) fn of(expect: Expect, policy: &'a Policy) -> Self {
        Self { expect, beside: Beside::Policy(ceilings(policy), policy) }
    }

    /// Every violation of a document of this name, by place.
    pub(crate) fn check(&self, bytes: &[u8], name: &str) -> (DocumentKind, Vec<Violation>) {
        let now = clock::now();
        let (kind, mut violations) = validator::lint(bytes, name, self.expect, now);
        if kind == DocumentKind::Request {
            violations.extend(match self.beside {
                Beside::Nothing => Vec::new(),
                Beside::Ceilings(ceilings) => validator::at_ceiling(bytes, ceilings),
                Beside::Policy(ceilings, policy) => {
                    let mut found = validator::at_ceiling(bytes, ceilings);
                    let request = as_approved(bytes, name, now);
                    found.extend(request.iter().flat_map(|it| policies::beyond(it, policy)));
                    found
                }
            });
            violations.sort_by_key(|row| (row.line, row.column));
        }
        (kind, violations)
    }
}

fn ceilings(policy: &Policy) -> Ceilings {
    let policies::Ceilings { cpu_milli, memory_mb, time_sec, .. } = *policy.ceilings();
    Ceilings { cpu_milli, memory_mb, time_sec }
}

/// The request that a text is when somebody approves it, for what no approval changes; nothing as long as
/// something else of it is wrong.
pub(crate) fn as_approved(bytes: &[u8], name: &str, at: UtcTime) -> Option<Request> {
    let filled = fill_approval(bytes, &"somebody".parse().ok()?, at).ok()?;
    let draft = Draft::new(filled.bytes, name, OwnerUid::new(0)).ok()?;
    draft.check(Place::Elsewhere, at).verdict.ok()
}

fn check(file: &Path, rules: &Rules) -> Result<Checked, Failure> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    match read_document(file, RESULT_BYTES_MAX) {
        Ok(bytes) => {
            let (kind, violations) = rules.check(&bytes, &name);
            Ok(Checked { kind, text: String::from_utf8_lossy(&bytes).into_owned(), violations })
        }
        // Too large for any document: its name alone says what it was meant to be.
        Err(Failure::TooLarge(_, most)) => {
            let (kind, _) = rules.check(b"", &name);
            Ok(Checked { kind, text: String::new(), violations: vec![human::too_large(most)] })
        }
        Err(failure) => Err(failure),
    }
}

fn print_human(file: &Path, checked: &Checked) -> Result<(), Failure> {
    let Checked { kind, text, violations } = checked;
    output::text(&human::violations(Screen::of(&io::stdout()), file, text, violations))?;
    let verdict = if human::has_error(violations) { "invalid" } else { "valid" };
    let (file, kind, count) = (human::name(file), kind.as_str(), human::count(violations));
    output::line(format_args!("{file}: {verdict} {kind}: {count}"))
}

/// One object for every file that was named, also where it could not be read.
fn print_json(file: &Path, found: &Result<Checked, Failure>) -> Result<(), Failure> {
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

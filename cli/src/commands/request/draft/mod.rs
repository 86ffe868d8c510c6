//! `toolexec draft`: creates a request from the arguments, and checks it before writing. It never
//! approves, never replaces a file, and states only digests of bytes that it copied itself.

mod args;
mod compose;
mod folder;
mod inputs;
mod outcome;
mod patch;
mod standing_use;

pub(crate) use args::{DRAFT_CPU, DRAFT_MEMORY_MB, DRAFT_TIME_SEC, DraftCommand, closed_set_value};
pub(crate) use inputs::{DraftContent, DraftInput, name_and_path};
pub(crate) use patch::{PATCH_FILE, check_folder_count};

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use validator::{ApprovalRequirement, Composition, StandingApproval, Violation};

use super::lint::LintRules;
use crate::args::Format;
use crate::args::files::named_directory;
use crate::clock;
use crate::failure::Failure;
use crate::output;
use crate::output::human;
use outcome::DraftOutcome;

/// Returns the violations of a composition besides those of its text.
type CompositionJudge<'a> = &'a dyn Fn(&Composition) -> Vec<Violation>;

/// The limit of the shipped policies for the inputs of one run.
const INPUT_BYTES_MAX: u64 = 1 << 30;

pub(in crate::commands) fn draft(args: &DraftCommand) -> Result<ExitCode, Failure> {
    named_directory("--dir", &args.dir)?;
    let standing = match &args.standing {
        None => None,
        Some(file) => match standing_use::read(file)? {
            Ok(standing) => Some(standing),
            Err(violations) => return refuse_standing(args, &violations),
        },
    };
    let inputs = inputs::open_inputs(args)?;
    let drafted = match &standing {
        None => create_draft(args, inputs, INPUT_BYTES_MAX, &by_schema)?,
        Some(standing) => {
            create_standing_draft(args, standing, inputs, (INPUT_BYTES_MAX, &by_schema))?
        }
    };
    match &drafted.path {
        Some(path) => print_written(args, path, &drafted, standing.as_ref()),
        None => refuse(args, &drafted),
    }
}

/// Writes the draft, and returns its path without printing it. Reports a draft that would be
/// refused, and returns `None`.
pub(crate) fn draft_or_report(
    args: &DraftCommand,
    input_bytes_max: u64,
) -> Result<Option<PathBuf>, Failure> {
    let drafted = create_draft(args, inputs::open_inputs(args)?, input_bytes_max, &by_schema)?;
    if drafted.path.is_none() {
        drafted.print_refused(Path::new("request"));
    }
    Ok(drafted.path)
}

/// Writes the draft and copies of its inputs, unless it would be refused.
pub(crate) fn create_draft(
    args: &DraftCommand,
    inputs: Vec<DraftInput>,
    input_bytes_max: u64,
    judge: CompositionJudge<'_>,
) -> Result<DraftOutcome, Failure> {
    let composition = compose::compose(args, &inputs, clock::now())?;
    outcome::write(composition, inputs, (directory(args), input_bytes_max), judge)
}

/// Writes the draft of a use of a standing approval, unless it exceeds a bound or would be refused.
pub(crate) fn create_standing_draft(
    args: &DraftCommand,
    standing: &StandingApproval,
    inputs: Vec<DraftInput>,
    (input_bytes_max, judge): (u64, CompositionJudge<'_>),
) -> Result<DraftOutcome, Failure> {
    standing_use::check_tree(&inputs)?;
    let now = clock::now();
    let words = match standing_use::command_words(args, standing, &inputs)? {
        Ok(words) => words,
        Err(violations) => {
            let id = compose::id(args, &standing.terms().purpose, now)?;
            return Ok(DraftOutcome::without_command(id, violations));
        }
    };
    let composition = standing_use::compose(args, (standing, &words), &inputs, now)?;
    let sizes = standing_use::input_sizes(&inputs)?;
    let judge = |composition: &Composition| {
        let mut violations = judge(composition);
        violations.extend(standing_use::differences(standing, composition, &sizes));
        violations
    };
    outcome::write(composition, inputs, (directory(args), input_bytes_max), &judge)
}

/// Returns the directory of the draft, as messages show it.
fn directory(args: &DraftCommand) -> &Path {
    args.dir.strip_prefix(".").unwrap_or(&args.dir)
}

fn by_schema(composition: &Composition) -> Vec<Violation> {
    lint(composition, &LintRules::of_schema(ApprovalRequirement::DraftOnly))
}

pub(crate) fn lint(composition: &Composition, rules: &LintRules) -> Vec<Violation> {
    let name = format!("{}.md", composition.id);
    rules.check(composition.to_text().as_bytes(), &name).1
}

fn refuse(args: &DraftCommand, drafted: &DraftOutcome) -> Result<ExitCode, Failure> {
    let path = directory(args).join(format!("{}.md", drafted.id()));
    drafted.print_refused(&path);
    let path = path.display();
    output::note(format_args!("{path}: not written; help: correct the errors above"));
    if args.format == Format::Json {
        output::line(drafted.json())?;
    }
    Ok(ExitCode::from(2))
}

fn refuse_standing(args: &DraftCommand, violations: &[Violation]) -> Result<ExitCode, Failure> {
    if args.format == Format::Json {
        output::line(json!({ "request": null, "request_id": null, "violations": violations }))?;
    }
    Ok(ExitCode::from(2))
}

fn print_written(
    args: &DraftCommand,
    path: &Path,
    drafted: &DraftOutcome,
    standing: Option<&StandingApproval>,
) -> Result<ExitCode, Failure> {
    drafted.print_violations(path);
    match args.format {
        Format::Human => {
            let path = human::name(path);
            output::line(&path)?;
            output::stderr_line(match standing {
                None => next_for_approval(&path),
                Some(standing) => next_for_use(&path, standing),
            });
        }
        Format::Json => output::line(drafted.json())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn next_for_approval(path: &str) -> String {
    format!(
        "Draft written. Next, an approver signs it:\n  \
         toolexec approve {path} --approver NAME --key FILE\n\
         If the policy requires no signature, review it, fill in the two lines\n  \
         approved_by: \"…\"\n  approved_utc: \"{}\" (the current time)\nand run\n  \
         toolexec lint {path}\n  toolexec run {path}",
        clock::now()
    )
}

fn next_for_use(path: &str, standing: &StandingApproval) -> String {
    let id = &standing.terms().id;
    format!("Draft written. It uses {id}, so no person signs it. Next:\n  toolexec submit {path}")
}

//! `toolexec draft`: creates a request from the arguments, and checks it before writing. It never
//! approves, never replaces a file, and states only digests of bytes that it copied itself.

mod args;
mod compose;

pub(crate) use args::{DRAFT_CPU, DRAFT_MEMORY_MB, DRAFT_TIME_SEC, DraftCommand, closed_set_value};
pub(crate) use compose::DraftInput;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use model::Sha256;
use serde_json::{Value, json};
use spool::{DraftFiles, SpoolError};
use validator::{ApprovalRequirement, Code, ComposedWork, Composition, Violation};

use super::lint::{LintRules, as_approved};
use crate::args::Format;
use crate::args::files::named_directory;
use crate::clock;
use crate::failure::Failure;
use crate::output;
use crate::output::human;

/// The limit of the shipped policies for the inputs of one run.
const INPUT_BYTES_MAX: u64 = 1 << 30;

pub(in crate::commands) fn draft(args: &DraftCommand) -> Result<ExitCode, Failure> {
    named_directory("--dir", &args.dir)?;
    let inputs = compose::open_inputs(args)?;
    let drafted = create_draft(args, inputs, INPUT_BYTES_MAX, &by_schema)?;
    match &drafted.path {
        Some(path) => print_written(args, path, &drafted),
        None => refuse(args, &drafted),
    }
}

/// Writes the draft, and returns its path without printing it. Reports a draft that would be refused,
/// and returns `None`.
pub(crate) fn draft_or_report(
    args: &DraftCommand,
    input_bytes_max: u64,
) -> Result<Option<PathBuf>, Failure> {
    let drafted = create_draft(args, compose::open_inputs(args)?, input_bytes_max, &by_schema)?;
    if drafted.path.is_none() {
        drafted.print_refused(Path::new("request"));
    }
    Ok(drafted.path)
}

pub(crate) struct DraftOutcome {
    pub(crate) composition: Composition,
    /// The path of the written request; `None` if it would be refused.
    path: Option<PathBuf>,
    violations: Vec<Violation>,
}

/// Writes the draft and copies of its inputs, unless it would be refused.
pub(crate) fn create_draft(
    args: &DraftCommand,
    mut inputs: Vec<DraftInput>,
    input_bytes_max: u64,
    judge: &dyn Fn(&Composition) -> Vec<Violation>,
) -> Result<DraftOutcome, Failure> {
    let now = clock::now();
    let directory = args.dir.strip_prefix(".").unwrap_or(&args.dir);
    let mut composition = compose::compose(args, &inputs, now)?;
    let violations = judge(&composition);
    if human::has_error(&violations) {
        return Ok(DraftOutcome { composition, path: None, violations });
    }
    let mut drafting = DraftFiles::begin(directory, composition.id.as_str(), input_bytes_max)?;
    for (input, composed) in inputs.iter_mut().zip(&mut composition.inputs) {
        let added = drafting.add(&input.name, &mut input.file);
        composed.sha256 = added.map_err(input_error(&input.name, input_bytes_max))?;
    }
    let path = drafting.commit(composition.to_text().as_bytes())?;
    let violations = judge(&composition);
    Ok(DraftOutcome { composition, path: Some(path), violations })
}

impl DraftOutcome {
    /// Returns the violations without the missing approval, which every draft has.
    pub(crate) fn violations(&self) -> Vec<Violation> {
        let rest = self.violations.iter().filter(|it| it.code != Code::ApprovalMissing);
        rest.cloned().collect()
    }

    pub(crate) fn json(&self) -> Value {
        let id = self.composition.id.as_str();
        let Some(path) = &self.path else {
            return json!({ "request": null, "request_id": id, "violations": self.violations });
        };
        let inputs = self.composition.inputs.iter();
        json!({
            "request": output::path(path),
            "request_id": id,
            "sha256": Sha256::of(self.composition.to_text().as_bytes()).to_string(),
            "intent_sha256": intent(&self.composition).map(|digest| digest.to_string()),
            "inputs": inputs.map(|input| json!({
                "name": input.name.as_str(),
                "sha256": input.sha256.to_string(),
            })).collect::<Vec<_>>(),
            "violations": self.violations,
        })
    }

    fn print_violations(&self, path: &Path) {
        human::print_to_stderr(path, self.composition.to_text().as_bytes(), &self.violations());
    }

    fn print_refused(&self, path: &Path) {
        self.print_violations(path);
        if self.violations.iter().any(|it| it.code == Code::CommandUndeclaredFile) {
            propose_inputs(&self.composition);
        }
    }
}

fn input_error(name: &str, bytes_max: u64) -> impl FnOnce(SpoolError) -> Failure + '_ {
    move |error| match error {
        SpoolError::TooLarge { .. } => Failure::Message(format!(
            "--input {name}: the inputs together are larger than {bytes_max} bytes; help: use \
             fewer or smaller inputs"
        )),
        error => error.into(),
    }
}

fn by_schema(composition: &Composition) -> Vec<Violation> {
    lint(composition, &LintRules::of_schema(ApprovalRequirement::DraftOnly))
}

pub(crate) fn lint(composition: &Composition, rules: &LintRules) -> Vec<Violation> {
    let name = format!("{}.md", composition.id);
    rules.check(composition.to_text().as_bytes(), &name).1
}

fn refuse(args: &DraftCommand, drafted: &DraftOutcome) -> Result<ExitCode, Failure> {
    let composition = &drafted.composition;
    let path = args.dir.strip_prefix(".").unwrap_or(&args.dir);
    let path = path.join(format!("{}.md", composition.id));
    drafted.print_refused(&path);
    let path = path.display();
    output::note(format_args!("{path}: not written; help: correct the errors above"));
    if args.format == Format::Json {
        output::line(drafted.json())?;
    }
    Ok(ExitCode::from(2))
}

/// Suggests files that the command names and that exist here, but are not declared.
fn propose_inputs(composition: &Composition) {
    let ComposedWork::Command(line) = &composition.work else { return };
    for word in line.as_str().split([' ', '\t', '=', '\'', '"']) {
        let name = word.strip_prefix("/in/").unwrap_or(word).trim_start_matches("./");
        let declared = composition.inputs.iter().any(|input| input.name.as_str() == name);
        if name.is_empty() || name.starts_with('/') || declared || !Path::new(name).is_file() {
            continue;
        }
        let named = if name.contains('/') { format!("{name}={name}") } else { name.to_owned() };
        output::note(format_args!("{name}: a file of this directory; help: add --input {named}"));
    }
}

fn print_written(
    args: &DraftCommand,
    path: &Path,
    drafted: &DraftOutcome,
) -> Result<ExitCode, Failure> {
    drafted.print_violations(path);
    match args.format {
        Format::Human => {
            let path = human::name(path);
            output::line(&path)?;
            output::stderr_line(format_args!(
                "Draft written. Next, an approver signs it:\n  \
                 toolexec approve {path} --approver NAME --key FILE\n\
                 If the policy requires no signature, review it, fill in the two lines\n  \
                 approved_by: \"…\"\n  approved_utc: \"{}\" (the current time)\nand run\n  \
                 toolexec lint {path}\n  toolexec run {path}",
                clock::now()
            ));
        }
        Format::Json => output::line(drafted.json())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the digest of the request's intent.
fn intent(composition: &Composition) -> Option<Sha256> {
    let (text, name) = (composition.to_text(), format!("{}.md", composition.id));
    Some(as_approved(text.as_bytes(), &name, composition.created)?.intent_sha256())
}

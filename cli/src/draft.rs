//! `toolexec draft`: a request of what was typed, checked before anything is written. It never
//! approves, never replaces a file, and states no digest but of the bytes that it copied itself.

mod typed;

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use spool::{Drafting, SpoolError};
use validator::{
    Code, ComposedWork, Composition, Expect, OwnerUid, Place, Sha256, UtcTime, Violation,
};

use crate::failure::Failure;
use crate::options::{Draft, Format};
use crate::output;
use crate::show;
use crate::state::named_directory;

/// What the policies that come with the programs allow for the inputs of one run.
const INPUT_BYTES_MAX: u64 = 1 << 30;

pub(crate) fn draft(asked: &Draft) -> Result<ExitCode, Failure> {
    let now = show::now();
    named_directory("--dir", &asked.dir)?;
    let directory = asked.dir.strip_prefix(".").unwrap_or(&asked.dir);
    let mut inputs = typed::open_inputs(asked)?;
    let mut composition = typed::compose(asked, &inputs, now)?;
    let id = composition.id.clone();
    let path = directory.join(format!("{id}.md"));
    let violations = lint(&composition, now);
    if show::has_error(&violations) {
        return refuse(asked, &path, &composition, &violations);
    }
    let mut drafting = Drafting::begin(directory, id.as_str(), INPUT_BYTES_MAX)?;
    for (input, composed) in inputs.iter_mut().zip(&mut composition.inputs) {
        composed.sha256 =
            drafting.add(&input.name, &mut input.file).map_err(of_input(&input.name))?;
    }
    let path = drafting.keep(composition.to_text().as_bytes())?;
    tell(asked, &path, &composition, &lint(&composition, now))
}

fn of_input(name: &str) -> impl FnOnce(SpoolError) -> Failure + '_ {
    move |error| match error {
        SpoolError::TooLarge { .. } => Failure::Said(format!(
            "--input {name}: with it the inputs are larger than {INPUT_BYTES_MAX} bytes"
        )),
        error => error.into(),
    }
}

fn lint(composition: &Composition, now: UtcTime) -> Vec<Violation> {
    let name = format!("{}.md", composition.id);
    validator::lint(composition.to_text().as_bytes(), &name, Expect::DraftOnly, now).1
}

/// All but the one that a draft is expected to have.
fn print_violations(path: &Path, composition: &Composition, violations: &[Violation]) {
    let rest = violations.iter().filter(|it| it.code != Code::ApprovalMissing).cloned();
    show::aside(path, composition.to_text().as_bytes(), &rest.collect::<Vec<_>>());
}

fn refuse(
    asked: &Draft,
    path: &Path,
    composition: &Composition,
    violations: &[Violation],
) -> Result<ExitCode, Failure> {
    print_violations(path, composition, violations);
    if violations.iter().any(|it| it.code == Code::CommandUndeclaredFile) {
        propose_inputs(composition);
    }
    output::note(format_args!("{}: not written", path.display()));
    if asked.format == Format::Json {
        output::line(json!({
            "request": null,
            "request_id": composition.id.as_str(),
            "violations": violations,
        }))?;
    }
    Ok(ExitCode::from(2))
}

/// Names the files of the command that lie here and were not declared.
fn propose_inputs(composition: &Composition) {
    let ComposedWork::Command(line) = &composition.work else { return };
    for word in line.as_str().split([' ', '\t', '=', '\'', '"']) {
        let name = word.strip_prefix("/in/").unwrap_or(word).trim_start_matches("./");
        let declared = composition.inputs.iter().any(|input| input.name.as_str() == name);
        if name.is_empty() || name.starts_with('/') || declared || !Path::new(name).is_file() {
            continue;
        }
        let named = if name.contains('/') { format!("{name}={name}") } else { name.to_owned() };
        output::note(format_args!("{name}: is a file here; add --input {named}"));
    }
}

fn tell(
    asked: &Draft,
    path: &Path,
    composition: &Composition,
    violations: &[Violation],
) -> Result<ExitCode, Failure> {
    print_violations(path, composition, violations);
    match asked.format {
        Format::Human => {
            let path = show::name(path);
            output::line(&path)?;
            output::aside(format_args!(
                "A draft. Next: whoever approves it signs it,\n  \
                 toolexec approve {path} --as NAME --key FILE\n\
                 or, where the policy asks for no signature, reads it and fills in the two lines\n  \
                 approved_by: \"…\"\n  approved_utc: \"{}\" (the time then)\nand then\n  \
                 toolexec lint {path}\n  toolexec run {path}",
                show::now()
            ));
        }
        Format::Json => output::line(json!({
            "request": output::path(path),
            "request_id": composition.id.as_str(),
            "sha256": Sha256::of(composition.to_text().as_bytes()).to_string(),
            "intent_sha256": intent(composition).map(|digest| digest.to_string()),
            "inputs": composition.inputs.iter().map(|input| json!({
                "name": input.name.as_str(),
                "sha256": input.sha256.to_string(),
            })).collect::<Vec<_>>(),
            "violations": violations,
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What the request means to do. No approval changes it, so any will do to have it computed.
fn intent(composition: &Composition) -> Option<Sha256> {
    let somebody = "somebody".parse().ok()?;
    let approval = Some((somebody, composition.created));
    let text = Composition { approval, ..composition.clone() }.to_text();
    let name = format!("{}.md", composition.id);
    let draft = validator::Draft::new(text.into_bytes(), &name, OwnerUid::new(0)).ok()?;
    let request = draft.check(Place::Elsewhere, composition.created).verdict.ok()?;
    Some(request.intent_sha256())
}

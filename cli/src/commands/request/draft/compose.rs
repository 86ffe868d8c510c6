//! Builds a composition from the arguments. It refuses only values that cannot appear in a text, by
//! the name of their option: the check of the text reports all others with a location.

use model::{EnvironmentReference, RequestId, Sha256, UtcTime};
use validator::{
    ComposedAgent, ComposedInput, ComposedOutput, ComposedRisk, ComposedWork, Composition,
    Constraint, OneLine, quote_words,
};

use super::inputs::DraftInput;
use super::patch::{PATCH_FILE, only_folder};
use super::{DRAFT_CPU, DRAFT_MEMORY_MB, DRAFT_TIME_SEC, DraftCommand};
use crate::args::environment::environment_reference;
use crate::failure::Failure;

const SLUG_BYTES: usize = 40;
const PATCH_DESCRIPTION: &str = "a patch for git apply";
const OUTPUT_FORM: &str = "write --output PATH or --output PATH=DESCRIPTION";

/// Builds the composition. The digests are not known yet.
pub(super) fn compose(
    args: &DraftCommand,
    inputs: &[DraftInput],
    now: UtcTime,
) -> Result<Composition, Failure> {
    // Placeholders until the files are copied and hashed.
    let sha256 = Sha256::of(b"");
    let input = |it: &DraftInput| {
        let name = line("--input", &it.name)?;
        Ok::<_, Failure>(ComposedInput { name, sha256 })
    };
    let purpose = given("--purpose", args.purpose.as_deref())?;
    let hosts = args.hosts.iter().map(|it| line("--host", it)).collect::<Result<Vec<_>, _>>()?;
    Ok(Composition {
        id: id(args, purpose, now)?,
        created: now,
        requested_by: args.requested_by,
        approval: None,
        purpose: line("--purpose", purpose)?,
        language: given("--language", args.language)?,
        backend: None,
        hosts: Some(hosts).filter(|hosts| !hosts.is_empty()),
        cpu: line("--cpu", args.cpu.as_deref().unwrap_or(DRAFT_CPU))?,
        memory_limit_mb: args.memory_mb.unwrap_or(DRAFT_MEMORY_MB),
        time_limit_sec: args.time_sec.unwrap_or(DRAFT_TIME_SEC),
        inputs: inputs.iter().map(input).collect::<Result<_, _>>()?,
        outputs_expected: outputs(args, inputs)?,
        constraints: Constraint::SEED
            .iter()
            .map(|it| line("constraints", it))
            .collect::<Result<_, _>>()?,
        work: ComposedWork::Command(command(args)?),
        risk: risk(args)?,
        requester: requester(args)?,
        agent: agent(args)?,
        audience: args.audience.as_deref().map(|it| line("--audience", it)).transpose()?,
        standing: None,
        environment: environment(args)?,
    })
}

fn environment(args: &DraftCommand) -> Result<Option<EnvironmentReference>, Failure> {
    let reference = args.environment.as_deref().map(environment_reference).transpose();
    reference.map_err(|failure| Failure::Message(format!("--env: {failure}")))
}

/// Returns the value of an option that only a standing approval can replace.
fn given<T>(option: &str, value: Option<T>) -> Result<T, Failure> {
    value.ok_or_else(|| {
        let help = "give it, or use a standing approval";
        Failure::Message(format!("{option}: missing; help: {help}"))
    })
}

fn risk(args: &DraftCommand) -> Result<ComposedRisk, Failure> {
    let justification = given("--justification", args.justification.as_deref())?;
    let rationale = args.network_rationale.as_deref().unwrap_or("none");
    Ok(ComposedRisk {
        level: given("--risk", args.risk)?,
        justification: line("--justification", justification)?,
        sensitivity: given("--sensitivity", args.sensitivity)?,
        network_rationale: line("--network-rationale", rationale)?,
    })
}

pub(super) fn line(option: &str, text: &str) -> Result<OneLine, Failure> {
    text.parse()
        .map_err(|error| Failure::Message(format!("{option}: {error}; help: write one line")))
}

pub(super) fn requester(args: &DraftCommand) -> Result<Option<OneLine>, Failure> {
    args.requester.as_deref().map(|it| line("--requester", it)).transpose()
}

pub(super) fn agent(args: &DraftCommand) -> Result<Option<ComposedAgent>, Failure> {
    let Some(source) = args.source.source() else { return Ok(None) };
    let scope = source.accesscontrol.as_ref();
    Ok(Some(ComposedAgent {
        name: line("--agent", source.name.as_str())?,
        subject: line("--subject", source.subject.as_str())?,
        accesscontrol: scope.map(|it| line("--accesscontrol", it.as_str())).transpose()?,
    }))
}

fn outputs(args: &DraftCommand, inputs: &[DraftInput]) -> Result<Vec<ComposedOutput>, Failure> {
    let stated = args.outputs.iter().map(|it| output(it));
    let patch = args.patch.then(|| patch(inputs));
    stated.chain(patch).collect()
}

fn patch(inputs: &[DraftInput]) -> Result<ComposedOutput, Failure> {
    Ok(ComposedOutput {
        path: line("--patch", PATCH_FILE)?,
        description: PATCH_DESCRIPTION.to_owned(),
        patch_of: Some(only_folder(inputs)?),
    })
}

fn output(typed: &str) -> Result<ComposedOutput, Failure> {
    let (path, description) = typed.split_once('=').unwrap_or((typed, ""));
    // The path of an output never contains a colon.
    if path.contains(':') {
        return Err(Failure::Message(format!(
            "--output {typed}: `{path}` is not a path; help: {OUTPUT_FORM}"
        )));
    }
    let path = line("--output", path)?;
    Ok(ComposedOutput { path, description: description.to_owned(), patch_of: None })
}

fn command(args: &DraftCommand) -> Result<OneLine, Failure> {
    match &args.command {
        Some(typed) => line("--command", typed),
        None => quote_words(&args.words).map_err(|error| {
            Failure::Message(format!("command: {error}; help: put it in a script"))
        }),
    }
}

pub(super) fn id(args: &DraftCommand, purpose: &str, now: UtcTime) -> Result<RequestId, Failure> {
    let slug = args.slug.clone().unwrap_or_else(|| slug_of(purpose));
    if slug.is_empty() {
        let why = "the purpose yields no slug; help: write letters, digits and dashes";
        return Err(Failure::Message(format!("--slug: {why}")));
    }
    let id = format!("TR-{}-{slug}", now.compact());
    let wrong = |why: &dyn std::fmt::Display| Failure::Message(format!("--slug: '{slug}': {why}"));
    let help = "help: write letters, digits, `_` and `-`";
    let id: RequestId = id.parse().map_err(|error| wrong(&format!("{error}; {help}")))?;
    match id.has_dot() {
        true => Err(wrong(&format!("contains a `.`; {help}"))),
        false => Ok(id),
    }
}

/// Returns the first words of a sentence: letters and digits, joined by dashes.
fn slug_of(purpose: &str) -> String {
    let words = purpose.split(|c: char| !c.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    let mut slug = String::new();
    for word in words {
        if slug.is_empty() {
            slug.extend(word.chars().take(SLUG_BYTES));
        } else if slug.len() + 1 + word.len() <= SLUG_BYTES {
            slug.push('-');
            slug.push_str(word);
        } else {
            break;
        }
    }
    slug.to_ascii_lowercase()
}

//! Builds the composition of a standing approval from a request and the arguments. It decides about
//! no value: the reader of the text does.

use model::{StandingId, UtcTime};
use validator::{
    ComposedExample, ComposedWork, Composition, NotOneLine, OneLine, Request, StandingComposition,
    reveal_line,
};

use super::args::StandingDraftCommand;
use super::template::StandingTemplate;
use crate::commands::approve::standing::error::StandingCommandError;
use crate::failure::Failure;

const DAY_SEC: i64 = 24 * 60 * 60;
/// The word that makes a permitted command a refused one.
const WORD_MORE: &str = "more";

/// A composition, and the notes for the author.
pub(super) struct ComposedDraft {
    pub(super) composition: StandingComposition,
    pub(super) notes: Vec<String>,
}

pub(super) fn compose(
    args: &StandingDraftCommand,
    request: &Request,
    now: UtcTime,
) -> Result<ComposedDraft, StandingCommandError> {
    let of_request = Composition::of(request).map_err(not_one_line)?;
    check_work(request, &of_request)?;
    let argv = argv(request)?;
    let inputs_count = u64::try_from(of_request.inputs.len()).unwrap_or(u64::MAX).max(1);
    let (agents, audience) = (agents(args, &of_request)?, audience(args, &of_request)?);
    let template = StandingTemplate::of(args, &argv, of_request.inputs)?;
    let notes = notes(&template);
    let composition = StandingComposition {
        id: id(args, now)?,
        created: now,
        purpose: of_request.purpose,
        audience,
        agents,
        subject: args.subject.as_deref().map(|it| line("--subject", it)).transpose()?,
        not_before: now,
        not_after: end(args, now),
        uses_max: args.uses,
        uses_per_hour_max: args.uses_per_hour,
        language: of_request.language,
        environment: of_request.environment,
        hosts: of_request.hosts,
        cpu: of_request.cpu,
        memory_limit_mb: of_request.memory_limit_mb,
        time_limit_sec: of_request.time_limit_sec,
        inputs_bytes_max: args
            .inputs_bytes
            .unwrap_or_else(|| args.slot_bytes.saturating_mul(inputs_count)),
        runs_code_of_inputs: args.runs_code_of_inputs,
        examples: examples(argv, &template)?,
        inputs: template.inputs,
        slots: template.slots,
        parameters: template.parameters,
        words: template.words,
        outputs: of_request.outputs_expected,
        constraints: of_request.constraints,
        risk: of_request.risk.level,
        sensitivity: of_request.risk.sensitivity,
        effect: line("--effect", &args.effect)?,
    };
    Ok(ComposedDraft { composition, notes })
}

fn argv(request: &Request) -> Result<Vec<OneLine>, StandingCommandError> {
    let words = request.argv().iter().map(|word| word.parse::<OneLine>());
    words.collect::<Result<_, _>>().map_err(not_one_line)
}

/// Returns the second in which it has ended.
fn end(args: &StandingDraftCommand, now: UtcTime) -> UtcTime {
    let days = i64::try_from(args.days).unwrap_or(i64::MAX);
    UtcTime::from_unix(now.unix().saturating_add(days.saturating_mul(DAY_SEC)))
}

fn not_one_line(error: NotOneLine) -> StandingCommandError {
    let help = "write each value on one line";
    let why = format!("the request: a value is not plain text ({error}); help: {help}");
    StandingCommandError::Refused(why)
}

/// Refuses a request that no standing approval can admit.
fn check_work(request: &Request, composition: &Composition) -> Result<(), StandingCommandError> {
    let id = request.id();
    let refused = |why: &str| Err(StandingCommandError::Refused(format!("{id}: {why}")));
    match (&composition.work, composition.backend) {
        (ComposedWork::Code(_), _) => {
            refused("runs code, not a command; help: name a request with `## Command`")
        }
        (ComposedWork::Command(_), Some(_)) => {
            refused("names a backend; help: name a request without the key `backend`")
        }
        (ComposedWork::Command(_), None) => Ok(()),
    }
}

fn line(option: &str, text: &str) -> Result<OneLine, Failure> {
    text.parse()
        .map_err(|error| Failure::Message(format!("{option}: {error}; help: write one line")))
}

fn id(args: &StandingDraftCommand, now: UtcTime) -> Result<StandingId, Failure> {
    let id = format!("SA-{}-{}", now.compact(), args.slug);
    id.parse().map_err(|error| {
        let slug = reveal_line(&args.slug);
        let help = "write 1 to 64 letters, digits, `_` and `-`";
        Failure::Message(format!("--slug: '{slug}': {error}; help: {help}"))
    })
}

fn agents(args: &StandingDraftCommand, of_request: &Composition) -> Result<Vec<OneLine>, Failure> {
    if !args.agents.is_empty() {
        return args.agents.iter().map(|name| line("--agent", name)).collect();
    }
    let agent = of_request.agent.as_ref().ok_or_else(|| {
        let why = "--agent: missing, and the request names no agent; help: name the agent";
        Failure::Message(why.to_owned())
    })?;
    Ok(vec![agent.name.clone()])
}

fn audience(args: &StandingDraftCommand, of_request: &Composition) -> Result<OneLine, Failure> {
    match (&args.audience, &of_request.audience) {
        (Some(host), _) => line("--audience", host),
        (None, Some(host)) => Ok(host.clone()),
        (None, None) => Err(Failure::Message(
            "--audience: missing, and the request names no host; help: name the host".to_owned(),
        )),
    }
}

/// Returns the request's own command, which is admitted, and one with a word more.
fn examples(
    words: Vec<OneLine>,
    template: &StandingTemplate,
) -> Result<Vec<ComposedExample>, StandingCommandError> {
    let mut longer = words.clone();
    longer.push(WORD_MORE.parse::<OneLine>().map_err(not_one_line)?);
    let example = |is_admitted, words| {
        let files = template.files.clone();
        ComposedExample { is_admitted, words, files }
    };
    Ok(vec![example(true, words), example(false, longer)])
}

fn notes(template: &StandingTemplate) -> Vec<String> {
    let note = |(number, file): &(usize, OneLine)| {
        let file = reveal_line(file.as_str());
        format!(
            "word {number}: names {file}, which every request must then use; help: write \
             /in/{file} as the only file of its slot"
        )
    };
    template.literal_files.iter().map(note).collect()
}

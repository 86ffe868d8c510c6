//! The tool `draft_tool_request`: `toolexec draft` into `drafts/` of the spool, with files from the
//! call. A draft that would be refused is reported and not written. Nothing is ever replaced. A
//! draft may use a standing approval that the daemon published; no argument states its bounds.

use std::fs::{self, File};
use std::io::{Seek as _, Write as _};

use policies::Policy;
use rustix::fs::{MemfdFlags, memfd_create};
use serde_json::{Value, json};
use validator::{Composition, RequestedBy, StandingApproval};

use super::arguments::{DraftArguments, InputArgument};
use super::linting::rules_of;
use super::published_standing;
use super::server_state::ServerState;
use super::write_quota::disk_usage;
use crate::args::Format;
use crate::commands::request::draft::{
    DraftCommand, DraftContent, DraftInput, create_draft, create_standing_draft, lint,
};
use crate::failure::Failure;

/// Limit of all inputs of a draft together.
const INPUT_BYTES_MAX: u64 = 4 << 20;
/// Limit of files in `drafts/`. An operator must delete old drafts first.
const DRAFTS_MAX: usize = 2_000;

/// Estimated size of a request. The true size is known only after its inputs are copied.
const REQUEST_BYTES: u64 = 64 << 10;

pub(super) enum DraftAnswer {
    Written(Value),
    NotWritten(Value),
}

pub(super) fn draft(
    state: &ServerState,
    arguments: DraftArguments,
) -> Result<DraftAnswer, Failure> {
    let standing = standing_approval(state, &arguments)?;
    if standing.is_none() {
        check_command(&arguments)?;
    }
    let inputs = arguments.inputs.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let inputs_bytes = inputs
        .iter()
        .map(DraftInput::bytes)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| Failure::Message(format!("inputs: {error}; help: call again")))?;
    let typed = draft_command(state, arguments)?;
    check_draft_count(state)?;
    let taken_bytes = disk_usage(inputs_bytes.into_iter().chain([REQUEST_BYTES]));
    state.quota.check(&state.drafts, taken_bytes)?;
    let policy = state.policy()?;
    let rules = rules_of(policy.as_deref());
    let judge = |composition: &Composition| lint(composition, &rules);
    let drafted = match &standing {
        None => create_draft(&typed, inputs, INPUT_BYTES_MAX, &judge),
        Some(standing) => {
            create_standing_draft(&typed, standing, inputs, (INPUT_BYTES_MAX, &judge))
        }
    };
    let drafted = drafted.map_err(without_option_dashes)?;
    let mut answer = drafted.json();
    answer["violations"] = json!(drafted.violations());
    let is_written = !answer["request"].is_null();
    if is_written {
        state.quota.add_written(taken_bytes);
    }
    answer["written"] = is_written.into();
    answer["next"] = next(is_written, standing.is_some(), policy.as_deref()).into();
    Ok(if is_written { DraftAnswer::Written(answer) } else { DraftAnswer::NotWritten(answer) })
}

fn next(is_written: bool, uses_standing: bool, policy: Option<&Policy>) -> &'static str {
    if !is_written {
        "Nothing was written. Fix the violations and draft again."
    } else if !uses_standing {
        "A person must review and approve it; you cannot. Give them the id, then call \
         request_status or wait_for_result. If list_standing_approvals with this command lists \
         one, a draft that uses it needs no approval."
    } else if policy.is_some_and(Policy::takes_standing_drafts) {
        "The daemon runs it if the standing approval can be used now. Call request_status or \
         wait_for_result."
    } else {
        "A person must submit it; you cannot. It uses a standing approval, so no person signs it. \
         Give them the id, then call request_status or wait_for_result."
    }
}

/// Returns the standing approval that the draft uses. Arguments that it fixes are refused.
fn standing_approval(
    state: &ServerState,
    arguments: &DraftArguments,
) -> Result<Option<StandingApproval>, Failure> {
    let Some(reference) = &arguments.standing else {
        return match arguments.parameters.is_empty() {
            true => Ok(None),
            false => Err(Failure::Message(
                "parameters: only a standing approval has any; help: give standing too".into(),
            )),
        };
    };
    let fixed = arguments.fixed();
    if !fixed.is_empty() {
        let names = fixed.join(", ");
        let why = "stated by the standing approval; help: leave them out";
        return Err(Failure::Message(format!("{names}: {why}")));
    }
    published_standing::named(state, &reference.0).map(Some)
}

/// Refuses a command in both forms, or in none. Its text is checked with the draft.
fn check_command(arguments: &DraftArguments) -> Result<(), Failure> {
    let why = match (arguments.words.is_empty(), arguments.command.is_some()) {
        (false, true) => "both given; help: give the command as words or as one line, not both",
        (true, false) => "neither given; help: give the command as words or as one line",
        _ => return Ok(()),
    };
    Err(Failure::Message(format!("words, command: {why}")))
}

/// Returns the arguments as if typed for `toolexec draft`.
fn draft_command(state: &ServerState, arguments: DraftArguments) -> Result<DraftCommand, Failure> {
    let outputs = arguments.outputs.into_iter().map(|output| match output.path.contains('=') {
        true => {
            let why = "a path must not have `=`; help: use another name";
            Err(Failure::Message(format!("outputs: {}: {why}", output.path)))
        }
        false => Ok(format!("{}={}", output.path, output.description)),
    });
    Ok(DraftCommand {
        purpose: arguments.purpose,
        slug: arguments.slug,
        language: arguments.language.map(|it| it.0),
        words: arguments.words,
        command: arguments.command,
        standing: None,
        parameters: arguments.parameters.into_iter().collect(),
        environment: arguments.environment.map(|it| it.0.to_string()),
        inputs: Vec::new(),
        outputs: outputs.collect::<Result<_, _>>()?,
        // A call cannot give a folder.
        patch: false,
        hosts: arguments.hosts,
        network_rationale: arguments.network_rationale,
        cpu: arguments.cpu,
        memory_mb: arguments.memory_mb,
        time_sec: arguments.time_sec,
        risk: arguments.risk.map(|it| it.0),
        justification: arguments.justification,
        sensitivity: arguments.sensitivity.map(|it| it.0),
        requested_by: RequestedBy::CoreDraft,
        requester: None,
        audience: arguments.audience,
        source: state.agent.clone(),
        dir: state.drafts_path(),
        format: Format::Json,
    })
}

/// Puts an input into an in-memory file. Only a valid draft is written to disk.
fn open(input: &InputArgument) -> Result<DraftInput, Failure> {
    let name = &input.name;
    let wrong = |what: &str| Failure::Message(format!("inputs: {name}: {what}"));
    if name.ends_with('/') {
        return Err(wrong("the name of a folder; help: give each file with its path"));
    }
    let decoded = match (&input.text, &input.base64) {
        (Some(text), None) => text.clone().into_bytes(),
        (None, Some(base64)) => {
            let why = "not base64 with padding; help: encode it again, or give it as text";
            records::base64::decode(base64).ok_or_else(|| wrong(why))?
        }
        _ => return Err(wrong("needs exactly one of text and base64; help: give one of them")),
    };
    let written = || -> std::io::Result<File> {
        let mut file = File::from(memfd_create("input", MemfdFlags::CLOEXEC)?);
        file.write_all(&decoded)?;
        file.rewind()?;
        Ok(file)
    };
    let file = written().map_err(|error| wrong(&format!("{error}; help: call again")))?;
    Ok(DraftInput { name: name.clone(), content: DraftContent::File(file) })
}

fn check_draft_count(state: &ServerState) -> Result<(), Failure> {
    let drafts = state.drafts_path();
    let count = fs::read_dir(&drafts).map_err(Failure::io(&drafts))?.take(DRAFTS_MAX).count();
    match count < DRAFTS_MAX {
        true => Ok(()),
        false => Err(Failure::Message(format!(
            "drafts/: {DRAFTS_MAX} or more files; help: ask a person to delete old drafts"
        ))),
    }
}

/// Removes the dashes of an option: a tool call has no options.
fn without_option_dashes(failure: Failure) -> Failure {
    let message = failure.to_string();
    match message.strip_prefix("--") {
        Some(rest) => Failure::Message(rest.to_owned()),
        None => failure,
    }
}

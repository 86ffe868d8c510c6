//! `permission get` and `permission request`: what may be called, and the question to a person for what
//! may not.

use std::collections::BTreeMap;
use std::process::ExitCode;

use policies::permissions::{
    AskFile, Change, PermissionManager, Refused, ShownInputs, Terms, ToolAuthorizationState,
};
use serde_json::{Value, json};
use spool::{Filed, StoreError};
use validator::reveal_line;

use super::error::Undone;
use super::store::{source_json, terms};
use crate::args::Format;
use crate::failure::Failure;
use crate::options::{PermissionGet, PermissionRequest};
use crate::output;
use crate::output::human;

pub(super) fn get(asked: &PermissionGet) -> Result<ExitCode, Undone> {
    let (source, calls) = asked.question.read()?;
    let moment = asked.store.moment()?;
    let mut store = asked.store.open(Terms::default())?;
    let found = store.explain(&source, &calls, &moment)?;
    let state = |found: &policies::permissions::Finding| found.state();
    let approved =
        !calls.is_empty() && found.values().all(|it| state(it) == ToolAuthorizationState::Approved);
    let spent = match asked.spend && approved {
        true => match store.spend(&source, &calls, &moment) {
            // Somebody else was quicker.
            Err(StoreError::Refused(blocked @ Refused::Blocked(..))) => {
                output::note(blocked);
                return Ok(ExitCode::from(1));
            }
            spent => spent?,
        },
        false => None,
    };
    match asked.store.format {
        Format::Human => {
            for (tool, found) in &found {
                let tool = reveal_line(tool.as_str());
                output::line(format_args!("{tool}: {} ({found})", found.state()))?;
            }
        }
        Format::Json => {
            let states: BTreeMap<_, _> = found.iter().map(|(tool, it)| (tool, state(it))).collect();
            let reasons: BTreeMap<_, _> =
                found.iter().map(|(tool, it)| (tool, it.to_string())).collect();
            output::line(json!({
                "source": source_json(&source),
                "states": states,
                "reasons": reasons,
                "spent": uses(spent.as_ref()),
                "traceparent": moment.traceparent.to_string(),
            }))?;
        }
    }
    Ok(ExitCode::from(u8::from(!approved)))
}

fn uses(spent: Option<&Change>) -> Value {
    match spent {
        Some(Change::Spent { uses, .. }) => json!(uses),
        _ => json!([]),
    }
}

pub(super) fn request(asked: &PermissionRequest) -> Result<ExitCode, Undone> {
    let (source, calls) = asked.question.read()?;
    let moment = asked.store.moment()?;
    let shown = match asked.withhold_inputs {
        true => ShownInputs::Withheld,
        false => ShownInputs::Whole,
    };
    let terms = Terms { shown, ..terms(&asked.domains)? };
    let drafts = match &asked.drafts {
        Some(drafts) => drafts.clone(),
        None => asked.store.state.path()?.join("drafts"),
    };
    let mut store = asked.store.open(terms)?;
    let filed = store.file_request(&source, &calls, &moment, &drafts)?;
    let (lodged, paths) = filed.parts();
    match asked.store.format {
        Format::Human => {
            let what = match &filed {
                Filed::New(..) => "waits for an answer",
                Filed::Waiting(..) => "was asked before and waits for its answer",
            };
            for path in paths {
                output::line(format_args!("{}: {what}", human::name(path)))?;
            }
        }
        Format::Json => {
            let data = lodged.file.as_deref().map(AskFile::read).transpose();
            let data = data.map_err(Failure::Said)?.map(|file| file.data);
            output::line(json!({
                "id": lodged.ask.id,
                "sha256": lodged.ask.sha256.to_string(),
                "files": paths.iter().map(|path| output::path(path)).collect::<Vec<_>>(),
                "new": lodged.file.is_some(),
                "data": data,
                "traceparent": moment.traceparent.to_string(),
            }))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

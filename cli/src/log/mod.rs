//! `toolexec log`: the transparency log for those who check it: its head, its proofs, its copies, its
//! witnesses. Nothing is shown that did not lead to a checkpoint which the log's key signed. Only
//! `heartbeat` may append, and only `witness` may reach a network.

mod account;
mod consistency;
pub(crate) mod copy;
mod kept;
mod open;
pub(crate) mod options;
mod post;
mod prove;
mod witness;

use std::process::ExitCode;

use daemon::LOG_WAIT;
use records::log::entry::{BootId, Heartbeat};
use records::log::{Log, LogKey, LogPlace};
use serde_json::json;

use crate::args::Format;
use crate::clock;
use crate::failure::Failure;
use crate::log::open::{Halt, Opened};
use crate::log::options::LogAct;
use crate::output;

pub(crate) fn log(asked: &options::Log) -> Result<ExitCode, Failure> {
    let (said, format) = match &asked.act {
        LogAct::Head(asked) => (head(asked), asked.format),
        LogAct::Prove(asked) => (prove::prove(asked), Format::Human),
        LogAct::Consistency(asked) => (consistency::consistency(asked), asked.format),
        LogAct::Fsck(asked) => (account::fsck(asked), asked.format),
        LogAct::Export(asked) => (copy::export(asked), asked.format),
        LogAct::Witness(asked) => (witness::witness(asked), asked.format),
        LogAct::Heartbeat(asked) => (heartbeat(asked), asked.format),
    };
    match said {
        Ok(code) => Ok(code),
        Err(Halt::Failure(failure)) => Err(failure),
        Err(Halt::No(why)) => {
            output::note(&why);
            if format == Format::Json {
                output::line(json!({ "ok": false, "fault": why }))?;
            }
            Ok(ExitCode::from(1))
        }
    }
}

fn head(asked: &options::Head) -> Result<ExitCode, Halt> {
    let opened = Opened::at(&asked.place)?;
    let (head, key) = (opened.view.head(), &opened.key);
    if asked.note {
        output::text(head.note())?;
        return Ok(ExitCode::SUCCESS);
    }
    let beat = opened.said(opened.view.latest_heartbeat())?;
    let (root, key_id) = (head.root().to_string(), key.id().to_string());
    match asked.format {
        Format::Human => {
            output::line(format_args!("log        {}", key.origin()))?;
            output::line(format_args!("size       {}", head.size()))?;
            output::line(format_args!("root       {root}"))?;
            output::line(format_args!("key        {key_id}"))?;
            match &beat {
                Some((index, beat)) => output::line(format_args!(
                    "heartbeat  {}, entry {index}, {} entries since",
                    beat.time(),
                    head.size() - index - 1
                ))?,
                None => output::line("heartbeat  none")?,
            }
        }
        Format::Json => output::line(json!({
            "ok": true,
            "origin": key.origin().as_str(),
            "size": head.size(),
            "root": root,
            "key_id": key_id,
            "heartbeat": beat.as_ref().map(|(index, beat)| json!({
                "index": index,
                "time": beat.time().to_string(),
                "boot_id": beat.boot_id().map(BootId::to_string),
            })),
            "note": head.note(),
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn heartbeat(asked: &options::Heartbeat) -> Result<ExitCode, Halt> {
    let state = asked.state.path()?;
    let place = options::Place {
        log: None,
        spool: None,
        state: crate::args::StateOption { dir: Some(state.clone()) },
        log_key: None,
    };
    // A log that is not there is not made by a heartbeat.
    let opened = Opened::at(&place)?;
    let key = LogKey::open(&state.join("keys"), opened.key.origin()).map_err(Failure::from)?;
    let mut log = opened.said(Log::open_within(LOG_WAIT, LogPlace::of_state(&state), key))?;
    let beat = Heartbeat::new(clock::now(), daemon::boot_id());
    let inclusion = opened.said(log.append(&beat.entry()))?;
    match asked.format {
        Format::Human => output::line(format_args!(
            "{}: heartbeat of {}, entry {}",
            opened.key.origin(),
            beat.time(),
            inclusion.index()
        ))?,
        Format::Json => output::line(json!({
            "ok": true,
            "index": inclusion.index(),
            "time": beat.time().to_string(),
            "boot_id": beat.boot_id().map(BootId::to_string),
        }))?,
    }
    Ok(ExitCode::SUCCESS)
}

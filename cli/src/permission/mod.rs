//! `toolexec permission`: ask what may be called, ask people, take their answers in, take grants back. It
//! decides nothing itself; a store that cannot be read is an error, and never a state.

mod answering;
mod asking;
mod listing;
mod taking_back;

use std::io::Read;
use std::process::ExitCode;

use policies::permissions::{
    Author, CALLS_BYTES_MAX, Calls, Domains, Moment, Source, Subject, Terms,
};
use serde_json::json;
use spool::{Durable, StoreError, new_traceparent};
use validator::{Draft, OwnerUid, Place, REQUEST_BYTES_MAX};

use crate::approve::refused;
use crate::failure::Failure;
use crate::options::{Permission, PermissionAct, QuestionOptions, SourceOptions, StoreOptions};
use crate::show;
use crate::state::read_document;

pub(crate) fn permission(asked: &Permission) -> Result<ExitCode, Failure> {
    let done = match &asked.act {
        PermissionAct::Get(asked) => asking::get(asked),
        PermissionAct::Request(asked) => asking::request(asked),
        PermissionAct::Set(asked) => answering::set(asked),
        PermissionAct::List(asked) => listing::list(asked),
        PermissionAct::Revoke(asked) => taking_back::revoke(asked),
        PermissionAct::Cleanup(asked) => taking_back::cleanup(asked),
    };
    match done {
        Ok(code) => Ok(code),
        Err(Undone::Refused(why)) => Ok(refused(&why)),
        Err(Undone::Failed(failure)) => Err(failure),
    }
}

/// Why a command did nothing.
enum Undone {
    /// What was asked is not allowed, or is no such thing.
    Refused(String),
    Failed(Failure),
}

impl From<Failure> for Undone {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<StoreError> for Undone {
    fn from(error: StoreError) -> Self {
        match error.is_refusal() {
            true => Self::Refused(error.to_string()),
            false => Self::Failed(Failure::Said(error.to_string())),
        }
    }
}

impl From<spool::SpoolError> for Undone {
    fn from(error: spool::SpoolError) -> Self {
        Self::Failed(error.into())
    }
}

impl StoreOptions {
    fn open(&self, terms: Terms) -> Result<Durable, Undone> {
        let directory = match &self.store {
            Some(store) => store.clone(),
            None => self.state.path()?.join("permissions"),
        };
        Ok(Durable::open(&directory, terms)?)
    }

    fn moment(&self) -> Result<Moment, Undone> {
        let traceparent = match self.traceparent {
            Some(traceparent) => traceparent,
            None => new_traceparent()?,
        };
        let by = Author::Uid(rustix::process::geteuid().as_raw());
        Ok(Moment { now: show::now(), traceparent, by })
    }
}

impl SourceOptions {
    pub(crate) fn source(&self) -> Option<Source> {
        let (name, subject): (_, Subject) = (self.agent.clone()?, self.subject.clone()?);
        Some(Source { name, subject, accesscontrol: self.accesscontrol.clone() })
    }

    fn named(&self) -> Result<Source, Failure> {
        self.source().ok_or_else(|| Failure::Said("name --agent and --subject".into()))
    }
}

impl QuestionOptions {
    fn read(&self) -> Result<(Source, Calls), Undone> {
        if let Some(path) = &self.tool_request {
            let bytes = read_document(path, REQUEST_BYTES_MAX)?;
            let refuse = |why: String| Undone::Refused(format!("{}: {why}", show::name(path)));
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let owner = OwnerUid::new(rustix::process::geteuid().as_raw());
            let draft =
                Draft::new(bytes, &name, owner).map_err(|error| refuse(error.to_string()))?;
            let invalid = || refuse("is no valid request; `toolexec lint` tells why".to_owned());
            let request =
                draft.check(Place::Elsewhere, show::now()).verdict.map_err(|_| invalid())?;
            let source = Source::of_request(&request).map_err(|error| refuse(error.to_string()))?;
            return Ok((source, Calls::of_request(&request)));
        }
        if let Some(path) = &self.from {
            let bytes = if path.as_os_str() == "-" {
                let most = u64::try_from(CALLS_BYTES_MAX).unwrap_or(u64::MAX);
                let mut bytes = Vec::new();
                let read = std::io::stdin().lock().take(most + 1).read_to_end(&mut bytes);
                read.map_err(Failure::io("stdin".as_ref()))?;
                bytes
            } else {
                read_document(path, CALLS_BYTES_MAX)?
            };
            return Calls::read(&bytes)
                .map_err(|error| Undone::Refused(format!("{}: {error}", show::name(path))));
        }
        let mut calls = Calls::new();
        for tool in &self.tools {
            let asked = calls.ask(tool.clone(), Vec::new());
            asked.map_err(|error| Undone::Refused(error.to_string()))?;
        }
        Ok((self.source.named()?, calls))
    }
}

/// How people are asked, where the command has a say in it.
fn terms(domains: &[String]) -> Result<Terms, Undone> {
    if domains.is_empty() {
        return Ok(Terms::default());
    }
    let domains = Domains::try_from(domains.to_vec());
    let domains = domains.map_err(|error| Undone::Refused(format!("--domain: {error}")))?;
    Ok(Terms { domains: Some(domains), ..Terms::default() })
}

fn source_json(source: &Source) -> serde_json::Value {
    json!(source)
}

//! Options for a permission store, the trace, and the calls in question.

use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use policies::permissions::{
    Author, CALLS_BYTES_MAX, Domains, OperationContext, PermissionCalls, PermissionSource,
    PermissionTerms, ToolName, Traceparent,
};
use serde_json::json;
use spool::{PermissionStore, new_traceparent};
use validator::{Draft, FileLocation, OwnerUid, REQUEST_BYTES_MAX};

use super::error::PermissionCommandError;
use crate::args::files::read_document;
use crate::args::{Format, SourceOptions, StateOption};
use crate::clock;
use crate::failure::Failure;
use crate::output::human;

/// A permission store and a trace.
#[derive(Args)]
pub(crate) struct StoreOptions {
    /// Use this permission store [default: permissions/ in the state directory]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    #[command(flatten)]
    pub(super) state: StateOption,
    /// Join this trace, in W3C format [default: a new one]
    #[arg(long, value_name = "00-…")]
    traceparent: Option<Traceparent>,
    /// Print in this format
    #[arg(long, value_enum, default_value = "human")]
    pub(super) format: Format,
}

/// The tools in question.
#[derive(Args)]
pub(crate) struct QuestionOptions {
    #[command(flatten)]
    source: SourceOptions,
    /// Select these tools, by the names that agents use
    #[arg(value_name = "TOOL", required_unless_present_any = ["from", "tool_request"])]
    tools: Vec<ToolName>,
    /// Read source, tools and inputs of calls from this JSON file; `-` is stdin
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["tools", "agent", "tool_request"])]
    from: Option<PathBuf>,
    /// Select the tool and the agent of this tool request
    #[arg(long, value_name = "REQUEST.md", conflicts_with_all = ["tools", "agent"])]
    tool_request: Option<PathBuf>,
}

impl StoreOptions {
    pub(super) fn open(
        &self,
        terms: PermissionTerms,
    ) -> Result<PermissionStore, PermissionCommandError> {
        let directory = match &self.store {
            Some(store) => store.clone(),
            None => self.state.path()?.join("permissions"),
        };
        Ok(PermissionStore::open(&directory, terms)?)
    }

    pub(super) fn moment(&self) -> Result<OperationContext, PermissionCommandError> {
        let traceparent = match self.traceparent {
            Some(traceparent) => traceparent,
            None => new_traceparent()?,
        };
        let by = Author::Uid(rustix::process::geteuid().as_raw());
        Ok(OperationContext { now: clock::now(), traceparent, by })
    }
}

impl QuestionOptions {
    pub(super) fn read(
        &self,
    ) -> Result<(PermissionSource, PermissionCalls), PermissionCommandError> {
        if let Some(path) = &self.tool_request {
            let bytes = read_document(path, REQUEST_BYTES_MAX)?;
            let refuse = |why: String| {
                PermissionCommandError::Refused(format!("{}: {why}", human::name(path)))
            };
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let owner = OwnerUid::new(rustix::process::geteuid().as_raw());
            let draft =
                Draft::new(bytes, &name, owner).map_err(|error| refuse(error.to_string()))?;
            let help = format!("run `toolexec lint {}`", human::name(path));
            let invalid = || refuse(format!("not a valid request; help: {help}"));
            let request = draft
                .check(FileLocation::Elsewhere, clock::now())
                .verdict
                .map_err(|_| invalid())?;
            let source = PermissionSource::of_request(&request)
                .map_err(|error| refuse(format!("{error}; help: correct its x-agent")))?;
            return Ok((source, PermissionCalls::of_request(&request)));
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
            return PermissionCalls::read(&bytes).map_err(|error| {
                PermissionCommandError::Refused(format!("{}: {error}", human::name(path)))
            });
        }
        let mut calls = PermissionCalls::new();
        for tool in &self.tools {
            let added = calls.add(tool.clone(), Vec::new());
            added.map_err(|error| PermissionCommandError::Refused(error.to_string()))?;
        }
        Ok((self.source.required()?, calls))
    }
}

/// Returns the terms of a request, with the domains of the option.
pub(super) fn terms(domains: &[String]) -> Result<PermissionTerms, PermissionCommandError> {
    if domains.is_empty() {
        return Ok(PermissionTerms::default());
    }
    let domains = Domains::try_from(domains.to_vec());
    let domains = domains.map_err(|error| {
        let help = "name each domain once, with letters, digits and ._-";
        PermissionCommandError::Refused(format!("--domain: {error}; help: {help}"))
    })?;
    Ok(PermissionTerms { domains: Some(domains), ..PermissionTerms::default() })
}

pub(super) fn source_json(source: &PermissionSource) -> serde_json::Value {
    json!(source)
}

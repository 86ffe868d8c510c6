//! The standing approvals that the daemon published in `public/standing/`. They are read by handle,
//! without links and with limits. A published file proves no approval: the daemon decides.

use std::os::fd::OwnedFd;

use model::{StandingId, StandingReference, UtcTime};
use policies::permissions::PermissionSource;
use rustix::fs::{Dir, Mode, OFlags, openat};
use rustix::io::Errno;
use validator::{REQUEST_BYTES_MAX, StandingApproval, StandingTerms};

use super::server_state::ServerState;
use crate::clock;
use crate::failure::Failure;
use crate::regular_file::{open_regular, read_bounded};

/// Limit of files that one call reads, newest first.
const READ_MAX: usize = 1_000;

const NO_AGENT: &str = "agent: this server has none, and a standing approval is for named agents; \
                        help: ask a person to start this server with --agent";

/// Returns the standing approvals that the server's agent may use now, newest first.
pub(super) fn usable(state: &ServerState) -> Result<Vec<StandingApproval>, Failure> {
    let source = state.source().ok_or_else(|| Failure::Message(NO_AGENT.into()))?;
    usable_in(&state.public, &source)
}

/// Returns the standing approvals in this `public/` that an agent may use now, newest first.
pub(crate) fn usable_in(
    public: &OwnedFd,
    source: &PermissionSource,
) -> Result<Vec<StandingApproval>, Failure> {
    let Some(directory) = open_directory(public)? else { return Ok(Vec::new()) };
    let now = clock::now();
    let mut ids = ids(&directory)?;
    ids.sort_unstable();
    // The daemon may have removed a file since it was listed.
    let found = ids.iter().rev().take(READ_MAX).filter_map(|id| read(&directory, id, now));
    Ok(found.filter(|standing| may_use(standing.terms(), source, now)).collect())
}

/// Returns the published standing approval of this reference, if the server's agent may use it.
pub(super) fn named(
    state: &ServerState,
    reference: &StandingReference,
) -> Result<StandingApproval, Failure> {
    let source = state.source().ok_or_else(|| Failure::Message(NO_AGENT.into()))?;
    let now = clock::now();
    let directory = open_directory(&state.public)?;
    let found = directory.and_then(|directory| read(&directory, &reference.id, now));
    let found = found.filter(|standing| {
        standing.reference() == *reference && may_use(standing.terms(), &source, now)
    });
    found.ok_or_else(|| {
        let why = "not a standing approval that this agent may use now";
        let help = "call list_standing_approvals";
        Failure::Message(format!("standing: {}: {why}; help: {help}", reference.id))
    })
}

fn may_use(terms: &StandingTerms, source: &PermissionSource, now: UtcTime) -> bool {
    let is_named = terms.agents.iter().any(|agent| agent == source.name.as_str());
    let subject = terms.subject.as_deref();
    is_named && subject.is_none_or(|it| it == source.subject.as_str()) && now < terms.not_after
}

/// Opens the directory. Returns `None` if the daemon has published no standing approval.
fn open_directory(public: &OwnedFd) -> Result<Option<OwnedFd>, Failure> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(public, "standing", flags, Mode::empty()) {
        Ok(directory) => Ok(Some(directory)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(unreadable(errno)),
    }
}

fn unreadable(errno: Errno) -> Failure {
    let help = "ask a person to check the spool";
    Failure::Message(format!("public/standing/: {errno}; help: {help}"))
}

/// Returns the ids in the names of the files.
fn ids(directory: &OwnedFd) -> Result<Vec<StandingId>, Failure> {
    let mut found = Vec::new();
    for entry in Dir::read_from(directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_str().ok();
        let id: Option<StandingId> = name.and_then(|name| name.strip_suffix(".md")?.parse().ok());
        found.extend(id);
    }
    Ok(found)
}

/// Reads a file. Returns `None` if it is missing or is not a standing approval of this id.
fn read(directory: &OwnedFd, id: &StandingId, now: UtcTime) -> Option<StandingApproval> {
    let name = format!("{id}.md");
    let bytes = read_bounded(open_regular(directory, &name).ok()?, REQUEST_BYTES_MAX)?;
    // The daemon admitted it; stricter rules of a later version do not end it.
    StandingApproval::read_recorded(&bytes, &name, now).ok()
}

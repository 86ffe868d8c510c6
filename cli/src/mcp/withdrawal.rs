//! The withdrawal of a draft by its own agent. Only a draft that waits for a person can be
//! withdrawn: the file is renamed, so that neither a person nor the daemon takes it for a request.
//! A submitted request is out of reach of this server.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use model::RequestId;
use rustix::fs::{RenameFlags, renameat_with};
use rustix::io::Errno;
use rustix::process::geteuid;
use validator::REQUEST_BYTES_MAX;

use super::request_state::withdrawn_name;
use super::server_state::ServerState;
use crate::clock;
use crate::commands::request::lint::as_approved;
use crate::failure::Failure;
use crate::regular_file::{open_regular, read_bounded};

/// Withdraws the draft, unless it is of another user or agent, or was taken meanwhile. Its text
/// stays in `drafts/` as the record of the withdrawal; its inputs are removed.
pub(super) fn withdraw(state: &ServerState, id: &RequestId) -> Result<(), Failure> {
    let name = format!("{id}.md");
    if !is_own(state, &name) {
        return Ok(());
    }
    let withdrawn = withdrawn_name(id);
    let flags = RenameFlags::NOREPLACE;
    match renameat_with(&state.drafts, &name, &state.drafts, &withdrawn, flags) {
        // The daemon, or a person, has taken it.
        Err(Errno::NOENT) => return Ok(()),
        renamed => renamed.map_err(|errno| failed(id, &errno.into()))?,
    }
    // Never follows a link: it would remove the link itself.
    match fs::remove_dir_all(state.drafts_path().join(format!("{id}.inputs"))) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(|error| failed(id, &error)),
    }
}

fn failed(id: &RequestId, error: &io::Error) -> Failure {
    let help = "ask a person to check drafts/ of the spool";
    Failure::Message(format!("{id}: not withdrawn: {error}; help: {help}"))
}

/// Returns whether a process of this user wrote the draft, and in the name of the server's agent.
fn is_own(state: &ServerState, name: &str) -> bool {
    let Ok(file) = open_regular(&state.drafts, name) else { return false };
    let is_of_user = file.metadata().is_ok_and(|found| found.uid() == geteuid().as_raw());
    let bytes = read_bounded(file, REQUEST_BYTES_MAX);
    let request = bytes.and_then(|bytes| as_approved(&bytes, name, clock::now()));
    let agent = state.agent.agent.as_ref().map(|agent| agent.as_str());
    is_of_user && request.is_some_and(|it| it.agent().map(|agent| agent.name()) == agent)
}

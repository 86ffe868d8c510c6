//! The document to revoke, and the place in which it is revoked. The bytes are read as they are: a
//! signature for other bytes revokes nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{StandingId, escape_line};
use validator::{REQUEST_BYTES_MAX, StandingApproval};

use super::args::StandingRevokeCommand;
use crate::args::files::read_document;
use crate::clock;
use crate::commands::approve::standing::error::StandingCommandError;
use crate::commands::approve::standing::stored_row::{self, state_directory};
use crate::commands::inspect::place::PACKAGED_SPOOL;
use crate::failure::Failure;
use crate::output::human;

/// The place in which a standing approval is revoked.
pub(super) enum RevocationPlace {
    /// The spool of a daemon.
    Spool(PathBuf),
    /// The state of embedded runs.
    Embedded(PathBuf),
}

impl RevocationPlace {
    pub(super) fn of(args: &StandingRevokeCommand) -> Result<Self, Failure> {
        let packaged = Path::new(PACKAGED_SPOOL);
        match &args.spool {
            Some(spool) => Ok(Self::Spool(spool.clone())),
            None if args.state.dir.is_none() && packaged.is_dir() => {
                Ok(Self::Spool(packaged.to_owned()))
            }
            None => state_directory(&args.state).map(Self::Embedded),
        }
    }
}

pub(super) fn find(
    args: &StandingRevokeCommand,
    place: &RevocationPlace,
) -> Result<Arc<StandingApproval>, StandingCommandError> {
    if args.standing.is_file() {
        return read(&args.standing);
    }
    let typed = args.standing.to_string_lossy();
    match place {
        RevocationPlace::Spool(spool) if args.state.dir.is_none() => published(spool, &typed),
        RevocationPlace::Spool(_) | RevocationPlace::Embedded(_) => {
            let state = state_directory(&args.state)?;
            Ok(stored_row::find(&state, &typed)?.stored.approval)
        }
    }
}

/// Reads the copy that the daemon publishes.
fn published(spool: &Path, typed: &str) -> Result<Arc<StandingApproval>, StandingCommandError> {
    let typed = typed.strip_suffix(".md").unwrap_or(typed);
    let id = typed.split_once('@').map_or(typed, |(id, _)| id);
    let shown = escape_line(typed);
    let refused = |why: &str| StandingCommandError::Refused(format!("{shown}: {why}"));
    let help = "help: name its complete id or its file";
    let id: StandingId = id.parse().map_err(|error| refused(&format!("{error}; {help}")))?;
    let path = spool.join("public").join("standing").join(format!("{id}.md"));
    if !path.is_file() {
        let path = human::name(&path);
        let help = "help: name its file, or the state directory with --state";
        return Err(refused(&format!("the daemon does not publish {path}; {help}")));
    }
    let approval = read(&path)?;
    if typed.contains('@') && approval.reference().to_string() != typed {
        return Err(refused(&format!("the published one has another digest; {help}")));
    }
    Ok(approval)
}

fn read(path: &Path) -> Result<Arc<StandingApproval>, StandingCommandError> {
    let bytes = read_document(path, REQUEST_BYTES_MAX)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    StandingApproval::read_recorded(&bytes, &name, clock::now()).map(Arc::new).map_err(|rows| {
        human::print_to_stderr(path, &bytes, &rows);
        let path = human::name(path);
        let help = "name the file of an approved standing approval";
        StandingCommandError::Refused(format!("{path}: not revoked; help: {help}"))
    })
}

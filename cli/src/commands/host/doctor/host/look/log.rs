//! The log's latest checkpoint, verified with the host's log key.

use std::io::ErrorKind;

use records::log::{LogError, LogView, PublicLogKey};

use super::entry;
use super::model::Host;
use crate::commands::host::doctor::host::model::{EntryState, LogSeen, Subject};

pub(super) fn look(host: &Host) -> Option<LogSeen> {
    let (directory, keys) = match &host.subject {
        Subject::Embedded { state } => (state.join("log"), state.join("keys")),
        Subject::Service { .. } => {
            let outline = host.outline.as_ref()?;
            let keys = outline.keys.as_ref()?.public().to_owned();
            (outline.log.clone()?, keys)
        }
    };
    if let found @ (EntryState::Missing | EntryState::Unseen(_)) = entry::through(&directory).found
    {
        return Some(match found {
            EntryState::Unseen(why) => LogSeen::Unseen(format!("{}: {why}", directory.display())),
            _ => LogSeen::NotYet,
        });
    }
    let key = match PublicLogKey::open(&keys) {
        Ok(key) => key,
        Err(error) => return Some(LogSeen::Unseen(error.to_string())),
    };
    Some(match LogView::open(&directory, &key) {
        Ok(view) => LogSeen::Good { origin: key.origin().to_string(), entries: view.head().size() },
        Err(LogError::Io { source, path, .. }) if source.kind() == ErrorKind::PermissionDenied => {
            LogSeen::Unseen(format!("{}: {source}", path.display()))
        }
        Err(error) => LogSeen::Bad { why: error.to_string(), key: keys.join("log.pub"), directory },
    })
}

//! The log's latest checkpoint, verified with the host's log key.

use std::io::ErrorKind;

use records::log::{LogError, LogView, PublicLogKey};

use super::entry;
use super::model::ProbeContext;
use crate::commands::host::doctor::host::model::{DoctorSubject, FileState, LogReading};

pub(super) fn probe(host: &ProbeContext) -> Option<LogReading> {
    let (directory, keys) = match &host.subject {
        DoctorSubject::Embedded { state } => (state.join("log"), state.join("keys")),
        DoctorSubject::Service { .. } => {
            let outline = host.outline.as_ref()?;
            let keys = outline.keys.as_ref()?.public().to_owned();
            (outline.log.clone()?, keys)
        }
    };
    if let found @ (FileState::Missing | FileState::Unreadable(_)) =
        entry::read_following_links(&directory).state
    {
        return Some(match found {
            FileState::Unreadable(why) => {
                LogReading::Unreadable(format!("{}: {why}", directory.display()))
            }
            _ => LogReading::NotYet,
        });
    }
    let key = match PublicLogKey::open(&keys) {
        Ok(key) => key,
        Err(error) => return Some(LogReading::Unreadable(error.to_string())),
    };
    Some(match LogView::open(&directory, &key) {
        Ok(view) => {
            LogReading::Good { origin: key.origin().to_string(), entries: view.head().size() }
        }
        Err(LogError::Io { source, path, .. }) if source.kind() == ErrorKind::PermissionDenied => {
            LogReading::Unreadable(format!("{}: {source}", path.display()))
        }
        Err(error) => {
            LogReading::Bad { why: error.to_string(), key: keys.join("log.pub"), directory }
        }
    })
}

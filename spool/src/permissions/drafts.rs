//! Where questions lie for people to answer: `permissions/[<domain>/]<id>.json` below the drafts. Nothing
//! that lies there already is replaced, and nothing that lies there is ever taken for an answer.

use std::path::{Path, PathBuf};

use policies::permissions::OpenAsk;

use super::error::StoreError;
use crate::beside::place_beside;
use crate::places::make_dir;

/// The files of a question, one for each of its domains; the directories need not be there.
pub(super) fn paths(drafts: &Path, ask: &OpenAsk) -> Vec<PathBuf> {
    let top = drafts.join("permissions");
    let name = format!("{}.json", ask.id);
    match &ask.domains {
        None => vec![top.join(name)],
        Some(domains) => domains.iter().map(|domain| top.join(domain).join(&name)).collect(),
    }
}

/// Whether every file is still there for somebody to answer.
pub(super) fn are_there(paths: &[PathBuf]) -> bool {
    paths.iter().all(|path| path.is_file())
}

pub(super) fn place(paths: &[PathBuf], bytes: &[u8]) -> Result<(), StoreError> {
    for path in paths {
        if let Some(directory) = path.parent() {
            make_dir(directory, 0o755)?;
        }
        place_beside(path, bytes)?;
    }
    Ok(())
}

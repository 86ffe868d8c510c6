//! This host's own log: its newest checkpoint, the proofs for its witnesses, and their
//! cosignatures.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;

use fleet::model::HostName;
use records::log::{
    Checkpoint, CheckpointError, CosignedCheckpoint, LogError, LogView, PublicLogKey,
};

use super::hosts::{WitnessHost, unreadable_key};
use crate::database::CosignatureRow;

/// The checkpoints whose cosignatures may still arrive.
const POSTED_MAX: usize = 64;

/// The checkpoints that this process posted.
#[derive(Default)]
pub(super) struct OwnLog {
    /// By size.
    posted: BTreeMap<u64, Checkpoint>,
    /// The size of the last cosigned checkpoint of each witness that was stored.
    stored: BTreeMap<HostName, u64>,
}

/// A checkpoint to post.
#[derive(Debug)]
pub(super) struct CheckpointPost {
    pub(super) size: u64,
    pub(super) note: String,
    /// The body of add-checkpoint for each witness.
    pub(super) proofs: Vec<(HostName, String)>,
    /// Witnesses that cannot get a proof. The texts have help.
    pub(super) faults: Vec<String>,
}

impl OwnLog {
    /// Reads the newest checkpoint, and makes a proof for each witness from its size. Returns
    /// `None` without a log.
    ///
    /// # Errors
    /// The log cannot be read, or is signed by another key. The text has help.
    pub(super) fn read(
        &mut self,
        directory: &Path,
        key: &PublicLogKey,
        witnesses: &[(HostName, u64)],
    ) -> Result<Option<CheckpointPost>, String> {
        let view = match LogView::open(directory, key) {
            Err(error) if is_missing(&error) => return Ok(None),
            opened => opened.map_err(|error| explain(&error, key))?,
        };
        let head = view.head();
        let mut post = CheckpointPost {
            size: head.size(),
            note: head.note().to_owned(),
            proofs: Vec::new(),
            faults: Vec::new(),
        };
        for (witness, old) in witnesses {
            match view.add_checkpoint(*old) {
                Ok(body) => post.proofs.push((witness.clone(), body)),
                Err(LogError::NoSuchEntry { .. }) => post.faults.push(format!(
                    "own log: has {} entries, but witness {witness} cosigned {old}: it was cut \
                     back, or is an older copy; help: restore the log (docs/log.md)",
                    post.size
                )),
                Err(error) => return Err(explain(&error, key)),
            }
        }
        self.note_posted(head, directory)?;
        Ok(Some(post))
    }

    /// Makes a checkpoint durable before it is posted, and remembers it. A power failure must not
    /// take back what a witness saw, and the daemon syncs a checkpoint only with its next batch.
    fn note_posted(&mut self, head: &Checkpoint, directory: &Path) -> Result<(), String> {
        if self.posted.get(&head.size()) == Some(head) {
            return Ok(());
        }
        let synced = File::open(directory).and_then(|directory| directory.sync_all());
        synced.map_err(|error| format!("{}: {}", directory.display(), spool::io_text(&error)))?;
        self.posted.insert(head.size(), head.clone());
        while self.posted.len() > POSTED_MAX {
            self.posted.pop_first();
        }
        Ok(())
    }

    /// Returns the checkpoint of a cosignature, if it was posted lately and is not stored; or the
    /// fault of the cosignature. The text has help.
    pub(super) fn verified(
        &self,
        row: &CosignatureRow,
        host: &WitnessHost,
    ) -> Option<Result<CosignedCheckpoint, String>> {
        let checkpoint = self.posted.get(&row.size)?;
        if self.stored.get(&row.witness) == Some(&row.size) {
            return None;
        }
        let Some(key) = &host.witness else {
            return Some(Err(unreadable_key("witness_key", row.witness.as_str())));
        };
        let read = CosignedCheckpoint::from_reply(checkpoint, &row.lines, Some(key));
        Some(read.map_err(|fault| {
            format!(
                "cosignature of witness {}: {fault}; help: check `witness_key` of the host in the \
                 fleet list, and who changed the row in the database",
                row.witness
            )
        }))
    }

    /// Notes that a cosigned checkpoint is stored.
    pub(super) fn note_stored(&mut self, witness: HostName, size: u64) {
        self.stored.insert(witness, size);
    }
}

/// Returns whether the log does not exist: neither a directory nor a checkpoint in it.
fn is_missing(error: &LogError) -> bool {
    let is_absent = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    matches!(error, LogError::Missing { .. }) || error.io_error().is_some_and(is_absent)
}

fn explain(error: &LogError, key: &PublicLogKey) -> String {
    match error {
        LogError::Checkpoint { path, fault } if *fault != CheckpointError::Form => format!(
            "{}: {fault} (`log_key` of the fleet list); help: write the output of `toolexec keys \
             show --key log --format verifier` into the entry of host {}, and have the list signed",
            path.display(),
            key.origin()
        ),
        error => format!("own log: {error}"),
    }
}

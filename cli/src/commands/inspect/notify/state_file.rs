//! The state file of `toolexec notify`. It is replaced as a whole.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::announced::{AnnouncedEvents, STATE_FILE_BEGINNING};
use super::model::SpoolEvent;
use crate::args::files::read_document;
use crate::failure::Failure;
use crate::output;

/// Larger than any state: 4,096 keys with a file name of 255 bytes each, and the results.
const STATE_BYTES_MAX: usize = 8 << 20;

pub(super) struct NotifyState {
    path: Option<PathBuf>,
    pub(super) announced: AnnouncedEvents,
}

impl NotifyState {
    /// Reads the file. If it does not exist, nothing was announced.
    pub(super) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let announced = match path {
            Some(path) if path.symlink_metadata().is_ok() => {
                let bytes = read_document(path, STATE_BYTES_MAX)?;
                AnnouncedEvents::parse(&bytes).ok_or_else(|| not_a_state(path))?
            }
            _ => AnnouncedEvents::default(),
        };
        Ok(Self { path: path.map(Path::to_owned), announced })
    }

    pub(super) fn add(&mut self, event: &SpoolEvent, waiting: &BTreeSet<String>) {
        self.announced.add(event, waiting);
        self.save();
    }

    /// Saves the state. Without it, the program goes on, and a restart may repeat events.
    pub(super) fn save(&self) {
        let Some(path) = &self.path else { return };
        let bytes = self.announced.to_bytes();
        if let Err(failure) = output::replace_own_file(path, STATE_FILE_BEGINNING, &bytes) {
            output::note(format_args!("notify: {failure}"));
        }
    }
}

fn not_a_state(path: &Path) -> Failure {
    Failure::Message(format!(
        "{}: not a state file of this version of `toolexec notify`; help: name another file, or \
         remove this one",
        path.display()
    ))
}

//! The marks of uses: `<state>/standing-uses`, one JSON line per use of a standing approval. No
//! mark is ever removed, so a rebuilt ledger counts a use although retention removed its result.
//! The ledger alone decides: only a rebuild may read the marks, and no run may need its mark.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::model::Intent;
use super::standing::StandingUseNote;
use crate::error::SpoolError;

const MARKS_FILE: &str = "standing-uses";
/// A mark is much shorter.
const MARK_BYTES_MAX: u64 = 4096;

/// Appends the mark of a run's use, if it uses a standing approval. It is not synced: its result
/// stays for an hour at least. A failure is only logged, because the ledger has the use.
pub(super) fn mark(state: &Path, intent: &Intent) {
    let Some(used) = &intent.standing else { return };
    let note = StandingUseNote {
        sha256: used.sha256.clone(),
        number: used.number,
        at: intent.begun.clone(),
        result_id: intent.result_id.clone(),
    };
    let path = state.join(MARKS_FILE);
    if let Err(error) = append(&path, &note) {
        tracing::warn!("{}: append: {error}", path.display());
    }
}

/// One write, so that no other process writes within the line.
fn append(path: &Path, note: &StandingUseNote) -> io::Result<()> {
    let mut line = serde_json::to_vec(note)?;
    line.push(b'\n');
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)?.write_all(&line)
}

/// Returns every readable mark. A power failure may have torn one, and a later one has a higher
/// number.
pub(super) fn read(state: &Path) -> Result<Vec<StandingUseNote>, SpoolError> {
    let path = state.join(MARKS_FILE);
    let mut marks = Vec::new();
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(marks),
        opened => opened.map_err(SpoolError::io(&path, "open"))?,
    };
    let mut reader = BufReader::new(file);
    loop {
        let mut line = Vec::new();
        let read = reader.by_ref().take(MARK_BYTES_MAX).read_until(b'\n', &mut line);
        if read.map_err(SpoolError::io(&path, "read"))? == 0 {
            return Ok(marks);
        }
        marks.extend(serde_json::from_slice::<StandingUseNote>(&line).ok());
    }
}

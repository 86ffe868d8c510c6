//! One line of the trail: a checksum and a JSON object. The checksum covers the line and, through
//! the previous checksum, every line above it. A line with a wrong checksum must never be accepted.

use model::Sha256;
use policies::permissions::TrailEntry;
use serde::{Deserialize, Serialize};

pub(super) const LINE_BYTES_MAX: usize = 1024 * 1024;
const SUM_DIGITS: usize = 32;
const JOURNAL: &str = "toolexec permissions";
const VERSION: u32 = 1;

/// The checksum of a line and of all lines above it: half of a SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct TrailChecksum([u8; SUM_DIGITS / 2]);

impl From<TrailChecksum> for crate::ledger::LineChecksum {
    fn from(sum: TrailChecksum) -> Self {
        Self::of(sum.0)
    }
}

impl TrailChecksum {
    fn then(self, json: &[u8]) -> Self {
        let mut stream = model::Sha256Stream::new();
        stream.update(&self.0);
        stream.update(json);
        Self::half(&stream.finish())
    }

    fn half(digest: &Sha256) -> Self {
        let mut half = [0; SUM_DIGITS / 2];
        half.copy_from_slice(&digest.as_bytes()[..SUM_DIGITS / 2]);
        Self(half)
    }

    fn write(self, to: &mut Vec<u8>) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        for byte in self.0 {
            to.push(DIGITS[usize::from(byte >> 4)]);
            to.push(DIGITS[usize::from(byte & 15)]);
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(super) enum TrailLine {
    Begun(TrailFileHeader),
    Entry(Box<TrailEntry>),
    /// The last line of a file: the next file is about to take its name.
    Sealed(u64),
}

/// The identification of a trail file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrailFileHeader {
    journal: String,
    version: u32,
    /// The number of earlier files of this trail.
    pub(super) generation: u64,
    /// The number of the last entry of the previous file.
    pub(super) after: u64,
}

impl TrailFileHeader {
    pub(super) fn new(generation: u64, after: u64) -> Self {
        Self { journal: JOURNAL.to_owned(), version: VERSION, generation, after }
    }

    pub(super) fn is_ours(&self) -> bool {
        self.journal == JOURNAL && self.version == VERSION
    }
}

/// Appends a line with its line feed, and returns the checksum for the next one.
pub(super) fn write(
    line: &TrailLine,
    before: TrailChecksum,
    to: &mut Vec<u8>,
) -> Result<TrailChecksum, serde_json::Error> {
    let json = serde_json::to_vec(line)?;
    let sum = before.then(&json);
    sum.write(to);
    to.push(b' ');
    to.extend_from_slice(&json);
    to.push(b'\n');
    Ok(sum)
}

/// Parses a line without its line feed.
pub(super) fn read(
    text: &[u8],
    before: TrailChecksum,
) -> Result<(TrailLine, TrailChecksum), String> {
    let (head, json) = text.split_at_checked(SUM_DIGITS + 1).ok_or("the line is too short")?;
    let sum = before.then(json);
    let mut expected = Vec::with_capacity(SUM_DIGITS + 1);
    sum.write(&mut expected);
    expected.push(b' ');
    if head != expected {
        return Err("wrong checksum: this line or one above it was changed or removed".to_owned());
    }
    let line = serde_json::from_slice(json).map_err(|error| format!("invalid entry: {error}"))?;
    Ok((line, sum))
}

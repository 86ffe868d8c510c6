//! The head of the ledger: its length and the checksum of its last line, in a separate file. It
//! distinguishes a ledger that was removed, cut or replaced by an older copy from one that a crash
//! left. The trail of permissions has such a head too. The head must never be ahead of the durable
//! part: it is written after the barrier that made its line durable, and needs no sync of its own,
//! because an older head still matches a beginning of the ledger. The file has two slots that are
//! written in turn, so that a torn write leaves the previous head.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::checksum::{CHECKSUM_DIGITS, LineChecksum};
use super::fault::LedgerFault;
use crate::error::SpoolError;
use crate::sync;

pub(crate) const HEAD_FILE: &str = "ledger.head";

const LENGTH_DIGITS: usize = 20;
/// The length, the checksum, and a checksum of both, with a line feed.
const SLOT_BYTES: usize = LENGTH_DIGITS + 1 + CHECKSUM_DIGITS + 1 + CHECKSUM_DIGITS + 1;

/// A length of the ledger in whole lines, and the checksum of the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LedgerHead {
    pub(crate) bytes: u64,
    pub(crate) sum: LineChecksum,
}

impl LedgerHead {
    fn slot(self) -> String {
        let fields = format!("{:0LENGTH_DIGITS$} {}", self.bytes, self.sum);
        let check = LineChecksum::default().then(fields.as_bytes());
        format!("{fields} {check}\n")
    }

    fn parse(slot: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(slot).ok()?;
        let mut words = text.split(' ');
        let head = Self {
            bytes: words.next()?.parse().ok()?,
            sum: LineChecksum::parse(words.next()?.as_bytes())?,
        };
        (head.slot() == text).then_some(head)
    }

    /// Reads the head file at this path.
    ///
    /// # Errors
    /// An I/O error, or a file without a valid head.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, SpoolError> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(SpoolError::io(path, "open")(error)),
        };
        newest(&file, path).map(|(head, _)| Some(head))
    }
}

/// Returns the newest head in the file, and the number of its slot.
fn newest(file: &File, path: &Path) -> Result<(LedgerHead, u64), SpoolError> {
    let most = u64::try_from(2 * SLOT_BYTES).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    let mut reader = io::BufReader::new(PositionedReader { file, offset: 0 }).take(most);
    reader.read_to_end(&mut bytes).map_err(SpoolError::io(path, "read"))?;
    let slots = bytes.chunks(SLOT_BYTES).zip(0..);
    let heads = slots.filter_map(|(slot, number)| Some((LedgerHead::parse(slot)?, number)));
    let newest = heads.max_by_key(|(head, _)| head.bytes);
    newest.ok_or_else(|| SpoolError::ledger(path, LedgerFault::HeadUnreadable))
}

/// Reads a file without moving the offset that its duplicated handles share.
struct PositionedReader<'a> {
    file: &'a File,
    offset: u64,
}

impl Read for PositionedReader<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(to, self.offset)?;
        self.offset += u64::try_from(read).unwrap_or(0);
        Ok(read)
    }
}

pub(crate) struct HeadFile {
    path: PathBuf,
    file: File,
}

impl HeadFile {
    pub(crate) fn open(path: &Path) -> Result<Option<(Self, LedgerHead)>, SpoolError> {
        let file = match OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(SpoolError::io(path, "open")(error)),
        };
        let (head, _) = newest(&file, path)?;
        Ok(Some((Self { path: path.to_owned(), file }, head)))
    }

    /// Makes the head file of a durable ledger. The file is durable when this returns.
    pub(crate) fn make(path: &Path, head: LedgerHead) -> Result<Self, SpoolError> {
        let draft = path.with_extension("head.new");
        let made = || -> io::Result<File> {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(true).mode(0o600);
            let file = options.open(&draft)?;
            file.write_all_at(head.slot().as_bytes(), 0)?;
            file.sync_all()?;
            sync::rename_over(&draft, path)?;
            Ok(file)
        };
        let file = made().map_err(SpoolError::io(path, "write the head"))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Records that the ledger is durable up to `head`. The caller must hold the ledger's lock.
    pub(crate) fn advance(&self, head: LedgerHead) -> Result<(), SpoolError> {
        let (before, slot) = newest(&self.file, &self.path)?;
        if before.bytes >= head.bytes {
            return Ok(());
        }
        let other = u64::try_from(SLOT_BYTES).unwrap_or(0) * (1 - slot);
        let written = self.file.write_all_at(head.slot().as_bytes(), other);
        written.map_err(SpoolError::io(&self.path, "write the head"))
    }
}

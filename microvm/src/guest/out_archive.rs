//! Archives `/out` onto the raw disk when the tool is gone. Objects that the sandbox's collector
//! would reject are left out and reported, with the collector's reasons.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use model::RejectReason;

use super::devices::disk;
use super::failure::InitFailure;
use super::mounts::OUT;
use crate::archive::TarWriter;
use crate::protocol::GuestMessage;

const BUFFER_BYTES: usize = 256 * 1024;
/// The most objects that are reported by name.
const LEFT_OUT_MAX: usize = 100;

/// Writes the archive. Returns the messages about it, the last of which completes the run.
pub(super) fn write(out_bytes: u64) -> Result<Vec<GuestMessage>, InitFailure> {
    let device = disk("out")?;
    let file = OpenOptions::new().write(true).open(device).map_err(failed)?;
    let mut walk = OutArchiveWalk {
        writer: TarWriter::new(BufWriter::with_capacity(BUFFER_BYTES, file)),
        bytes_left: out_bytes,
        entries: 0,
        left_out: 0,
        messages: Vec::new(),
    };
    let mut todo = VecDeque::from([String::new()]);
    while let Some(directory) = todo.pop_front() {
        walk.directory(&directory, &mut todo).map_err(failed)?;
    }
    let OutArchiveWalk { writer, entries, left_out, mut messages, .. } = walk;
    let (buffer, _) = writer.finish().map_err(failed)?;
    buffer.get_ref().sync_all().map_err(failed)?;
    messages.push(GuestMessage::Written { entries, left_out });
    Ok(messages)
}

struct OutArchiveWalk {
    writer: TarWriter<BufWriter<File>>,
    bytes_left: u64,
    entries: u64,
    left_out: u64,
    messages: Vec<GuestMessage>,
}

impl OutArchiveWalk {
    /// Archives the objects of a directory. Its own directories follow later.
    fn directory(&mut self, name: &str, todo: &mut VecDeque<String>) -> io::Result<()> {
        for child in sorted(&place(name))? {
            let Some(text) = child.to_str() else {
                self.leave_out(RejectReason::NameNotUtf8, &child.to_string_lossy());
                continue;
            };
            let below = if name.is_empty() { text.to_owned() } else { format!("{name}/{text}") };
            let facts = fs::symlink_metadata(place(&below))?;
            if let Some(reason) = self.fault(&below, &facts) {
                self.leave_out(reason, &below);
            } else if facts.is_dir() {
                self.writer.directory(&below)?;
                self.entries += 1;
                todo.push_back(below);
            } else {
                self.file(&below, &facts)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, name: &str, facts: &Metadata) -> io::Result<()> {
        let mut content = File::open(place(name))?;
        let executable = facts.permissions().mode() & 0o111 != 0;
        self.writer.file(name, facts.len(), executable, &mut content)?;
        self.bytes_left = self.bytes_left.saturating_sub(facts.len());
        self.entries += 1;
        Ok(())
    }

    fn fault(&self, name: &str, facts: &Metadata) -> Option<RejectReason> {
        let kind = facts.file_type();
        if !TarWriter::<File>::fits(name) {
            Some(RejectReason::NameTooLong)
        } else if kind.is_dir() {
            None
        } else if kind.is_symlink() {
            Some(RejectReason::Symlink)
        } else if kind.is_fifo() {
            Some(RejectReason::Fifo)
        } else if kind.is_socket() {
            Some(RejectReason::Socket)
        } else if !kind.is_file() {
            Some(RejectReason::Device)
        } else if facts.nlink() > 1 {
            Some(RejectReason::Hardlink)
        } else if facts.len() > self.bytes_left {
            // The holes of a file have no place in the archive.
            Some(RejectReason::Sparse)
        } else {
            None
        }
    }

    fn leave_out(&mut self, reason: RejectReason, name: &str) {
        self.left_out += 1;
        if self.messages.len() < LEFT_OUT_MAX {
            self.messages.push(GuestMessage::LeftOut { reason, name: name.to_owned() });
        }
    }
}

fn failed(error: io::Error) -> InitFailure {
    InitFailure::new(format!("archive of /out: {error}"))
}

fn place(name: &str) -> PathBuf {
    Path::new(OUT).join(name)
}

fn sorted(directory: &Path) -> io::Result<Vec<OsString>> {
    let names = fs::read_dir(directory)?.map(|entry| entry.map(|it| it.file_name()));
    let mut names: Vec<OsString> = names.collect::<io::Result<_>>()?;
    names.sort();
    Ok(names)
}

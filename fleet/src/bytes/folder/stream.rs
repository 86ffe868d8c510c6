//! The archive of a folder as a reader, so that it is never in memory as a whole.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use super::header::{BLOCK, END_BYTES, FolderTarKind};
use super::plan::FolderTarPlan;
use crate::bytes::files::{open_regular, size_of};

/// Reads the archive of a listed folder. A file that no longer has its listed size is an error.
pub(in crate::bytes) struct FolderTarStream {
    plan: Arc<FolderTarPlan>,
    /// The index of the next entry.
    next: usize,
    is_ended: bool,
    /// Bytes of the archive besides contents: headers, padding and the end.
    frame: Vec<u8>,
    frame_at: usize,
    content: Option<StreamedFile>,
}

/// The content of the present file.
struct StreamedFile {
    file: File,
    name: String,
    left: u64,
    padding: usize,
}

impl FolderTarStream {
    /// Begins before the first entry.
    pub(in crate::bytes) fn new(plan: Arc<FolderTarPlan>) -> Self {
        Self { plan, next: 0, is_ended: false, frame: Vec::new(), frame_at: 0, content: None }
    }

    /// Takes the header and the file of the next entry, or the end. Returns false after the end.
    fn advance(&mut self) -> io::Result<bool> {
        self.frame_at = 0;
        self.frame.clear();
        let plan = Arc::clone(&self.plan);
        let Some(entry) = plan.entries.get(self.next) else {
            if !self.is_ended {
                self.frame.resize(END_BYTES, 0);
            }
            return Ok(!std::mem::replace(&mut self.is_ended, true));
        };
        self.next += 1;
        let block = entry.encode().map_err(|fault| io::Error::other(fault.to_string()))?;
        self.frame.extend_from_slice(&block);
        if matches!(entry.kind, FolderTarKind::File | FolderTarKind::Program) {
            let opened = open_regular(&plan.top, &entry.name);
            let (file, stat) = opened.map_err(|error| {
                let name = model::quote(&entry.name);
                io::Error::new(error.kind(), format!("{name}: {error}"))
            })?;
            if size_of(&stat) != entry.bytes {
                return Err(changed(&entry.name));
            }
            let padding = usize::try_from(padding(entry.bytes)).unwrap_or_default();
            let (name, left) = (entry.name.clone(), entry.bytes);
            self.content = Some(StreamedFile { file, name, left, padding });
        }
        Ok(true)
    }

    /// Ends the present file: its padding follows.
    fn end_content(&mut self) -> io::Result<()> {
        let Some(mut content) = self.content.take() else { return Ok(()) };
        // A file that has grown is noticed here.
        if content.file.read(&mut [0])? != 0 {
            return Err(changed(&content.name));
        }
        self.frame_at = 0;
        self.frame.clear();
        self.frame.resize(content.padding, 0);
        Ok(())
    }

    /// Reads from the present file. Returns 0 at the end of its listed size.
    fn read_content(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(content) = self.content.as_mut().filter(|it| it.left > 0) else { return Ok(0) };
        let read = content.file.by_ref().take(content.left).read(buffer)?;
        if read == 0 {
            return Err(changed(&content.name));
        }
        content.left -= u64::try_from(read).unwrap_or(content.left);
        Ok(read)
    }

    fn read_frame(&mut self, buffer: &mut [u8]) -> usize {
        let rest = self.frame.get(self.frame_at..).unwrap_or_default();
        let mut read = 0;
        for (to, from) in buffer.iter_mut().zip(rest) {
            *to = *from;
            read += 1;
        }
        self.frame_at += read;
        read
    }
}

impl Read for FolderTarStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let read = self.read_frame(buffer);
            if read > 0 {
                return Ok(read);
            }
            if self.content.is_none() {
                if !self.advance()? {
                    return Ok(0);
                }
                continue;
            }
            let read = self.read_content(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            self.end_content()?;
        }
    }
}

/// Returns the zeros after a content, up to the next block.
pub(super) fn padding(bytes: u64) -> u64 {
    bytes.next_multiple_of(BLOCK) - bytes
}

fn changed(name: &str) -> io::Error {
    let name = model::quote(name);
    io::Error::other(format!(
        "{name}: it changed while it was read; help: end the program that writes to it, and try \
         again"
    ))
}

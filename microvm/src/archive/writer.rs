//! Writes the archive in the guest. Its names and contents are the tool's.

use std::io::{self, Read, Write};

use super::header::{BLOCK, BLOCK_BYTES, TarHeader, encode};

const PADDING: [u8; BLOCK_BYTES] = [0; BLOCK_BYTES];

/// Writes files and directories, and then the end mark.
#[derive(Debug)]
pub struct TarWriter<W> {
    to: W,
}

impl<W: Write> TarWriter<W> {
    /// Begins an archive.
    pub fn new(to: W) -> Self {
        Self { to }
    }

    /// Returns whether a header has space for a name.
    #[must_use]
    pub fn fits(name: &str) -> bool {
        encode(&directory_header(name)).is_some()
    }

    /// Writes a directory.
    ///
    /// # Errors
    /// If the name does not fit, or the archive cannot be written.
    pub fn directory(&mut self, name: &str) -> io::Result<()> {
        self.header(&directory_header(name))
    }

    /// Writes a regular file of exactly `size` bytes.
    ///
    /// # Errors
    /// If the name does not fit, the content is shorter, or the archive cannot be written.
    pub fn file(
        &mut self,
        name: &str,
        size: u64,
        executable: bool,
        content: &mut impl Read,
    ) -> io::Result<()> {
        let name = name.to_owned();
        self.header(&TarHeader { name, is_directory: false, executable, size })?;
        let copied = io::copy(&mut content.by_ref().take(size), &mut self.to)?;
        if copied != size {
            return Err(io::Error::other("the file is shorter than its size"));
        }
        let padding = usize::try_from(size.next_multiple_of(BLOCK) - size).unwrap_or_default();
        self.to.write_all(PADDING.get(..padding).unwrap_or_default())
    }

    /// Writes the end mark. Returns the output.
    ///
    /// # Errors
    /// If the archive cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.to.write_all(&PADDING)?;
        self.to.write_all(&PADDING)?;
        self.to.flush()?;
        Ok(self.to)
    }

    fn header(&mut self, header: &TarHeader) -> io::Result<()> {
        let block = encode(header).ok_or_else(|| io::Error::other("the name is too long"))?;
        self.to.write_all(&block)
    }
}

fn directory_header(name: &str) -> TarHeader {
    TarHeader { name: name.to_owned(), is_directory: true, executable: false, size: 0 }
}

//! Compares an object of the work copy with its original, with two buffers for all comparisons. It
//! must never follow a link of the tool.

use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;

use nix::sys::stat::SFlag;
use rustix::fs::readlinkat;
use rustix::io::{pread, retry_on_intr};

use super::super::beneath::{FILE, is_executable, kind_of, open_beneath};
use super::access::{byte_size, open_own};
use super::tree_object::ObjectPair;

const BUFFER_BYTES: usize = 64 * 1024;

pub(super) struct FileComparison {
    one: Vec<u8>,
    other: Vec<u8>,
}

impl FileComparison {
    pub(super) fn new() -> Self {
        Self { one: vec![0; BUFFER_BYTES], other: vec![0; BUFFER_BYTES] }
    }

    /// Returns whether an object has the kind, the content and the execute bit of its original. An
    /// object that is new or gone has not.
    pub(super) fn is_unchanged(&mut self, pair: ObjectPair<'_>, name: &CStr) -> io::Result<bool> {
        let (Some(original), Some(copy)) = (pair.original, pair.copy) else { return Ok(false) };
        let (before, after) = (&original.stat, &copy.stat);
        let kind = kind_of(before);
        if kind != kind_of(after) {
            return Ok(false);
        }
        if kind == SFlag::S_IFLNK {
            let target = readlinkat(original.parent, name, Vec::<u8>::new())?;
            return Ok(target == readlinkat(copy.parent, name, Vec::<u8>::new())?);
        }
        let facts = |stat| (is_executable(stat), byte_size(stat));
        if kind != SFlag::S_IFREG || facts(before) != facts(after) {
            return Ok(false);
        }
        // A file that cannot be opened counts as changed, and is then rejected.
        let Some(copy) = open_own(copy.parent, name, FILE, 0o400, after) else { return Ok(false) };
        let original = open_beneath(original.parent, name, FILE)?;
        self.are_equal(&original, &copy)
    }

    /// Reads to the first difference, or to the end.
    fn are_equal(&mut self, one: &OwnedFd, other: &OwnedFd) -> io::Result<bool> {
        let mut at = 0;
        loop {
            let len = read_at(one, &mut self.one, at)?;
            let other_len = read_at(other, &mut self.other, at)?;
            if self.one[..len] != self.other[..other_len] {
                return Ok(false);
            }
            if len == 0 {
                return Ok(true);
            }
            at += u64::try_from(len).map_err(io::Error::other)?;
        }
    }
}

/// Fills the buffer from this position, as far as the file goes.
fn read_at(file: &OwnedFd, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    let mut len = 0;
    while len < buffer.len() {
        let from = at + u64::try_from(len).map_err(io::Error::other)?;
        match retry_on_intr(|| pread(file, &mut buffer[len..], from))? {
            0 => break,
            read => len += read,
        }
    }
    Ok(len)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::*;

    fn file(name: &str, content: &[u8]) -> OwnedFd {
        let unique = format!("toolexec-same-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(unique);
        File::create(&path).unwrap().write_all(content).unwrap();
        let opened = File::open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        opened.into()
    }

    #[test]
    fn only_equal_bytes_are_equal() {
        let long = vec![7; 3 * BUFFER_BYTES + 5];
        let (mut first, mut last, mut shorter) = (long.clone(), long.clone(), long.clone());
        first[0] = 8;
        *last.last_mut().unwrap() = 8;
        shorter.truncate(2 * BUFFER_BYTES);
        let mut compared = FileComparison::new();
        let original = file("original", &long);
        for (name, content, equal) in [
            ("equal", &long, true),
            ("first", &first, false),
            ("last", &last, false),
            ("shorter", &shorter, false),
        ] {
            let copy = file(name, content);
            assert_eq!(compared.are_equal(&original, &copy).unwrap(), equal, "{name}");
            assert_eq!(compared.are_equal(&copy, &original).unwrap(), equal, "{name}");
        }
        assert!(compared.are_equal(&file("none", b""), &file("none-2", b"")).unwrap());
    }
}

//! A status file that keeps space for its next version, so that it can be updated on a full disk.
//! While there is space, each version is a new file, renamed into place. Without space, it is
//! written into a hidden file of the same size, and the two exchange their names. A reader may
//! still have the hidden file open, so writers and readers lock the file that they use.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{CWD, OFlags, RenameFlags, renameat, renameat_with};
use rustix::io::Errno;

use super::published_file::{open_published, publish_file, read_from};
use crate::error::SpoolError;
use crate::lock::{FileLock, LockMode};

/// The length of each version, padded with blanks. Longer versions keep no space.
const PADDED_BYTES: usize = 8 * 1024;
/// The number of times a reader opens a file that was exchanged meanwhile.
const READ_TRIES: u32 = 100;
const READ_AGAIN_AFTER: Duration = Duration::from_millis(5);

/// Writes a text, padded with blanks. [`read_reserved`] sees the old version or the new one, whole.
///
/// # Errors
/// An I/O error, or a full disk while a reader has the hidden file open. It only affects readers.
pub(super) fn publish_reserved(path: &Path, text: &[u8]) -> Result<(), SpoolError> {
    let Some(filled) = padded(text) else { return publish_file(path, text) };
    match publish_file(path, &filled) {
        // The version is written. The disk may have space again when the next one is.
        Ok(()) => {
            ensure_reserve(path).or_else(|error| if error.is_full() { Ok(()) } else { Err(error) })
        }
        Err(error) if error.is_full() => exchange(path, &filled),
        published => published,
    }
}

/// Reads a file written by [`publish_reserved`], at most `bytes_max` bytes.
///
/// # Errors
/// The file is missing or unreadable, or EWOULDBLOCK: it was exchanged at every attempt.
pub(super) fn read_reserved(path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
    for _ in 0..READ_TRIES {
        match FileLock::try_lock(open_published(path)?, LockMode::Shared) {
            // No writer writes into a locked file, and the named file is complete.
            Ok(locked) if is_at(locked.file(), path)? => {
                return read_from(locked.file(), bytes_max);
            }
            Ok(_) => {}
            Err(Errno::WOULDBLOCK) => std::thread::sleep(READ_AGAIN_AFTER),
            Err(errno) => return Err(errno.into()),
        }
    }
    Err(Errno::WOULDBLOCK.into())
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (open.dev(), open.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn padded(text: &[u8]) -> Option<Vec<u8>> {
    if text.len() >= PADDED_BYTES {
        return None;
    }
    let mut filled = text.to_vec();
    filled.resize(PADDED_BYTES - 1, b' ');
    filled.push(b'\n');
    Some(filled)
}

fn reserve_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".room-{name}"))
}

/// Makes the hidden file, unless it exists with the right size.
fn ensure_reserve(path: &Path) -> Result<(), SpoolError> {
    let reserve = reserve_path(path);
    let reserve_bytes = u64::try_from(PADDED_BYTES).unwrap_or(u64::MAX);
    if fs::symlink_metadata(&reserve).is_ok_and(|it| it.is_file() && it.len() == reserve_bytes) {
        return Ok(());
    }
    // Write the bytes: not every file system keeps space that is only allocated.
    publish_file(&reserve, &[b' '; PADDED_BYTES])
}

fn exchange(path: &Path, filled: &[u8]) -> Result<(), SpoolError> {
    let reserve = reserve_path(path);
    let written = || -> io::Result<FileLock> {
        let nofollow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
        let file = OpenOptions::new().write(true).custom_flags(nofollow).open(&reserve)?;
        let locked = FileLock::try_lock(file, LockMode::Exclusive)?;
        locked.file().write_all_at(filled, 0)?;
        locked.file().set_len(u64::try_from(filled.len()).unwrap_or(u64::MAX))?;
        locked.file().set_permissions(Permissions::from_mode(0o644))?;
        Ok(locked)
    };
    let _locked = written().map_err(SpoolError::io(&reserve, "write"))?;
    match renameat_with(CWD, &reserve, CWD, path, RenameFlags::EXCHANGE) {
        Err(Errno::NOENT) => renameat(CWD, &reserve, CWD, path),
        exchanged => exchanged,
    }
    .map_err(SpoolError::errno(path, "rename"))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn place(name: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("toolexec-{name}-{}", std::process::id()));
        fs::create_dir(&root).unwrap();
        root.join("told.json")
    }

    fn text(path: &Path) -> String {
        String::from_utf8(read_reserved(path, 64 * 1024).unwrap()).unwrap().trim_end().to_owned()
    }

    #[test]
    fn a_published_file_has_space_for_its_next_version_from_the_first_on() {
        let path = place("kept-room");
        publish_reserved(&path, b"{1}").unwrap();
        assert_eq!((text(&path).as_str(), path.metadata().unwrap().len()), ("{1}", 8192));
        // On a full disk no file is made: the two files exchange their names.
        let before: Vec<u64> = [path.clone(), reserve_path(&path)]
            .iter()
            .map(|it| it.metadata().unwrap().ino())
            .collect();
        for number in 2..6 {
            exchange(&path, &padded(format!("{{{number}}}").as_bytes()).unwrap()).unwrap();
            assert_eq!(text(&path), format!("{{{number}}}"));
            assert!(before.contains(&path.metadata().unwrap().ino()));
            assert_eq!(reserve_path(&path).metadata().unwrap().len(), 8192);
            assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o644);
        }
        // A version that is too long is written all the same, and the next one has space again.
        let long = "x".repeat(9000);
        publish_reserved(&path, long.as_bytes()).unwrap();
        assert_eq!(text(&path), long);
        exchange(&path, &padded(b"{7}").unwrap()).unwrap();
        assert_eq!(text(&path), "{7}");
        publish_reserved(&path, b"{8}").unwrap();
        assert_eq!(
            (text(&path).as_str(), reserve_path(&path).metadata().unwrap().len()),
            ("{8}", 8192)
        );
        // A file that was removed is made again.
        fs::remove_file(&path).unwrap();
        exchange(&path, &padded(b"{9}").unwrap()).unwrap();
        assert_eq!(text(&path), "{9}");
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_file_that_a_reader_still_has_is_not_written() {
        let path = place("kept-room-read");
        publish_reserved(&path, b"{1}").unwrap();
        let reader = FileLock::try_lock(File::open(&path).unwrap(), LockMode::Shared).unwrap();
        exchange(&path, &padded(b"{2}").unwrap()).unwrap();
        let refused = exchange(&path, &padded(b"{3}").unwrap());
        assert!(refused.is_err());
        assert!(read_from(reader.file(), 64 * 1024).unwrap().starts_with(b"{1}"));
        drop(reader);
        exchange(&path, &padded(b"{3}").unwrap()).unwrap();
        assert_eq!(text(&path), "{3}");
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn no_reader_sees_a_torn_version() {
        let path = place("kept-room-torn");
        publish_reserved(&path, &[b'0'; 8000]).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        let Ok(read) = read_reserved(&path, 64 * 1024) else { continue };
                        assert!(read[..8000].iter().all(|byte| *byte == read[0]), "torn");
                    }
                });
            }
            for number in 0..2000_u32 {
                let digit = b'0' + u8::try_from(number % 10).unwrap();
                // A reader may have the hidden file open; then this version is not written.
                exchange(&path, &padded(&[digit; 8000]).unwrap()).unwrap_or_default();
            }
            done.store(true, Ordering::Relaxed);
        });
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }
}

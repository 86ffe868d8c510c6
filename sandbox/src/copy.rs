//! Copies a collected file, hashing it at the same time and preserving its holes.
//!
//! The tool wrote the source file. It is read by position through its descriptor, never beyond the
//! limit; lseek(2) finds its holes. The digest is of the copy's content. Hashing is slow, so it has
//! its own thread; a file of up to one buffer is hashed in the reading thread.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rustix::fs::{SeekFrom, fstat, ftruncate, seek};
use rustix::io::{Errno, pread, pwrite};
use sha2::{Digest, Sha256};

const BUFFER_BYTES: u64 = 256 * 1024;
/// Buffers of the two threads: enough to bridge short delays, few enough for the processor's cache.
const BUFFERS: usize = 4;
/// Bytes to hash for a hole.
static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];

/// The size of the copy and its digest.
pub(crate) type CopiedBytes = (u64, [u8; 32]);

enum FileChunk {
    Bytes(Vec<u8>),
    Zeros(u64),
}

/// The extent that begins at a position of the file.
enum Extent {
    DataTo(u64),
    HoleTo(u64),
    End,
}

/// Copies at most one byte more than `bytes_max`, so that the caller notices a larger file.
pub(crate) fn copy_and_hash(
    from: BorrowedFd<'_>,
    to: BorrowedFd<'_>,
    bytes_max: u64,
) -> io::Result<CopiedBytes> {
    let end_max = bytes_max.saturating_add(1);
    let size = u64::try_from(fstat(from)?.st_size).unwrap_or(u64::MAX);
    if size <= BUFFER_BYTES {
        let mut hash = Sha256::new();
        let buffer = || Ok(Vec::new());
        let total = read_all(from, to, end_max, buffer, |piece| {
            take(&mut hash, &piece);
            Ok(())
        })?;
        return Ok((total, hash.finalize().into()));
    }
    thread::scope(|scope| {
        let (full, to_hash) = channel();
        let (hashed, free) = channel();
        let hasher = thread::Builder::new()
            .name("hash".to_owned())
            .spawn_scoped(scope, move || hash_all(&to_hash, &hashed))?;
        let gone = || io::Error::other("hash thread: ended early");
        let mut made = 0;
        let buffer = || {
            if made < BUFFERS {
                made += 1;
                return Ok(Vec::new());
            }
            free.recv().map_err(|_| gone())
        };
        let total =
            read_all(from, to, end_max, buffer, |piece| full.send(piece).map_err(|_| gone()));
        drop(full);
        let digest = hasher.join().map_err(|_| io::Error::other("hash thread: panicked"))?;
        Ok((total?, digest))
    })
}

/// Copies up to `end_max` and passes every piece to `hash`. Returns the size, including holes.
fn read_all(
    from: BorrowedFd<'_>,
    to: BorrowedFd<'_>,
    end_max: u64,
    mut buffer: impl FnMut() -> io::Result<Vec<u8>>,
    mut hash: impl FnMut(FileChunk) -> io::Result<()>,
) -> io::Result<u64> {
    let mut at = 0;
    'file: while at < end_max {
        match extent(from, at)? {
            Extent::End => break,
            Extent::HoleTo(end) => {
                let end = end.min(end_max);
                hash(FileChunk::Zeros(end - at))?;
                at = end;
            }
            // SEEK_HOLE walks over all the data, so it is called once per extent.
            Extent::DataTo(end) => {
                let end = end.min(end_max);
                while at < end {
                    let mut bytes = buffer()?;
                    let len = (end - at).min(BUFFER_BYTES);
                    bytes.resize(usize::try_from(len).map_err(io::Error::other)?, 0);
                    let read = rustix::io::retry_on_intr(|| pread(from, &mut bytes, at))?;
                    if read == 0 {
                        break 'file;
                    }
                    bytes.truncate(read);
                    write_all_at(to, &bytes, at)?;
                    at += u64::try_from(read).unwrap_or(u64::MAX);
                    hash(FileChunk::Bytes(bytes))?;
                }
            }
        }
    }
    // A hole at the end was not written, so the size must be set.
    ftruncate(to, at)?;
    Ok(at)
}

fn extent(file: BorrowedFd<'_>, at: u64) -> io::Result<Extent> {
    match seek(file, SeekFrom::Data(at)) {
        Ok(data) if data > at => Ok(Extent::HoleTo(data)),
        Ok(_) => match seek(file, SeekFrom::Hole(at)) {
            Ok(hole) if hole > at => Ok(Extent::DataTo(hole)),
            // The file was truncated between the two calls.
            Ok(_) | Err(Errno::NXIO) => Ok(Extent::End),
            Err(errno) => Err(errno.into()),
        },
        Err(Errno::NXIO) => {
            let size = u64::try_from(fstat(file)?.st_size).unwrap_or(u64::MAX);
            Ok(if size > at { Extent::HoleTo(size) } else { Extent::End })
        }
        // A file system without SEEK_DATA reports no holes.
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(Extent::DataTo(u64::MAX)),
        Err(errno) => Err(errno.into()),
    }
}

fn write_all_at(file: BorrowedFd<'_>, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = rustix::io::retry_on_intr(|| pwrite(file.as_fd(), bytes, at))?;
        bytes = &bytes[written..];
        at += u64::try_from(written).unwrap_or(u64::MAX);
    }
    Ok(())
}

fn hash_all(to_hash: &Receiver<FileChunk>, hashed: &Sender<Vec<u8>>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for piece in to_hash {
        take(&mut hash, &piece);
        if let FileChunk::Bytes(buffer) = piece
            && hashed.send(buffer).is_err()
        {
            // The reader needs no more buffers; the remaining pieces must still be hashed.
            continue;
        }
    }
    hash.finalize().into()
}

fn take(hash: &mut Sha256, piece: &FileChunk) {
    match piece {
        FileChunk::Bytes(bytes) => hash.update(bytes),
        FileChunk::Zeros(len) => {
            let mut left = *len;
            while left > 0 {
                let now = usize::try_from(left).unwrap_or(ZEROS.len()).min(ZEROS.len());
                hash.update(&ZEROS[..now]);
                left -= u64::try_from(now).unwrap_or(left);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;
    use std::os::unix::fs::{FileExt, MetadataExt};

    use super::*;

    fn scratch(name: &str) -> (File, std::path::PathBuf) {
        let name = format!("toolexec-pour-{name}-{}", std::process::id());
        let path = std::path::Path::new("/dev/shm").join(name);
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
        (file.unwrap(), path)
    }

    /// Copies and compares with a plain read; returns the copy.
    fn copied(name: &str, make: impl FnOnce(&File), bytes_max: u64) -> (u64, File) {
        let ((from, from_path), (to, to_path)) = (scratch(name), scratch(&format!("{name}-copy")));
        make(&from);
        let (total, sha256) = copy_and_hash(from.as_fd(), to.as_fd(), bytes_max).unwrap();
        std::fs::remove_file(from_path).unwrap();
        std::fs::remove_file(to_path).unwrap();
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        let mut reader = &from;
        io::Seek::rewind(&mut reader).unwrap();
        reader.take(bytes_max + 1).read_to_end(&mut theirs).unwrap();
        (&to).read_to_end(&mut ours).unwrap();
        assert!(theirs == ours, "{name}: the copy differs");
        assert_eq!(u64::try_from(ours.len()).unwrap(), total, "{name}");
        assert_eq!(<[u8; 32]>::from(Sha256::digest(&ours)), sha256, "{name}");
        (total, to)
    }

    #[test]
    fn copies_are_equal_for_any_length_and_holes() {
        let text: Vec<u8> = (0..3_000_000_u32).map(|at| at.to_le_bytes()[1] ^ 0x5a).collect();
        for len in [0, 1, 262_143, 262_144, 262_145, 1_048_576, 2_999_999] {
            let _copy =
                copied("plain", |file| file.write_all_at(&text[..len], 0).unwrap(), 1 << 30);
        }
        let (total, copy) = copied(
            "holes",
            |file| {
                file.write_all_at(b"begin", 0).unwrap();
                file.write_all_at(&text, 20 << 20).unwrap();
                file.set_len(64 << 20).unwrap();
            },
            1 << 30,
        );
        assert_eq!(total, 64 << 20);
        assert!(copy.metadata().unwrap().blocks() * 512 < 8 << 20, "the holes were written");
        let (total, _) = copied("small hole", |file| file.set_len(10_000).unwrap(), 1 << 30);
        assert_eq!(total, 10_000);
    }

    #[test]
    fn never_more_than_one_byte_beyond_the_bound_is_read() {
        for len in [1001, 5000, 4 << 20] {
            let (total, _) =
                copied("data", |file| file.write_all_at(&vec![7; len], 0).unwrap(), 1000);
            assert_eq!(total, 1001);
            let len = u64::try_from(len).unwrap();
            let (total, _) = copied("hole", |file| file.set_len(len).unwrap(), 1000);
            assert_eq!(total, 1001);
        }
        let (total, _) = copied("exact", |file| file.write_all_at(&[7; 1000], 0).unwrap(), 1000);
        assert_eq!(total, 1000);
    }
}

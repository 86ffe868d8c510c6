//! Reads a file and hashes it while its bytes are copied to another file or compared with one. The
//! digest covers the bytes that were written or compared, so a change to the file in between has no
//! effect. Every read must have a limit. Hashing is the slow part, so it has its own thread; only a
//! file of one buffer is hashed on the reading thread.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use model::{Sha256, Sha256Stream};

use crate::hash_progress::HashProgress;

const BUFFER_BYTES: usize = 256 * 1024;
/// The buffers between the two threads: enough to absorb short delays, few enough for a CPU cache.
const BUFFERS: usize = 4;

/// The digest and the length of what was read.
pub(crate) type HashedCopy = (Sha256, u64);

/// Copies at most one buffer more than `bytes_max`. Returns the digest and length of the copy.
pub(crate) fn copy_hashed(
    from: &mut File,
    to: &mut File,
    bytes_max: u64,
    hashed: &HashProgress,
) -> io::Result<HashedCopy> {
    read_hashed(from, bytes_max, |piece| {
        hashed.add(piece.len());
        to.write_all(piece)
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentMatch {
    Same,
    Different,
}

/// Reads `from` as [`copy_hashed`] does, and compares it with `stored`, which must end with it.
pub(crate) fn compare(
    from: &mut File,
    stored: &mut File,
    bytes_max: u64,
    hashed: &HashProgress,
) -> io::Result<(HashedCopy, ContentMatch)> {
    let mut found = ContentMatch::Same;
    let mut theirs = Vec::new();
    let poured = read_hashed(from, bytes_max, |piece| {
        hashed.add(piece.len());
        if found == ContentMatch::Same {
            theirs.resize(piece.len(), 0);
            let len = read_full(stored, &mut theirs)?;
            if theirs[..len] != *piece {
                found = ContentMatch::Different;
            }
        }
        Ok(())
    })?;
    if found == ContentMatch::Same && read_full(stored, &mut [0])? != 0 {
        found = ContentMatch::Different;
    }
    Ok((poured, found))
}

/// Reads to the end, or beyond `bytes_max` bytes. Hashes every piece while `act` gets it.
fn read_hashed(
    from: &mut File,
    bytes_max: u64,
    mut act: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<HashedCopy> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let len = read_full(from, &mut buffer)?;
    let total = u64::try_from(len).unwrap_or(u64::MAX);
    act(&buffer[..len])?;
    if len < BUFFER_BYTES || total > bytes_max {
        return Ok((Sha256::of(&buffer[..len]), total));
    }
    thread::scope(|scope| {
        let (full, to_hash) = channel();
        let (hashed, free) = channel();
        let hasher = thread::Builder::new()
            .name("hash".to_owned())
            .spawn_scoped(scope, move || hash_all(&to_hash, &hashed))?;
        let read = feed(from, bytes_max, buffer, &full, &free, &mut act);
        drop(full);
        let digest = hasher.join().map_err(|_| {
            io::Error::other("the hashing thread panicked; help: report this as a bug")
        })?;
        Ok((digest, read?))
    })
}

/// Continues after the first buffer and sends each piece to the hashing thread. Returns the length.
fn feed(
    from: &mut File,
    bytes_max: u64,
    first: Vec<u8>,
    full: &Sender<Vec<u8>>,
    free: &Receiver<Vec<u8>>,
    act: &mut impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<u64> {
    let gone = || io::Error::other("the hashing thread ended; help: report this as a bug");
    let mut total = u64::try_from(first.len()).unwrap_or(u64::MAX);
    let mut sent = 1;
    full.send(first).map_err(|_| gone())?;
    while total <= bytes_max {
        let mut buffer = if sent < BUFFERS {
            sent += 1;
            Vec::with_capacity(BUFFER_BYTES)
        } else {
            free.recv().map_err(|_| gone())?
        };
        buffer.resize(BUFFER_BYTES, 0);
        let len = read_full(from, &mut buffer)?;
        if len == 0 {
            break;
        }
        buffer.truncate(len);
        act(&buffer)?;
        total += u64::try_from(len).unwrap_or(u64::MAX);
        full.send(buffer).map_err(|_| gone())?;
    }
    Ok(total)
}

fn hash_all(to_hash: &Receiver<Vec<u8>>, hashed: &Sender<Vec<u8>>) -> Sha256 {
    let mut hash = Sha256Stream::new();
    for buffer in to_hash {
        hash.update(&buffer);
        if hashed.send(buffer).is_err() {
            // The reader needs no more buffers. The pieces already sent are still hashed.
            continue;
        }
    }
    hash.finish()
}

/// Reads until the buffer is full or the file ends.
fn read_full(from: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut len = 0;
    while len < buffer.len() {
        match from.read(&mut buffer[len..]) {
            Ok(0) => break,
            Ok(more) => len += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(len)
}

//! Threads that empty the guest's ports. A full port would stop the guest, so each is read to its
//! end even if its output is lost.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};

const TAIL_BYTES: usize = 64 * 1024;
const BUFFER_BYTES: usize = 64 * 1024;

/// Copies a port to an output, and counts the bytes. If the output fails, the rest of the port is
/// discarded.
pub(super) fn copy_port(
    mut from: impl Read + Send + 'static,
    to: File,
    count: Arc<AtomicU64>,
) -> io::Result<JoinHandle<()>> {
    Builder::new().name("relay".to_owned()).spawn(move || {
        let mut to = Some(to);
        each_piece(&mut from, |piece| {
            count.fetch_add(u64::try_from(piece.len()).unwrap_or_default(), Ordering::Release);
            if to.as_mut().is_some_and(|file| file.write_all(piece).is_err()) {
                to = None;
            }
        });
    })
}

/// Keeps the last 64 KiB of a port.
pub(super) fn keep_tail(mut from: impl Read + Send + 'static) -> io::Result<JoinHandle<Vec<u8>>> {
    Builder::new().name("tail".to_owned()).spawn(move || {
        let mut tail: VecDeque<u8> = VecDeque::new();
        each_piece(&mut from, |piece| {
            tail.extend(piece);
            tail.drain(..tail.len().saturating_sub(TAIL_BYTES));
        });
        tail.into()
    })
}

fn each_piece(from: &mut impl Read, mut take: impl FnMut(&[u8])) {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => take(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // QEMU has ended.
            Err(_) => return,
        }
    }
}

//! Separates programs from scripts by the first bytes of a file.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

const ELF_MAGIC: [u8; 4] = *b"\x7fELF";

/// Returns false for a file that cannot be read.
pub(super) fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == ELF_MAGIC
}

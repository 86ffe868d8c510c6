//! Separates programs from scripts by the first bytes of a file, and programs that need the host's
//! loader from others.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

const ELF_MAGIC: [u8; 4] = *b"\x7fELF";
/// A file of 64-bit words in the byte order of this machine's processors.
const ELF_64_LITTLE: [u8; 2] = [2, 1];
/// The type of the program header that names the loader.
const PT_INTERP: u32 = 3;
/// Program headers of real programs are within this many bytes.
const HEAD_BYTES_MAX: u64 = 64 * 1024;

/// Returns false for a file that cannot be read.
pub(super) fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == ELF_MAGIC
}

/// Returns whether a program names a loader, which brings its libraries. `None` for a file that is
/// not a program, or cannot be read.
pub(super) fn needs_loader(path: &Path) -> Option<bool> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD_BYTES_MAX).read_to_end(&mut head).ok()?;
    names_loader(&head)
}

fn names_loader(head: &[u8]) -> Option<bool> {
    if !head.starts_with(&ELF_MAGIC) || head.get(4..6)? != ELF_64_LITTLE {
        return None;
    }
    let begin = usize::try_from(u64::from_le_bytes(bytes(head, 32)?)).ok()?;
    let size = usize::from(u16::from_le_bytes(bytes(head, 54)?));
    let count = usize::from(u16::from_le_bytes(bytes(head, 56)?));
    for index in 0..count {
        let at = begin.checked_add(index.checked_mul(size)?)?;
        if u32::from_le_bytes(bytes(head, at)?) == PT_INTERP {
            return Some(true);
        }
    }
    Some(false)
}

fn bytes<const N: usize>(head: &[u8], at: usize) -> Option<[u8; N]> {
    head.get(at..at.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the head of a program with these types of program headers.
    fn program(types: &[u32]) -> Vec<u8> {
        let mut head = vec![0; 64];
        head[..4].copy_from_slice(&ELF_MAGIC);
        head[4..6].copy_from_slice(&ELF_64_LITTLE);
        head[32..40].copy_from_slice(&64_u64.to_le_bytes());
        head[54..56].copy_from_slice(&56_u16.to_le_bytes());
        head[56..58].copy_from_slice(&u16::try_from(types.len()).unwrap().to_le_bytes());
        for kind in types {
            head.extend(kind.to_le_bytes());
            head.extend([0; 52]);
        }
        head
    }

    #[test]
    fn a_program_with_a_loader_is_recognized() {
        assert_eq!(names_loader(&program(&[6, PT_INTERP, 1])), Some(true));
        assert_eq!(names_loader(&program(&[6, 1, 1])), Some(false));
    }

    #[test]
    fn other_files_and_cut_ones_are_no_programs() {
        let whole = program(&[1, 1]);
        for head in [&b"#!/bin/sh\n"[..], b"", &whole[..40], &whole[..100]] {
            assert_eq!(names_loader(head), None, "{} bytes", head.len());
        }
    }
}

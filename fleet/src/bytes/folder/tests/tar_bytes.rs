//! Makes headers and entries of archives, right and wrong ones.

use tar::{Header, UstarHeader};

use crate::bytes::folder::header::{FolderTarHeader, FolderTarKind};

/// Returns a header of an empty file `a` after an edit, with its checksum.
pub(super) fn edited(edit: impl FnOnce(&mut UstarHeader)) -> Vec<u8> {
    let header = FolderTarHeader { name: "a".to_owned(), kind: FolderTarKind::File, bytes: 0 };
    let mut block = header.encode().unwrap().to_vec();
    let mut header = Header::from_byte_slice(&block).clone();
    edit(header.as_ustar_mut().unwrap());
    header.as_old_mut().cksum = *b"        ";
    let sum: u64 = header.as_bytes().iter().map(|byte| u64::from(*byte)).sum();
    fill(&mut header.as_old_mut().cksum, format!("{sum:06o}\0 ").as_bytes());
    block.copy_from_slice(header.as_bytes());
    block
}

pub(super) fn fill(field: &mut [u8], text: &[u8]) {
    field.fill(0);
    field[..text.len()].copy_from_slice(text);
}

/// A header of another type.
pub(super) fn typed(kind: u8) -> Vec<u8> {
    edited(|it| it.typeflag = [kind])
}

pub(super) fn named(name: &[u8]) -> Vec<u8> {
    edited(|it| fill(&mut it.name, name))
}

pub(super) fn linked(target: &[u8]) -> Vec<u8> {
    edited(|it| {
        it.typeflag = *b"2";
        fill(&mut it.mode, b"0000777");
        fill(&mut it.linkname, target);
    })
}

/// An entry as this program writes it.
pub(super) fn entry(name: &str, kind: FolderTarKind, content: &[u8]) -> Vec<u8> {
    let bytes = u64::try_from(content.len()).unwrap();
    let header = FolderTarHeader { name: name.to_owned(), kind, bytes };
    let mut entry = header.encode().unwrap().to_vec();
    entry.extend_from_slice(content);
    entry.resize(entry.len().next_multiple_of(512), 0);
    entry
}

pub(super) fn file(name: &str, content: &[u8]) -> Vec<u8> {
    entry(name, FolderTarKind::File, content)
}

pub(super) fn directory(name: &str) -> Vec<u8> {
    entry(name, FolderTarKind::Directory, b"")
}

pub(super) fn link(name: &str, target: &str) -> Vec<u8> {
    entry(name, FolderTarKind::Link(target.to_owned()), b"")
}

pub(super) fn ended(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut archive = entries.concat();
    archive.resize(archive.len() + 1024, 0);
    archive
}

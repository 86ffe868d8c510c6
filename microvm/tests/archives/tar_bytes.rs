//! Builds archives byte by byte, so that each can break one rule.

pub(crate) const BLOCK: usize = 512;

/// One entry with any name, kind and size.
pub(crate) fn entry(name: &[u8], kind: u8, content: &[u8]) -> Vec<u8> {
    let size = format!("{:011o}", content.len());
    let mut entry = header(name, kind, size.as_bytes());
    entry.extend_from_slice(content);
    entry.resize(entry.len().next_multiple_of(BLOCK), 0);
    entry
}

/// One header, with a correct checksum.
pub(crate) fn header(name: &[u8], kind: u8, size: &[u8]) -> Vec<u8> {
    changed(name, kind, size, |_| {})
}

/// One header that `change` edits before its checksum is written.
pub(crate) fn changed(
    name: &[u8],
    kind: u8,
    size: &[u8],
    change: impl FnOnce(&mut [u8]),
) -> Vec<u8> {
    let mut block = vec![0; BLOCK];
    put(&mut block, 0, name);
    put(&mut block, 100, if kind == b'5' { b"0000755" } else { b"0000644" });
    put(&mut block, 108, b"0000000");
    put(&mut block, 116, b"0000000");
    put(&mut block, 124, size);
    put(&mut block, 136, b"00000000000");
    block[156] = kind;
    put(&mut block, 257, b"ustar\x0000");
    change(&mut block);
    put(&mut block, 148, b"        ");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    put(&mut block, 148, format!("{sum:06o}\0 ").as_bytes());
    block
}

pub(crate) fn put(block: &mut [u8], at: usize, bytes: &[u8]) {
    block[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Adds the end mark, and zeros up to the size of a disk.
pub(crate) fn disk(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut disk = entries.concat();
    disk.resize(disk.len() + 2 * BLOCK, 0);
    disk.resize(disk.len().max(16 * BLOCK), 0);
    disk
}

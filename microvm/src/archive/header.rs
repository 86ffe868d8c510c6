//! One header of an archive: 512 bytes, written and read. Must never accept a form that
//! [`encode`] does not write, except other owners and times: readers disagree about other forms.

use super::fault::ArchiveFault;

pub(super) const BLOCK_BYTES: usize = 512;
/// The same number for places in the archive.
pub(super) const BLOCK: u64 = BLOCK_BYTES as u64;
pub(super) type TarBlock = [u8; BLOCK_BYTES];

const MAGIC_VALUE: &[u8] = b"ustar\x0000";
const NAME: TarField = TarField::new(0, 100);
const MODE: TarField = TarField::new(100, 8);
const OWNER: TarField = TarField::new(108, 8);
const GROUP: TarField = TarField::new(116, 8);
const SIZE: TarField = TarField::new(124, 12);
const TIME: TarField = TarField::new(136, 12);
const CHECKSUM: TarField = TarField::new(148, 8);
const KIND: TarField = TarField::new(156, 1);
const MAGIC: TarField = TarField::new(257, 8);
const USER_NAME: TarField = TarField::new(265, 32);
const GROUP_NAME: TarField = TarField::new(297, 32);
const PREFIX: TarField = TarField::new(345, 155);

/// The fields that may differ from those that [`encode`] writes.
const FREE: [TarField; 6] = [OWNER, GROUP, TIME, CHECKSUM, USER_NAME, GROUP_NAME];

/// The place of a value in a header.
#[derive(Clone, Copy)]
struct TarField {
    at: usize,
    bytes: usize,
}

impl TarField {
    const fn new(at: usize, bytes: usize) -> Self {
        Self { at, bytes }
    }

    fn of(self, block: &TarBlock) -> &[u8] {
        block.get(self.at..self.at + self.bytes).unwrap_or_default()
    }

    fn put(self, block: &mut TarBlock, value: &[u8]) {
        for (to, from) in block.iter_mut().skip(self.at).take(self.bytes).zip(value) {
            *to = *from;
        }
    }
}

/// The facts of a header.
#[derive(Debug)]
pub(super) struct TarHeader {
    pub(super) name: String,
    pub(super) is_directory: bool,
    pub(super) executable: bool,
    pub(super) size: u64,
}

/// Writes a header. Returns `None` if the name or the size has no place in it.
pub(super) fn encode(header: &TarHeader) -> Option<TarBlock> {
    let (prefix, name) = split_name(&header.name)?;
    let size = format!("{:011o}", header.size);
    if size.len() != 11 {
        return None;
    }
    let full = header.is_directory || header.executable;
    let mut block = [0; BLOCK_BYTES];
    NAME.put(&mut block, name.as_bytes());
    PREFIX.put(&mut block, prefix.as_bytes());
    MODE.put(&mut block, if full { b"0000755" } else { b"0000644" });
    OWNER.put(&mut block, b"0000000");
    GROUP.put(&mut block, b"0000000");
    SIZE.put(&mut block, size.as_bytes());
    TIME.put(&mut block, b"00000000000");
    KIND.put(&mut block, if header.is_directory { b"5" } else { b"0" });
    MAGIC.put(&mut block, MAGIC_VALUE);
    let sum = format!("{:06o}\0 ", checksum(&block));
    CHECKSUM.put(&mut block, sum.as_bytes());
    Some(block)
}

/// Reads a header. Its name is checked, its size is not.
pub(super) fn decode(block: &TarBlock) -> Result<TarHeader, ArchiveFault> {
    if octal(CHECKSUM.of(block)) != Some(checksum(block)) {
        return Err(ArchiveFault::Checksum);
    }
    let is_directory = is_directory(KIND.of(block))?;
    if MAGIC.of(block) != MAGIC_VALUE {
        return Err(ArchiveFault::NotUstar);
    }
    let mode = octal(MODE.of(block)).ok_or(ArchiveFault::Number)?;
    if mode > 0o777 {
        return Err(ArchiveFault::Mode);
    }
    let size = octal(SIZE.of(block)).ok_or(ArchiveFault::Number)?;
    let name = name(block)?;
    let header = TarHeader { name, is_directory, executable: mode & 0o111 != 0, size };
    match encode(&header) {
        Some(written) if bound(&written) == bound(block) => Ok(header),
        _ => Err(ArchiveFault::Form),
    }
}

/// Returns a header without its free fields.
fn bound(block: &TarBlock) -> TarBlock {
    let mut bound = *block;
    for field in FREE {
        field.put(&mut bound, &[0; BLOCK_BYTES]);
    }
    bound
}

/// Describes the entry of a header that may be wrong.
pub(super) fn label(block: &TarBlock) -> String {
    let name = NAME.of(block);
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    format!("{:?}", String::from_utf8_lossy(name.get(..end).unwrap_or_default()))
}

fn is_directory(kind: &[u8]) -> Result<bool, ArchiveFault> {
    match kind {
        b"0" => Ok(false),
        b"5" => Ok(true),
        b"1" | b"2" => Err(ArchiveFault::Link),
        b"3" | b"4" | b"6" => Err(ArchiveFault::Device),
        b"S" => Err(ArchiveFault::Sparse),
        b"x" | b"g" | b"X" | b"L" | b"K" | b"N" | b"V" | b"M" | b"D" => {
            Err(ArchiveFault::Extension)
        }
        _ => Err(ArchiveFault::UnknownKind),
    }
}

/// Splits a name that exceeds its field at a slash.
fn split_name(name: &str) -> Option<(&str, &str)> {
    if name.is_empty() {
        return None;
    }
    if name.len() <= NAME.bytes {
        return Some(("", name));
    }
    let splits = name.match_indices('/').filter_map(|(at, _)| name.split_at_checked(at));
    let mut splits = splits.filter_map(|(prefix, rest)| Some((prefix, rest.strip_prefix('/')?)));
    splits.find(|(prefix, rest)| {
        (1..=PREFIX.bytes).contains(&prefix.len()) && (1..=NAME.bytes).contains(&rest.len())
    })
}

fn name(block: &TarBlock) -> Result<String, ArchiveFault> {
    let (prefix, rest) = (text(PREFIX.of(block))?, text(NAME.of(block))?);
    let bytes = if prefix.is_empty() { rest.to_vec() } else { [prefix, b"/", rest].concat() };
    let name = String::from_utf8(bytes).map_err(|_| ArchiveFault::NameNotUtf8)?;
    if name.is_empty() {
        return Err(ArchiveFault::EmptyName);
    }
    if name.starts_with('/') {
        return Err(ArchiveFault::AbsoluteName);
    }
    for part in name.split('/') {
        match part {
            "" => return Err(ArchiveFault::EmptyPart),
            "." | ".." => return Err(ArchiveFault::DotPart),
            _ => {}
        }
    }
    Ok(name)
}

/// Returns a text up to its end. Readers would disagree about bytes after it.
fn text(field: &[u8]) -> Result<&[u8], ArchiveFault> {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    let (text, rest) = field.split_at_checked(end).ok_or(ArchiveFault::NameField)?;
    if rest.iter().any(|byte| *byte != 0) {
        return Err(ArchiveFault::NameField);
    }
    Ok(text)
}

fn octal(field: &[u8]) -> Option<u64> {
    let is_end = |byte: &u8| matches!(byte, 0 | b' ');
    let end = field.iter().position(is_end).unwrap_or(field.len());
    let (digits, rest) = field.split_at_checked(end)?;
    let is_octal = digits.iter().all(|byte| (b'0'..=b'7').contains(byte));
    if !is_octal || !rest.iter().all(is_end) {
        return None;
    }
    u64::from_str_radix(str::from_utf8(digits).ok()?, 8).ok()
}

/// Adds the bytes of a header, with blanks in place of the checksum.
fn checksum(block: &TarBlock) -> u64 {
    let field = CHECKSUM.at..CHECKSUM.at + CHECKSUM.bytes;
    let bytes = block.iter().enumerate();
    bytes.map(|(at, byte)| u64::from(if field.contains(&at) { b' ' } else { *byte })).sum()
}

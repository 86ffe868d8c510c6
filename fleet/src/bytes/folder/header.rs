//! One header of an archive: 512 bytes, written and read. Must never accept a form that
//! [`FolderTarHeader::encode`] does not write.

use tar::Header;

use crate::bytes::fault::FolderTarFault;
use crate::bytes::model::COMPONENT_BYTES_MAX;

pub(super) const BLOCK_BYTES: usize = 512;
/// The same number for places in the archive.
pub(super) const BLOCK: u64 = 512;
/// The blocks of zeros after the last entry.
pub(super) const END_BYTES: usize = 2 * BLOCK_BYTES;

pub(super) type HeaderBlock = [u8; BLOCK_BYTES];

/// The place of the checksum in a header.
const CHECKSUM: std::ops::Range<usize> = 148..156;

/// The kind of an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum FolderTarKind {
    Directory,
    File,
    /// A file with any execute bit.
    Program,
    /// A symbolic link with its target.
    Link(String),
}

/// One entry of a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct FolderTarHeader {
    /// The path below the folder.
    pub(super) name: String,
    pub(super) kind: FolderTarKind,
    /// The size of a file; 0 for others.
    pub(super) bytes: u64,
}

impl FolderTarHeader {
    /// Returns the block, or the reason why the entry has none.
    pub(super) fn encode(&self) -> Result<HeaderBlock, FolderTarFault> {
        let (kind, mode, target) = match &self.kind {
            FolderTarKind::Directory => (b'5', 0o755, ""),
            FolderTarKind::File => (b'0', 0o644, ""),
            FolderTarKind::Program => (b'0', 0o755, ""),
            FolderTarKind::Link(target) => (b'2', 0o777, target.as_str()),
        };
        let mut header = Header::new_ustar();
        let fields = header.as_ustar_mut().ok_or(FolderTarFault::NotUstar)?;
        let (prefix, name) = split_name(&self.name, fields.prefix.len(), fields.name.len())
            .ok_or(FolderTarFault::LongName)?;
        if target.len() > fields.linkname.len() {
            return Err(FolderTarFault::LongTarget);
        }
        put(&mut fields.name, name.as_bytes());
        put(&mut fields.prefix, prefix.as_bytes());
        put(&mut fields.linkname, target.as_bytes());
        fields.typeflag = [kind];
        put_octal(&mut fields.mode, mode)?;
        put_octal(&mut fields.uid, 0)?;
        put_octal(&mut fields.gid, 0)?;
        put_octal(&mut fields.mtime, 0)?;
        put_octal(&mut fields.size, self.bytes)?;
        let sum = checksum(header.as_bytes());
        put(&mut header.as_old_mut().cksum, format!("{sum:06o}\0 ").as_bytes());
        Ok(*header.as_bytes())
    }

    /// Reads a block. The size is not compared with the archive.
    pub(super) fn decode(block: &HeaderBlock) -> Result<Self, FolderTarFault> {
        let header = Header::from_byte_slice(block);
        if octal(&header.as_old().cksum) != Some(checksum(block)) {
            return Err(FolderTarFault::Checksum);
        }
        check_kind(header.as_old().linkflag)?;
        let fields = header.as_ustar().ok_or(FolderTarFault::NotUstar)?;
        let bytes = octal(&fields.size).ok_or(FolderTarFault::Number)?;
        let mode = octal(&fields.mode).ok_or(FolderTarFault::Number)?;
        let name = name_of(&fields.prefix, &fields.name)?;
        let target = text(&fields.linkname)?;
        let kind = match (fields.typeflag, mode & 0o111) {
            ([b'5'], _) => FolderTarKind::Directory,
            ([b'2'], _) => FolderTarKind::Link(target.to_owned()),
            (_, 0) => FolderTarKind::File,
            _ => FolderTarKind::Program,
        };
        let decoded = Self { name, kind, bytes };
        decoded.check()?;
        match decoded.encode()? == *block {
            true => Ok(decoded),
            false => Err(FolderTarFault::Form),
        }
    }

    /// Checks the name, and the target of a link.
    pub(super) fn check(&self) -> Result<(), FolderTarFault> {
        check_name(&self.name)?;
        if let FolderTarKind::Link(target) = &self.kind {
            check_target(target, self.name.split('/').count())?;
        }
        let is_file = matches!(self.kind, FolderTarKind::File | FolderTarKind::Program);
        match is_file || self.bytes == 0 {
            true => Ok(()),
            false => Err(FolderTarFault::Content),
        }
    }
}

/// Describes the entry of a block that may be wrong.
pub(super) fn label(block: &HeaderBlock) -> String {
    let name = Header::from_byte_slice(block).path_bytes().into_owned();
    String::from_utf8_lossy(&name).into_owned()
}

fn check_kind(kind: [u8; 1]) -> Result<(), FolderTarFault> {
    match &kind {
        b"0" | b"2" | b"5" => Ok(()),
        b"1" => Err(FolderTarFault::HardLink),
        b"3" | b"4" | b"6" => Err(FolderTarFault::Device),
        b"S" => Err(FolderTarFault::Sparse),
        b"x" | b"g" | b"X" | b"L" | b"K" | b"N" | b"V" | b"M" | b"D" => {
            Err(FolderTarFault::Extension)
        }
        _ => Err(FolderTarFault::UnknownKind),
    }
}

fn check_name(name: &str) -> Result<(), FolderTarFault> {
    if name.is_empty() {
        return Err(FolderTarFault::EmptyName);
    }
    if name.chars().any(char::is_control) {
        return Err(FolderTarFault::Control);
    }
    if name.starts_with('/') {
        return Err(FolderTarFault::AbsoluteName);
    }
    for part in name.split('/') {
        match part {
            "" => return Err(FolderTarFault::EmptyPart),
            "." | ".." => return Err(FolderTarFault::DotPart),
            part if part.len() > COMPONENT_BYTES_MAX => return Err(FolderTarFault::LongName),
            _ => {}
        }
    }
    Ok(())
}

/// Checks the target of a link whose path has `depth` components. The rule is that of the digest of
/// a tree (`docs/tree-digest.md`): `..` only at the beginning, because a later one could lead out
/// through another link.
fn check_target(target: &str, depth: usize) -> Result<(), FolderTarFault> {
    if target.is_empty() {
        return Err(FolderTarFault::EmptyTarget);
    }
    if target.chars().any(char::is_control) {
        return Err(FolderTarFault::Control);
    }
    let mut parts = target.split('/').filter(|part| !part.is_empty() && *part != ".");
    let up = parts.by_ref().take_while(|part| *part == "..").count();
    let leaves = target.starts_with('/') || up >= depth || parts.any(|part| part == "..");
    match leaves {
        true => Err(FolderTarFault::LinkLeaves),
        false => Ok(()),
    }
}

/// Splits a name that exceeds its field at the first slash that serves.
fn split_name(name: &str, prefix_max: usize, name_max: usize) -> Option<(&str, &str)> {
    if name.len() <= name_max {
        return Some(("", name));
    }
    let mut splits = name.match_indices('/').filter_map(|(at, _)| {
        let (prefix, rest) = name.split_at_checked(at)?;
        Some((prefix, rest.strip_prefix('/')?))
    });
    splits.find(|(prefix, rest)| {
        (1..=prefix_max).contains(&prefix.len()) && (1..=name_max).contains(&rest.len())
    })
}

fn name_of(prefix: &[u8], name: &[u8]) -> Result<String, FolderTarFault> {
    let (prefix, name) = (text(prefix)?, text(name)?);
    match prefix.is_empty() {
        true => Ok(name.to_owned()),
        false => Ok(format!("{prefix}/{name}")),
    }
}

/// Returns a text up to its end. Readers would disagree about bytes after it.
fn text(field: &[u8]) -> Result<&str, FolderTarFault> {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    let (text, rest) = field.split_at_checked(end).ok_or(FolderTarFault::TextField)?;
    if rest.iter().any(|byte| *byte != 0) {
        return Err(FolderTarFault::TextField);
    }
    str::from_utf8(text).map_err(|_| FolderTarFault::NameNotUtf8)
}

/// Reads octal digits that end with NUL or a blank.
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

fn put(field: &mut [u8], value: &[u8]) {
    for (to, from) in field.iter_mut().zip(value) {
        *to = *from;
    }
}

/// Writes a number with leading zeros and a NUL.
fn put_octal(field: &mut [u8], value: u64) -> Result<(), FolderTarFault> {
    let digits = field.len().saturating_sub(1);
    let text = format!("{value:0digits$o}");
    if text.len() > digits {
        return Err(FolderTarFault::TooManyBytes);
    }
    put(field, text.as_bytes());
    Ok(())
}

/// Adds the bytes of a header, with blanks in place of the checksum.
fn checksum(block: &HeaderBlock) -> u64 {
    let bytes = block.iter().enumerate();
    bytes.map(|(at, byte)| u64::from(if CHECKSUM.contains(&at) { b' ' } else { *byte })).sum()
}

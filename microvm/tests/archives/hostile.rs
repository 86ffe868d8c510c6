//! Hostile archives, each with the reason of its refusal.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

use toolexec_microvm::{ArchiveError, ArchiveFault, ArchiveLimits, OutArchive};

use crate::tar_bytes::{BLOCK, changed, disk, entry, header, put};

/// A little more than 15 pages are 16.
const LIMITS: ArchiveLimits = ArchiveLimits { entries: 8, bytes: 15 * 4096 + 1 };

fn fault(disk: Vec<u8>) -> ArchiveFault {
    fault_of(&mut Cursor::new(disk))
}

fn fault_of(disk: &mut (impl Read + Seek)) -> ArchiveFault {
    match OutArchive::read(disk, LIMITS) {
        Err(ArchiveError::Refused { fault, entry }) => {
            assert!(!entry.is_empty() && !entry.contains('\n'), "{entry:?}");
            fault
        }
        other => panic!("not refused: {other:?}"),
    }
}

fn file(name: &[u8]) -> Vec<u8> {
    entry(name, b'0', b"x")
}

/// Headers of kinds that are neither file nor directory.
fn kinds() -> Vec<(&'static str, Vec<u8>, ArchiveFault)> {
    let kind = |kind| disk(&[entry(b"a", kind, b"")]);
    vec![
        ("hard link", kind(b'1'), ArchiveFault::Link),
        ("symbolic link", kind(b'2'), ArchiveFault::Link),
        ("character device", kind(b'3'), ArchiveFault::Device),
        ("block device", kind(b'4'), ArchiveFault::Device),
        ("named pipe", kind(b'6'), ArchiveFault::Device),
        ("contiguous file", kind(b'7'), ArchiveFault::UnknownKind),
        ("file without a kind", kind(0), ArchiveFault::UnknownKind),
        ("unknown kind", kind(b'Z'), ArchiveFault::UnknownKind),
        ("sparse file of GNU", kind(b'S'), ArchiveFault::Sparse),
        ("long name of GNU", kind(b'L'), ArchiveFault::Extension),
        ("long link of GNU", kind(b'K'), ArchiveFault::Extension),
        ("extended header", kind(b'x'), ArchiveFault::Extension),
        ("global header", kind(b'g'), ArchiveFault::Extension),
    ]
}

/// Headers that are correct, but that the guest's writer does not write.
fn forms() -> Vec<(&'static str, Vec<u8>, ArchiveFault)> {
    let form = |at, bytes: &[u8]| {
        let header = changed(b"b", b'0', b"00000000000", |block| put(block, at, bytes));
        disk(&[entry(b"a", b'5', b""), header])
    };
    let directory = changed(b"a", b'5', b"00000000000", |block| put(block, 100, b"0000700"));
    vec![
        ("mode of another writer", form(100, b"0000600"), ArchiveFault::Form),
        ("mode with blanks", form(100, b"0644   "), ArchiveFault::Form),
        ("size with blanks", form(124, b"0          "), ArchiveFault::Form),
        ("short name in two fields", form(345, b"a"), ArchiveFault::Form),
        ("target of a link", form(157, b"/etc"), ArchiveFault::Form),
        ("number of a device", form(329, b"0000001"), ArchiveFault::Form),
        ("bytes after the prefix", form(500, b"x"), ArchiveFault::Form),
        ("private directory", disk(&[directory]), ArchiveFault::Form),
        ("size of 64 GiB", disk(&[header(b"a", b'0', b"777777777777")]), ArchiveFault::Form),
    ]
}

fn names() -> Vec<(&'static str, Vec<u8>, ArchiveFault)> {
    let named = |name: &[u8]| disk(&[file(name)]);
    let with_prefix = changed(b"b", b'0', b"00000000000", |block| put(block, 345, b"/etc"));
    let over = disk(&[entry(b"a", b'5', b""), file(b"a")]);
    let after_end = changed(b"a\0../b", b'0', b"00000000000", |_| {});
    vec![
        ("absolute name", named(b"/etc/passwd"), ArchiveFault::AbsoluteName),
        ("absolute prefix", disk(&[with_prefix]), ArchiveFault::AbsoluteName),
        ("parent first", named(b"../x"), ArchiveFault::DotPart),
        ("parent inside", named(b"a/../../x"), ArchiveFault::DotPart),
        ("parent last", named(b"a/.."), ArchiveFault::DotPart),
        ("this directory", named(b"./x"), ArchiveFault::DotPart),
        ("no name", named(b""), ArchiveFault::EmptyName),
        ("two slashes", named(b"a//b"), ArchiveFault::EmptyPart),
        ("slash at the end", disk(&[entry(b"a/", b'5', b"")]), ArchiveFault::EmptyPart),
        ("not UTF-8", named(b"a\xff"), ArchiveFault::NameNotUtf8),
        ("bytes after the name", disk(&[after_end]), ArchiveFault::NameField),
        ("same name twice", disk(&[file(b"a"), file(b"a")]), ArchiveFault::Duplicate),
        ("file over directory", over, ArchiveFault::Duplicate),
        ("no directory", named(b"a/b"), ArchiveFault::NoParent),
        ("file as directory", disk(&[file(b"a"), file(b"a/b")]), ArchiveFault::NoParent),
    ]
}

fn numbers() -> Vec<(&'static str, Vec<u8>, ArchiveFault)> {
    let sized = |size: &[u8]| disk(&[header(b"a", b'0', size)]);
    let mut checksum = file(b"a");
    checksum[0] = b'b';
    let mode = changed(b"a", b'0', b"00000000000", |block| put(block, 100, b"0004755"));
    let no_mode = changed(b"a", b'0', b"00000000000", |block| put(block, 100, b"-000644"));
    let magic = changed(b"a", b'0', b"00000000000", |block| put(block, 257, b"ustar  \0"));
    let many: Vec<_> = (0..9).map(|it| file(format!("f{it}").as_bytes())).collect();
    // Four files of four pages each, the last with one byte, and one byte more.
    let large = |name: &[u8]| entry(name, b'0', &[7; 3 * 4096 + 1]);
    let full = [large(b"a"), large(b"b"), large(b"c"), large(b"d"), file(b"e")];
    vec![
        ("wrong checksum", disk(&[checksum]), ArchiveFault::Checksum),
        ("not a header", disk(&[vec![0xaa; BLOCK]]), ArchiveFault::Checksum),
        ("set-user-id", disk(&[mode]), ArchiveFault::Mode),
        ("negative mode", disk(&[no_mode]), ArchiveFault::Number),
        ("header of GNU", disk(&[magic]), ArchiveFault::NotUstar),
        ("size without digits", sized(b""), ArchiveFault::Number),
        ("size in base 256", sized(b"\x80\0\0\0\0\0\0\0\0\0\x10\0"), ArchiveFault::Number),
        ("negative size", sized(b"-0000000001"), ArchiveFault::Number),
        ("size of 8 GiB", sized(b"77777777777"), ArchiveFault::BeyondDisk),
        ("size beyond the disk", sized(b"00000100000"), ArchiveFault::BeyondDisk),
        ("directory with content", disk(&[entry(b"a", b'5', b"x")]), ArchiveFault::DirectorySize),
        ("too many entries", disk(&many), ArchiveFault::TooMany),
        ("too many bytes", disk(&full), ArchiveFault::TooLarge),
    ]
}

fn ends() -> Vec<(&'static str, Vec<u8>, ArchiveFault)> {
    let lone = [vec![0; BLOCK], file(b"a")].concat();
    let cut_mark = [file(b"a"), vec![0; BLOCK]].concat();
    vec![
        ("empty disk", Vec::new(), ArchiveFault::Truncated),
        ("no end mark", file(b"a"), ArchiveFault::Truncated),
        ("cut end mark", cut_mark, ArchiveFault::Truncated),
        ("cut header", file(b"a")[..100].to_vec(), ArchiveFault::Truncated),
        ("one block of zeros", lone, ArchiveFault::LoneZeroBlock),
    ]
}

#[test]
fn each_hostile_archive_has_its_reason() {
    let archives = [kinds(), forms(), names(), numbers(), ends()].concat();
    assert!(archives.len() >= 30, "{}", archives.len());
    for (name, disk, wanted) in archives {
        assert_eq!(fault(disk), wanted, "{name}");
    }
}

#[test]
fn each_fault_has_an_archive() {
    let archives = [kinds(), forms(), names(), numbers(), ends()].concat();
    for fault in ArchiveFault::ALL {
        assert!(archives.iter().any(|(_, _, wanted)| wanted == fault), "{fault}");
    }
}

#[test]
fn entries_are_refused_at_the_limit() {
    let mut disk = EndlessDisk { at: 0, reads: 0 };
    assert_eq!(fault_of(&mut disk), ArchiveFault::TooMany);
    assert_eq!(disk.reads, 9, "the first header above the limit is the last");
}

/// A disk of 2 TiB with one header after the other, which counts how often it is read.
struct EndlessDisk {
    at: u64,
    reads: u32,
}

impl Read for EndlessDisk {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        let name = format!("{:012}", self.at);
        buffer.copy_from_slice(&header(name.as_bytes(), b'5', b"00000000000"));
        Ok(buffer.len())
    }
}

impl Seek for EndlessDisk {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        self.at = match place {
            SeekFrom::Start(at) => at,
            _ => 1 << 41,
        };
        Ok(self.at)
    }
}

#[test]
fn owners_and_times_are_free() {
    let places = [(108, 8), (116, 8), (136, 12), (265, 32), (297, 32)];
    for (at, bytes) in places {
        let value = vec![b'7'; bytes];
        let header = changed(b"a", b'0', b"00000000000", |block| put(block, at, &value));
        let archive = OutArchive::read(&mut Cursor::new(disk(&[header])), LIMITS).unwrap();
        assert_eq!(archive.entries().len(), 1, "{at}");
    }
}

#[test]
fn files_may_fill_their_pages() {
    let file = |name: &[u8]| entry(name, b'0', &[7; 3 * 4096 + 1]);
    let full = disk(&[file(b"a"), file(b"b"), file(b"c"), file(b"d")]);
    let archive = OutArchive::read(&mut Cursor::new(full), LIMITS).unwrap();
    assert_eq!(archive.bytes(), 4 * (3 * 4096 + 1));
}

#[test]
fn every_cut_and_every_changed_byte_is_survived() {
    let good = disk(&[entry(b"d", b'5', b""), file(b"d/f")]);
    for at in 0..3 * BLOCK {
        for value in [0, b'/', b'.', 0xff] {
            let mut bad = good.clone();
            bad[at] = value;
            // Refused or not: it ends, and never panics.
            drop(OutArchive::read(&mut Cursor::new(bad), LIMITS));
        }
        drop(OutArchive::read(&mut Cursor::new(good[..at].to_vec()), LIMITS));
    }
}

//! Archives of the guest's own writer, and their copies below a directory.

use std::fs;
use std::io::Cursor;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use toolexec_microvm::{ArchiveEntryKind, ArchiveLimits, OutArchive, OutDirectory, TarWriter};

use crate::tar_bytes::{disk, entry};

const LIMITS: ArchiveLimits = ArchiveLimits { entries: 100, bytes: 1 << 20 };

/// A new directory that is deleted with its content.
struct TestPlace(PathBuf);

impl TestPlace {
    fn new(name: &str) -> Self {
        let name = format!("toolexec-microvm-{name}-{}", std::process::id());
        let place = Self(std::env::temp_dir().join(name));
        fs::create_dir(&place.0).unwrap();
        place
    }
}

impl Drop for TestPlace {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn long_name() -> String {
    format!("{}/{}", "d".repeat(120), "f".repeat(100))
}

fn written() -> Vec<u8> {
    let mut writer = TarWriter::new(Vec::new());
    writer.directory("d").unwrap();
    writer.file("d/five", 5, false, &mut &b"12345"[..]).unwrap();
    writer.file("d/block", 512, false, &mut &[7_u8; 512][..]).unwrap();
    writer.file("run", 2, true, &mut &b"#!"[..]).unwrap();
    writer.file("\u{e9} \u{4e2d}", 0, false, &mut &b""[..]).unwrap();
    writer.directory(&"d".repeat(120)).unwrap_err();
    writer.directory(&"d".repeat(100)).unwrap();
    writer.finish().unwrap()
}

#[test]
fn an_archive_of_the_writer_is_copied() {
    let place = TestPlace::new("copied");
    let mut disk = Cursor::new(written());
    let archive = OutArchive::read(&mut disk, LIMITS).unwrap();
    assert_eq!(archive.bytes(), 519);
    OutDirectory::open(&place.0).unwrap().write(&archive, &mut disk).unwrap();
    assert_eq!(fs::read(place.0.join("d/five")).unwrap(), b"12345");
    assert_eq!(fs::read(place.0.join("d/block")).unwrap(), [7; 512]);
    assert_eq!(fs::read(place.0.join("\u{e9} \u{4e2d}")).unwrap(), b"");
    let executable =
        |name: &str| fs::metadata(place.0.join(name)).unwrap().permissions().mode() & 0o100 != 0;
    assert!(executable("run") && !executable("d/five"));
}

#[test]
fn a_long_name_is_split_at_a_slash() {
    let name = long_name();
    assert!(TarWriter::<Vec<u8>>::fits(&name));
    assert!(!TarWriter::<Vec<u8>>::fits(&"x".repeat(101)));
    assert!(!TarWriter::<Vec<u8>>::fits(&format!("{}/{name}", "e".repeat(120))));
    let mut writer = TarWriter::new(Vec::new());
    writer.file(&name, 0, false, &mut &b""[..]).unwrap();
    let error = OutArchive::read(&mut Cursor::new(writer.finish().unwrap()), LIMITS).unwrap_err();
    assert!(error.to_string().contains("no-parent"), "{error}");
}

#[test]
fn a_short_file_ends_the_writer() {
    let mut writer = TarWriter::new(Vec::new());
    assert!(writer.file("a", 6, false, &mut &b"12345"[..]).is_err());
}

#[test]
fn an_empty_archive_is_good() {
    let bytes = TarWriter::new(Vec::new()).finish().unwrap();
    let archive = OutArchive::read(&mut Cursor::new(bytes), LIMITS).unwrap();
    assert!(archive.entries().is_empty());
}

#[test]
fn bytes_after_the_end_mark_are_not_read() {
    let bytes = [disk(&[entry(b"a", b'0', b"x")]), vec![0xaa; 4096]].concat();
    let archive = OutArchive::read(&mut Cursor::new(bytes), LIMITS).unwrap();
    assert_eq!(archive.entries()[0].kind, ArchiveEntryKind::File { executable: false });
}

#[test]
fn an_existing_file_is_never_replaced() {
    let place = TestPlace::new("existing");
    fs::write(place.0.join("run"), "mine").unwrap();
    let mut disk = Cursor::new(written());
    let archive = OutArchive::read(&mut disk, LIMITS).unwrap();
    assert_eq!(OutDirectory::open(&place.0).unwrap().reserved(&archive).unwrap(), Some("run"));
    let error = OutDirectory::open(&place.0).unwrap().write(&archive, &mut disk).unwrap_err();
    assert!(error.to_string().starts_with("\"run\": "), "{error}");
    assert_eq!(fs::read(place.0.join("run")).unwrap(), b"mine");
}

#[test]
fn an_existing_link_is_never_replaced() {
    let (place, outside) = (TestPlace::new("link"), TestPlace::new("outside"));
    symlink(&outside.0, place.0.join("d")).unwrap();
    let mut disk = Cursor::new(written());
    let archive = OutArchive::read(&mut disk, LIMITS).unwrap();
    let mut out = OutDirectory::open(&place.0).unwrap();
    assert_eq!(out.reserved(&archive).unwrap(), Some("d"));
    assert!(out.write(&archive, &mut disk).is_err());
    assert_eq!(fs::read_dir(&outside.0).unwrap().count(), 0);
    let out = OutDirectory::open(&outside.0).unwrap();
    assert_eq!(out.reserved(&archive).unwrap(), None);
}

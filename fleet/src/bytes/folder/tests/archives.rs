//! Hostile archives: each is refused with its fault, and nothing of it is written.

use std::fs::File;

use super::tar_bytes::{directory, edited, ended, file, fill, link, linked, named, typed};
use crate::bytes::ByteStoreError;
use crate::bytes::fault::FolderTarFault as Fault;
use crate::bytes::folder::unpack_folder;
use crate::bytes::model::FOLDER_ENTRIES_MAX;
use crate::bytes::new_tree::NewTree;
use crate::bytes::tests::scene::BytesScene;

/// Unpacks an archive. Checks that nothing is written of a refused one.
fn unpack(archive: &[u8]) -> Option<(String, Fault)> {
    let scene = BytesScene::new();
    let file = File::open(scene.file("archive", archive)).unwrap();
    let mut tree = NewTree::open(&scene.directory("to")).unwrap();
    match unpack_folder(&file, "folder/", &mut tree) {
        Ok(()) => None,
        Err(ByteStoreError::Folder { folder, entry, fault }) => {
            assert_eq!(folder, "folder/");
            assert_eq!(scene.tree("to").len(), 0, "{entry}: {fault}");
            Some((entry, fault))
        }
        Err(error) => panic!("{error}"),
    }
}

fn check(cases: impl IntoIterator<Item = (Vec<u8>, Fault)>) {
    for (number, (archive, wanted)) in cases.into_iter().enumerate() {
        let found = unpack(&archive).map(|(_, fault)| fault);
        assert_eq!(found, Some(wanted), "number {number}, {wanted:?}");
    }
}

#[test]
fn the_tools_of_these_tests_make_archives() {
    assert_eq!(unpack(&ended(&[])), None);
    assert_eq!(unpack(&ended(&[edited(|_| {}), directory("b"), link("b/c", "../a")])), None);
    assert_eq!(edited(|_| {}), file("a", b""));
    assert_eq!(linked(b"b"), link("a", "b"));
}

#[test]
fn types_of_other_writers_are_refused() {
    check([
        (ended(&[typed(b'1')]), Fault::HardLink),
        (ended(&[typed(b'3')]), Fault::Device),
        (ended(&[typed(b'4')]), Fault::Device),
        (ended(&[typed(b'6')]), Fault::Device),
        (ended(&[typed(b'S')]), Fault::Sparse),
        (ended(&[typed(b'x')]), Fault::Extension),
        (ended(&[typed(b'g')]), Fault::Extension),
        (ended(&[typed(b'L')]), Fault::Extension),
        (ended(&[typed(b'K')]), Fault::Extension),
        (ended(&[typed(b'V')]), Fault::Extension),
        (ended(&[typed(b'7')]), Fault::UnknownKind),
        (ended(&[typed(b'\0')]), Fault::UnknownKind),
        (ended(&[typed(b'?')]), Fault::UnknownKind),
    ]);
}

#[test]
fn forms_of_other_writers_are_refused() {
    let mut unsealed = edited(|_| {});
    unsealed[0] = b'b';
    check([
        (ended(&[unsealed]), Fault::Checksum),
        (ended(&[edited(|it| fill(&mut it.magic, b"ustar "))]), Fault::NotUstar),
        (ended(&[edited(|it| it.magic = [0; 6])]), Fault::NotUstar),
        (ended(&[edited(|it| it.version = *b" \0")]), Fault::NotUstar),
        (ended(&[edited(|it| fill(&mut it.uid, b"0001750"))]), Fault::Form),
        (ended(&[edited(|it| fill(&mut it.gid, b"0001750"))]), Fault::Form),
        (ended(&[edited(|it| fill(&mut it.mtime, b"14701234567"))]), Fault::Form),
        (ended(&[edited(|it| fill(&mut it.mode, b"0000600"))]), Fault::Form),
        (ended(&[edited(|it| fill(&mut it.mode, b"0004755"))]), Fault::Form),
        (ended(&[edited(|it| fill(&mut it.mode, b"000644 "))]), Fault::Form),
        (ended(&[edited(|it| fill(&mut it.uname, b"root"))]), Fault::Form),
        (ended(&[edited(|it| fill(&mut it.dev_major, b"0000000"))]), Fault::Form),
        (ended(&[edited(|it| it.pad[0] = 1)]), Fault::Form),
        (ended(&[edited(|it| fill(&mut it.linkname, b"b"))]), Fault::Form),
        // A name that fits into its field is not divided.
        (ended(&[directory("a"), edited(|it| fill(&mut it.prefix, b"a"))]), Fault::Form),
        (ended(&[edited(|it| fill(&mut it.size, b"0000000000x"))]), Fault::Number),
        (ended(&[edited(|it| it.size = [0x80; 12])]), Fault::Number),
        (ended(&[edited(|it| fill(&mut it.mode, b"-000001"))]), Fault::Number),
    ]);
}

#[test]
fn names_that_could_lead_elsewhere_are_refused() {
    check([
        (ended(&[named(b"")]), Fault::EmptyName),
        (ended(&[named(b"/etc/passwd")]), Fault::AbsoluteName),
        (ended(&[named(b"..")]), Fault::DotPart),
        (ended(&[named(b"../a")]), Fault::DotPart),
        (ended(&[directory("d"), named(b"d/../../a")]), Fault::DotPart),
        (ended(&[named(b"./a")]), Fault::DotPart),
        (ended(&[named(b".")]), Fault::DotPart),
        (ended(&[named(b"a//b")]), Fault::EmptyPart),
        (ended(&[named(b"a/")]), Fault::EmptyPart),
        (ended(&[named(b"a\nb")]), Fault::Control),
        (ended(&[named(b"a\xc2\x85b")]), Fault::Control),
        (ended(&[named(b"\xff")]), Fault::NameNotUtf8),
        (ended(&[named(b"a\0b")]), Fault::TextField),
        (ended(&[edited(|it| fill(&mut it.prefix, b"/"))]), Fault::AbsoluteName),
        (ended(&[edited(|it| fill(&mut it.prefix, b".."))]), Fault::DotPart),
    ]);
}

#[test]
fn links_that_could_lead_out_are_refused() {
    check([
        (ended(&[linked(b"")]), Fault::EmptyTarget),
        (ended(&[linked(b"/etc/passwd")]), Fault::LinkLeaves),
        (ended(&[linked(b"..")]), Fault::LinkLeaves),
        (ended(&[linked(b"./../a")]), Fault::LinkLeaves),
        (ended(&[linked(b"b/../c")]), Fault::LinkLeaves),
        (ended(&[linked(b"a\nb")]), Fault::Control),
        (ended(&[linked(b"\xff")]), Fault::NameNotUtf8),
        (ended(&[linked(b"a\0b")]), Fault::TextField),
        (ended(&[directory("d"), link("l", "d"), file("l/a", b"")]), Fault::ThroughLink),
        (ended(&[link("l", "."), directory("l/a")]), Fault::ThroughLink),
    ]);
}

#[test]
fn entries_that_contradict_earlier_ones_are_refused() {
    check([
        (ended(&[file("a", b""), file("a", b"")]), Fault::Duplicate),
        (ended(&[file("a", b""), file("b", b""), file("a", b"")]), Fault::Duplicate),
        (ended(&[link("a", "b"), file("a", b"")]), Fault::Duplicate),
        (ended(&[directory("a"), directory("a")]), Fault::Duplicate),
        (ended(&[file("b", b""), file("a", b"")]), Fault::Order),
        (ended(&[directory("a"), file("b", b""), file("a/c", b"")]), Fault::Order),
        (ended(&[file("d/a", b"")]), Fault::NoParent),
        (ended(&[file("d", b""), file("d/a", b"")]), Fault::NoParent),
    ]);
}

#[test]
fn sizes_that_are_not_true_are_refused() {
    let sized = |kind: u8, size: &[u8]| {
        edited(|it| {
            it.typeflag = [kind];
            fill(&mut it.size, size);
        })
    };
    let mut padded = file("a", b"content");
    *padded.last_mut().unwrap() = 1;
    check([
        (ended(&[sized(b'0', b"00000004000")]), Fault::BeyondEnd),
        (ended(&[sized(b'0', b"77777777777")]), Fault::BeyondEnd),
        (sized(b'0', b"00000000001"), Fault::BeyondEnd),
        (ended(&[sized(b'5', b"00000000001")]), Fault::Content),
        (ended(&[sized(b'2', b"00000000001")]), Fault::EmptyTarget),
        (ended(&[padded]), Fault::Padding),
    ]);
    // The content of a larger file would be the end mark.
    let swallowed = unpack(&ended(&[sized(b'0', b"00000002000")]));
    assert_eq!(swallowed, Some(("after a".to_owned(), Fault::Truncated)));
}

#[test]
fn an_end_that_is_not_the_end_is_refused() {
    let zeros = vec![0; 512];
    check([
        (Vec::new(), Fault::Truncated),
        (vec![0; 511], Fault::Truncated),
        (zeros.clone(), Fault::Truncated),
        (file("a", b""), Fault::Truncated),
        (file("a", b"content")[..1023].to_vec(), Fault::BeyondEnd),
        ([file("a", b""), zeros.clone()].concat(), Fault::Truncated),
        ([file("a", b""), zeros.clone(), file("b", b"")].concat(), Fault::LoneZeroBlock),
        ([ended(&[file("a", b"")]), zeros].concat(), Fault::AfterEnd),
        ([ended(&[]), ended(&[file("a", b"")])].concat(), Fault::AfterEnd),
        ([ended(&[]), b"x".to_vec()].concat(), Fault::AfterEnd),
    ]);
    let (entry, _) = unpack(&file("name", b"")).unwrap();
    assert_eq!(entry, "after name");
}

#[test]
fn an_archive_beyond_a_limit_is_refused() {
    let deep: Vec<Vec<u8>> = (1..=65).map(|depth| directory(&vec!["d"; depth].join("/"))).collect();
    assert_eq!(unpack(&ended(&deep[..64])), None);
    let (entry, fault) = unpack(&ended(&deep)).unwrap();
    assert_eq!((entry, fault), (["d"; 65].join("/"), Fault::TooDeep));
    let many: Vec<Vec<u8>> =
        (0..=FOLDER_ENTRIES_MAX).map(|number| file(&format!("{number:06}"), b"")).collect();
    let (entry, fault) = unpack(&ended(&many)).unwrap();
    assert_eq!((entry.as_str(), fault), ("100000", Fault::TooManyEntries));
}

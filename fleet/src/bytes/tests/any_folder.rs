//! Any folder is unpacked as it was packed, and any other archive is refused as a whole.

use std::fs::File;

use proptest::collection::vec;
use proptest::prelude::*;

use super::scene::BytesScene;
use crate::bytes::folder::unpack_folder;
use crate::bytes::new_tree::NewTree;

/// One entry: the indices of the parts of its path, and its content, if it has one.
type AnyEntry = (Vec<usize>, Option<(Vec<u8>, bool)>);

const NAMES: [&str; 7] = ["a", "b", "a.b", "A", "-", "über", "with blank"];

fn any_entry() -> impl Strategy<Value = AnyEntry> {
    let content = (vec(any::<u8>(), 0..1100), any::<bool>());
    (vec(0..NAMES.len(), 1..5), proptest::option::of(content))
}

/// Makes the entries that have a place, and links beside them.
fn build(scene: &BytesScene, entries: &[AnyEntry]) {
    scene.directory("from");
    for (parts, content) in entries {
        let parts: Vec<&str> = parts.iter().map(|at| NAMES[*at]).collect();
        let name = format!("from/{}", parts.join("/"));
        let mut above = (1..parts.len()).map(|end| format!("from/{}", parts[..end].join("/")));
        let is_free = scene.path(&name).symlink_metadata().is_err();
        if !is_free || above.any(|above| scene.path(&above).is_file()) {
            continue;
        }
        match content {
            Some((bytes, true)) => scene.program(&name, bytes),
            Some((bytes, false)) => {
                scene.file(&name, bytes);
            }
            None => {
                scene.directory(&name);
                scene.link(&format!("{name}/link"), &"../".repeat(parts.len()));
            }
        }
    }
}

/// Unpacks an archive to `to/folder/`.
fn unpack(scene: &BytesScene, archive: &[u8]) -> bool {
    scene.file("archive", archive);
    let file = File::open(scene.path("archive")).unwrap();
    let mut tree = NewTree::open(&scene.directory("to")).unwrap();
    unpack_folder(&file, "folder/", &mut tree).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_folder_is_unpacked_as_it_was_packed(entries in vec(any_entry(), 0..12)) {
        let scene = BytesScene::new();
        build(&scene, &entries);
        let archive = scene.archive("from");
        prop_assert!(unpack(&scene, &archive));
        prop_assert_eq!(scene.tree("to/folder"), scene.tree("from"));
        prop_assert_eq!(scene.archive("to/folder"), archive);
    }

    #[test]
    fn a_changed_archive_is_refused_or_is_the_archive_of_another_folder(
        entries in vec(any_entry(), 0..6),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..3),
    ) {
        let scene = BytesScene::new();
        build(&scene, &entries);
        let mut archive = scene.archive("from");
        for (index, byte) in changes {
            let at = index.index(archive.len());
            archive[at] = byte;
        }
        if unpack(&scene, &archive) {
            prop_assert_eq!(scene.archive("to/folder"), archive);
        } else {
            prop_assert_eq!(scene.tree("to").len(), 0);
        }
        // Nothing is written elsewhere.
        let mut top: Vec<_> = std::fs::read_dir(scene.path("")).unwrap()
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        top.sort();
        prop_assert_eq!(top, ["archive", "from", "to"]);
    }

    #[test]
    fn any_bytes_are_refused(bytes in vec(any::<u8>(), 0..2000)) {
        let scene = BytesScene::new();
        prop_assert!(!unpack(&scene, &bytes));
        prop_assert_eq!(scene.tree("to").len(), 0);
    }
}

#[test]
fn an_archive_that_ends_in_the_middle_is_refused() {
    let scene = BytesScene::new();
    scene.file("from/a", b"one");
    scene.file("from/b", b"two");
    let archive = scene.archive("from");
    for length in 0..archive.len() {
        assert!(!unpack(&scene, &archive[..length]), "{length}");
    }
    let mut longer = archive.clone();
    longer.extend_from_slice(&[0; 512]);
    assert!(!unpack(&scene, &longer));
    assert!(unpack(&scene, &archive));
}

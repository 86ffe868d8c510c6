//! A layer that is refused for one entry, and the check that all of these tests share.

use tar::EntryType;

use super::layer_archive::LayerArchive;
use super::scene::{ArchiveScene, LIMITS};
use super::test_image::{AS_IS, TestLayer, write_layout};

/// A trap: its name, its layers, and the reason in the message.
pub(super) type EntryTrap = (&'static str, fn() -> Vec<LayerArchive>, &'static str);

pub(super) fn new() -> LayerArchive {
    LayerArchive::new()
}

/// One layer with one entry of this kind.
pub(super) fn one(kind: EntryType, name: &[u8], target: &[u8]) -> Vec<LayerArchive> {
    vec![new().entry(kind, name, target, b"")]
}

/// An earlier layer with a link out of the tree, and a layer that goes through it.
pub(super) fn behind_link(layer: LayerArchive) -> Vec<LayerArchive> {
    vec![new().symlink("out", "../beside"), layer]
}

/// Unpacks each trap, and expects its reason.
pub(super) fn check(traps: &[EntryTrap]) {
    for (name, layers, reason) in traps {
        let scene = ArchiveScene::new();
        let layers: Vec<_> = layers().into_iter().map(TestLayer::plain).collect();
        write_layout(&scene.image(), &layers, &AS_IS);
        let message = match scene.unpack(&LIMITS) {
            Ok(_) => panic!("{name}: unpacked {:#?}", scene.tree()),
            Err(error) => error.to_string(),
        };
        assert!(message.contains(reason), "{name}: {message}");
        assert!(message.contains("; help: "), "{name}: {message}");
        assert!(!message.contains(char::is_control), "{name}: {message:?}");
    }
}

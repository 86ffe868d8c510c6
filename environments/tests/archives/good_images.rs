//! Images that unpack: what the tree then holds, and the facts of the image.

use std::os::unix::fs::MetadataExt;

use environments::unpack_oci_layout;
use serde_json::json;
use tar::EntryType;

use super::layer_archive::LayerArchive;
use super::scene::{ArchiveScene, LIMITS};
use super::test_image::{
    AS_IS, INDEX_TYPE, ImageEdits, TestLayer, architecture, digest, gzip, other_architecture,
    write_blob, write_layout,
};

fn new() -> LayerArchive {
    LayerArchive::new()
}

/// Unpacks these layers and returns the tree.
fn unpacked(layers: Vec<LayerArchive>) -> Vec<String> {
    let scene = ArchiveScene::new();
    let layers: Vec<_> = layers.into_iter().map(TestLayer::plain).collect();
    write_layout(&scene.image(), &layers, &AS_IS);
    scene.unpack(&LIMITS).unwrap();
    scene.tree()
}

#[test]
fn an_image_without_layers_is_an_empty_tree() {
    assert!(unpacked(Vec::new()).is_empty());
    assert!(unpacked(vec![new().directory("./")]).is_empty());
}

#[test]
fn the_facts_are_those_of_the_documents() {
    let scene = ArchiveScene::new();
    write_layout(&scene.image(), &[TestLayer::gzip(new().file("a", b"x"))], &AS_IS);
    let mut seen = Vec::new();
    let mut progress = |bytes| seen.push(bytes);
    let facts =
        unpack_oci_layout(&scene.image(), &scene.unpacked(), &LIMITS, &mut progress).unwrap();
    assert_eq!(facts.path, ["/usr/local/bin", "/usr/bin"]);
    assert_eq!(facts.env, [("LANG".to_owned(), "C.UTF-8".to_owned())]);
    let index = std::fs::read(scene.image().join("index.json")).unwrap();
    let index: serde_json::Value = serde_json::from_slice(&index).unwrap();
    let declared = index["manifests"][0]["digest"].as_str().unwrap();
    assert_eq!(format!("sha256:{}", facts.manifest_sha256), declared);
    assert!(!seen.is_empty() && seen.is_sorted(), "{seen:?}");
    assert_eq!(scene.tree(), ["f a \"x\""]);
}

#[test]
fn a_later_layer_hides_and_replaces() {
    let first = new()
        .directory("etc/")
        .file("etc/kept", b"1")
        .file("etc/hidden", b"1")
        .file("etc/replaced", b"1")
        .file("opaque/old", b"1")
        .file("opaque/below/old", b"1")
        .file("gone/deep/file", b"1")
        .file("was-a-directory/file", b"1")
        .file("was-a-file", b"1")
        .symlink("was-a-link", "etc");
    let second = new()
        .file("etc/.wh.hidden", b"")
        .file("etc/.wh.never-there", b"")
        .file("nowhere/.wh.never-there", b"")
        .file("etc/replaced", b"2")
        .file("opaque/new", b"2")
        .file("opaque/.wh..wh..opq", b"")
        .file("opaque/below/new", b"2")
        .file(".wh.gone", b"")
        .file("was-a-directory", b"2");
    let third = new()
        .directory("was-a-file")
        .file("was-a-file/file", b"2")
        .directory("was-a-link/")
        .file("was-a-link/file", b"2");
    let tree = unpacked(vec![first, second, third]);
    assert_eq!(
        tree,
        [
            "d etc",
            "f etc/kept \"1\"",
            "f etc/replaced \"2\"",
            "d opaque",
            "d opaque/below",
            "f opaque/below/new \"2\"",
            "f opaque/new \"2\"",
            "f was-a-directory \"2\"",
            "d was-a-file",
            "f was-a-file/file \"2\"",
            "d was-a-link",
            "f was-a-link/file \"2\"",
        ]
    );
}

#[test]
fn a_whiteout_hides_nothing_of_its_own_layer() {
    let tree = unpacked(vec![
        new().file("a/old", b"1").file("b", b"1"),
        new()
            .file("a/new", b"2")
            .file(".wh.a", b"")
            .file("b", b"2")
            .file(".wh.b", b"")
            .file(".wh..wh..opq", b""),
    ]);
    assert_eq!(tree, ["d a", "f a/new \"2\"", "f b \"2\""]);
}

#[test]
fn hard_links_inside_are_one_file() {
    let scene = ArchiveScene::new();
    let layers = [
        new().file("bin/one", b"x").hard_link("two", "./bin/one"),
        new().hard_link("three", "two").file("bin/one", b"y"),
    ];
    write_layout(&scene.image(), &layers.map(TestLayer::gzip), &AS_IS);
    scene.unpack(&LIMITS).unwrap();
    let tree = ["d bin", "f bin/one \"y\"", "f three \"x\"", "f two \"x\""];
    assert_eq!(scene.tree(), tree);
    let inode = |name: &str| scene.unpacked().join(name).metadata().unwrap().ino();
    assert_eq!(inode("two"), inode("three"));
    assert_ne!(inode("two"), inode("bin/one"));
}

#[test]
fn only_the_execute_bit_of_a_mode_counts() {
    let scene = ArchiveScene::new();
    let layer = new()
        .file_with_mode("plain", 0o600)
        .file_with_mode("program", 0o100)
        .file_with_mode("user", 0o4755)
        .file_with_mode("group", 0o2644)
        .file_with_mode("unreadable", 0);
    write_layout(&scene.image(), &[TestLayer::plain(layer)], &AS_IS);
    scene.unpack(&LIMITS).unwrap();
    for (name, special) in
        [("plain", 'f'), ("program", 'x'), ("user", 'x'), ("group", 'f'), ("unreadable", 'f')]
    {
        let mode = scene.unpacked().join(name).metadata().unwrap().mode();
        assert_eq!(mode & 0o7000, 0, "{name}: {mode:o}");
        assert_eq!(mode & 0o100 != 0, special == 'x', "{name}: {mode:o}");
    }
}

#[test]
fn links_are_kept_as_they_are() {
    let tree = unpacked(vec![
        new().symlink("bin", "usr/bin").symlink("absolute", "/etc/passwd").symlink("up", "../.."),
        new().pax(&[("linkpath", &b"x".repeat(300))]).symlink("up", "short"),
    ]);
    let long = format!("l up -> {}", "x".repeat(300));
    assert_eq!(tree, ["l absolute -> /etc/passwd", "l bin -> usr/bin", long.as_str()]);
}

#[test]
fn devices_of_base_images_are_left_out() {
    let tree = unpacked(vec![
        new()
            .directory("dev/")
            .entry(EntryType::Char, b"dev/null", b"", b"")
            .entry(EntryType::Block, b"./dev/disk", b"", b"")
            .entry(EntryType::Fifo, b"dev/initctl", b"", b"")
            .file("dev/file", b"x"),
    ]);
    assert_eq!(tree, ["d dev", "f dev/file \"x\""]);
}

#[test]
fn long_names_and_extended_attributes_are_read() {
    let (gnu, pax) = ("g".repeat(120), "p/".repeat(5) + &"é".repeat(80));
    let attributes: &[(&str, &[u8])] = &[
        ("path", pax.as_bytes()),
        ("size", b"1"),
        ("mtime", b"1700000000.5"),
        ("SCHILY.xattr.security.capability", b"\x01\0\0\x02\n\0\n="),
    ];
    let tree = unpacked(vec![
        new()
            .global(&[("comment", b"of a commit")])
            .long_name(&gnu)
            .file("short", b"x")
            .pax(attributes)
            .file("short", b"y"),
    ]);
    assert_eq!(tree[0], format!("f {gnu} \"x\""));
    assert_eq!(tree[6], format!("f {pax} \"y\""));
    assert_eq!(tree.len(), 7);
}

#[test]
fn a_layer_of_several_gzip_members_is_read() {
    let scene = ArchiveScene::new();
    let whole = new().file("a", &[b'x'; 1500]).finish();
    let packed = [gzip(&whole[..700]), gzip(&whole[700..])];
    let layer = TestLayer::packed(packed.concat(), digest(&whole));
    write_layout(&scene.image(), &[layer], &AS_IS);
    scene.unpack(&LIMITS).unwrap();
    assert_eq!(scene.tree(), [format!("f a {:?}", "x".repeat(1500))]);
}

#[test]
fn the_image_of_this_machine_is_chosen() {
    let scene = ArchiveScene::new();
    let edits = ImageEdits {
        index: |index| {
            let mut fitting = index["manifests"][0].clone();
            let mut other = fitting.clone();
            fitting["platform"] = json!({ "os": "linux", "architecture": architecture() });
            other["platform"] = json!({ "os": "linux", "architecture": other_architecture() });
            // Builders add their statements as images of no platform.
            let mut statement = other.clone();
            statement["platform"] = json!({ "os": "unknown", "architecture": "unknown" });
            index["manifests"] = json!([other, fitting, statement]);
        },
        ..AS_IS
    };
    write_layout(&scene.image(), &[TestLayer::plain(new().file("a", b"x"))], &edits);
    scene.unpack(&LIMITS).unwrap();
    assert_eq!(scene.tree(), ["f a \"x\""]);
    // The same index as a blob, which `index.json` names.
    let inner = std::fs::read(scene.image().join("index.json")).unwrap();
    let outer = json!({
        "schemaVersion": 2,
        "manifests": [write_blob(&scene.image(), INDEX_TYPE, &inner)],
    });
    std::fs::write(scene.image().join("index.json"), outer.to_string()).unwrap();
    scene.unpack(&LIMITS).unwrap();
    assert_eq!(scene.tree(), ["f a \"x\""]);
}

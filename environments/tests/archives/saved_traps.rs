//! Archives of `docker save`: what unpacks, and what is refused as a whole.

use model::Sha256;
use serde_json::json;

use super::layer_archive::LayerArchive;
use super::saved_image::SavedArchive;
use super::scene::ArchiveScene;
use super::test_image::{TestLayer, digest, gzip};

fn layers() -> [TestLayer; 2] {
    let first = LayerArchive::new().file("etc/hidden", b"1").file("bin/tool", b"1");
    let second = LayerArchive::new().file("etc/.wh.hidden", b"").file("bin/tool", b"2");
    [TestLayer::plain(first), TestLayer::gzip(second)]
}

fn saved() -> SavedArchive {
    SavedArchive::of(&layers())
}

fn refused(name: &str, archive: &[u8], reason: &str) {
    let scene = ArchiveScene::new();
    let message = scene.unpack_saved(archive).unwrap_err().to_string();
    assert!(message.contains(reason), "{name}: {message}");
    assert!(message.contains("; help: "), "{name}: {message}");
    assert!(scene.tree().is_empty(), "{name}: unpacked {:?}", scene.tree());
}

#[test]
fn a_saved_image_unpacks() {
    for archive in [saved(), saved().with_blob_names()] {
        let scene = ArchiveScene::new();
        let manifest = archive.manifest.to_string();
        let facts = scene.unpack_saved(&archive.finish()).unwrap();
        assert_eq!(scene.tree(), ["d bin", "f bin/tool \"2\"", "d etc"]);
        assert_eq!(facts.path, ["/usr/local/bin", "/usr/bin"]);
        assert_eq!(facts.manifest_sha256, Sha256::of(manifest.as_bytes()));
    }
}

#[test]
fn archives_without_one_image_are_refused() {
    let mut none = saved();
    none.manifest = json!([]);
    refused("no image", &none.finish(), "the archive has no image");
    let mut two = saved();
    two.manifest = json!([two.manifest[0], two.manifest[0]]);
    refused("two images", &two.finish(), "the archive has several images");
    let reason = "the archive does not have this file";
    refused("no manifest", &saved().without_manifest().finish(), reason);
    let mut absent = saved();
    absent.manifest[0]["Layers"][0] = json!("2/layer.tar");
    refused("no layer", &absent.finish(), reason);
    let twice = saved().without_manifest().file("./0/layer.tar", b"x");
    refused("two files", &twice.finish(), "two files of this name");
    refused("compressed", &gzip(&saved().finish()), "the archive is compressed");
    let zstd = [&[0x28, 0xb5, 0x2f, 0xfd][..], &[0; 2048]].concat();
    refused("compressed with zstd", &zstd, "neither plain nor gzip");
}

#[test]
fn files_that_differ_from_their_digests_are_refused() {
    let mut config = saved();
    config.content(".json").push(b' ');
    refused("configuration", &config.finish(), "but the image declares");
    let mut named = saved();
    let moved = named.manifest[0]["Config"].as_str().unwrap().to_owned();
    named.manifest[0]["Config"] = json!("config.json");
    named.files.iter_mut().find(|(name, _)| *name == moved).unwrap().0 = "config.json".to_owned();
    refused("name of the configuration", &named.finish(), "not named by its SHA-256");
    let scene = ArchiveScene::new();
    let mut layer = saved();
    layer.content("0/layer.tar")[600] ^= 1;
    let message = scene.unpack_saved(&layer.finish()).unwrap_err().to_string();
    assert!(message.starts_with("layer 1 of 2, unpacked: has SHA-256 "), "{message}");
}

#[test]
fn hostile_archives_are_refused() {
    let reason = "the name contains `..`";
    let parent = saved().without_manifest().file("../beside/new", b"x");
    refused("parent", &parent.finish(), reason);
    let absolute = saved().without_manifest().file("/etc/passwd", b"x");
    refused("absolute", &absolute.finish(), "the name is absolute");
    let whole = saved().finish();
    // The last file is the manifest: one block, and two of zeros behind it.
    refused("ends early", &whole[..whole.len() - 1526], "damaged");
    refused("empty", b"", "the archive does not have this file");
    let link = LayerArchive::new().symlink("manifest.json", "../beside/secret");
    refused("manifest as a link", &link.finish(), "the archive does not have this file");
    let trap = TestLayer::plain(LayerArchive::new().file("../beside/new", b"x"));
    refused("name in a layer", &SavedArchive::of(&[trap]).finish(), reason);
    let mut other = TestLayer::plain(LayerArchive::new());
    other.diff_id = digest(b"other");
    refused("digest of a layer", &SavedArchive::of(&[other]).finish(), "unpacked: has SHA-256");
}

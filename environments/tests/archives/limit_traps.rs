//! Layers that are too large, or that end too early: refused while they are read.

use environments::UnpackLimits;
use tar::EntryType;

use super::layer_archive::{LayerArchive, header};
use super::scene::{ArchiveScene, LIMITS};
use super::test_image::{AS_IS, TestLayer, digest, gzip, write_layout};

const KIB: usize = 1024;

fn new() -> LayerArchive {
    LayerArchive::new()
}

fn refused(name: &str, layer: TestLayer, limits: &UnpackLimits, reason: &str) {
    let scene = ArchiveScene::new();
    write_layout(&scene.image(), &[layer], &AS_IS);
    let message = scene.unpack(limits).unwrap_err().to_string();
    assert!(message.contains(reason), "{name}: {message}");
    assert!(message.contains("; help: "), "{name}: {message}");
}

fn numbered(count: u32, name: fn(u32) -> String) -> LayerArchive {
    (0..count).fold(new(), |layer, number| layer.file(&name(number), b""))
}

#[test]
fn too_many_entries_are_refused() {
    let limits = UnpackLimits { entries_max: 10, ..LIMITS };
    let reason = "the image: more than 10 entries";
    let flat = numbered(11, |number| format!("file{number}"));
    refused("files", TestLayer::plain(flat), &limits, reason);
    let hidden = numbered(11, |number| format!(".wh.file{number}"));
    refused("whiteouts", TestLayer::plain(hidden), &limits, reason);
    let deep = numbered(6, |number| format!("directory{number}/file"));
    refused("directories without entries", TestLayer::plain(deep), &limits, reason);
    let headers = (0..11).fold(new(), |layer, _| layer.global(&[("comment", b"x")]));
    refused("headers for all entries", TestLayer::plain(headers), &limits, reason);
}

#[test]
fn too_many_bytes_are_refused() {
    let limits = UnpackLimits { bytes_max: 64 * 1024, ..LIMITS };
    let reason = "the image: more than 65536 bytes when unpacked";
    let large = new().file("large", &vec![b'x'; 100 * KIB]);
    refused("one file", TestLayer::plain(large.clone()), &limits, reason);
    refused("one packed file", TestLayer::gzip(large), &limits, reason);
    let mut behind = new().file("small", b"x").finish();
    behind.resize(100 * KIB, 0);
    refused("bytes behind the end", TestLayer::of(behind), &limits, reason);
    let first = new().file("file", &vec![b'x'; 30 * KIB]);
    let linked = (0..9).fold(first, |layer, number| layer.hard_link(&format!("l{number}"), "file"));
    refused("hard links", TestLayer::plain(linked), &limits, reason);
}

#[test]
fn layers_together_are_refused() {
    let limits = UnpackLimits { bytes_max: 64 * 1024, ..LIMITS };
    let scene = ArchiveScene::new();
    let layer = TestLayer::plain(new().file("file", &vec![b'x'; 30 * KIB]));
    write_layout(&scene.image(), &[layer.clone(), layer.clone(), layer], &AS_IS);
    let message = scene.unpack(&limits).unwrap_err().to_string();
    assert!(message.contains("more than 65536 bytes when unpacked"), "{message}");
}

#[test]
fn a_decompression_bomb_is_refused() {
    let size = 72 * 1024 * 1024;
    let first = new().raw(header(EntryType::Regular, b"bomb", b"", size), b"").unfinished();
    // Each member holds 1 MiB of zeros in about 1 KiB.
    let mut packed = gzip(&first);
    let member = gzip(&vec![0; KIB * KIB]);
    for _ in 0..72 {
        packed.extend_from_slice(&member);
    }
    let reason = "the image: more than 100 unpacked bytes for each packed byte";
    refused("bomb", TestLayer::packed(packed, digest(b"")), &LIMITS, reason);
}

#[test]
fn long_and_deep_paths_are_refused() {
    let of = |path: &str| {
        TestLayer::plain(new().pax(&[("path", path.as_bytes())]).file("harmless", b""))
    };
    refused(
        "long",
        of(&format!("{}file", "abcdef/".repeat(86))),
        &LIMITS,
        "more than 600 bytes in one path",
    );
    let deep = format!("{}file", "a/".repeat(16));
    refused("deep", of(&deep), &LIMITS, "more than 16 directories in one path");
}

#[test]
fn damaged_layers_are_refused() {
    let file = new().file("file", &[b'x'; 2000]);
    let whole = file.clone().finish();
    let packed = gzip(&whole);
    let mut changed = whole.clone();
    changed[0] ^= 1;
    let mut wrong_sum = packed.clone();
    let sum = packed.len() - 8;
    wrong_sum[sum] ^= 1;
    let sized = |size| new().raw(header(EntryType::Regular, b"file", b"", size), b"").finish();
    let plain = TestLayer::of;
    let gz = |bytes: &[u8]| TestLayer::packed(bytes.to_vec(), digest(&whole));
    let cases = [
        ("ends in a file", plain(whole[..1024].to_vec()), "it ends in `file`"),
        ("ends in a header", plain(whole[..100].to_vec()), "damaged"),
        ("checksum of a header", plain(changed), "damaged"),
        ("size beyond the end", plain(sized(1 << 60)), "it ends in `file`"),
        ("greatest size", plain(sized(u64::MAX)), "damaged"),
        ("no archive", plain(vec![b'x'; 4096]), "damaged"),
        ("gzip that ends early", gz(&packed[..packed.len() - 4]), "damaged"),
        ("gzip with a wrong checksum", gz(&wrong_sum), "damaged"),
        ("plain bytes as gzip", gz(&whole), "damaged"),
        ("gzip as plain bytes", plain(packed), "damaged"),
    ];
    for (name, layer, reason) in cases {
        refused(name, layer, &LIMITS, reason);
    }
}

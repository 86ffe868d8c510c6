//! OCI layouts that are refused as a whole.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use super::layer_archive::LayerArchive;
use super::scene::{ArchiveScene, LIMITS};
use super::test_image::{
    AS_IS, ImageEdits, MANIFEST_TYPE, TestLayer, digest, other_architecture, write_layout,
};

fn layer() -> TestLayer {
    TestLayer::plain(LayerArchive::new().file("file", b"content"))
}

fn blob_of(layer: &TestLayer) -> String {
    format!("blobs/sha256/{}", layer.diff_id.trim_start_matches("sha256:"))
}

fn message(scene: &ArchiveScene) -> String {
    let message = scene.unpack(&LIMITS).unwrap_err().to_string();
    assert!(message.contains("; help: "), "{message}");
    message
}

fn refused_edit(name: &str, edits: &ImageEdits, reason: &str) {
    let scene = ArchiveScene::new();
    write_layout(&scene.image(), &[layer()], edits);
    let message = message(&scene);
    assert!(message.contains(reason), "{name}: {message}");
    assert!(scene.tree().is_empty(), "{name}: unpacked {:?}", scene.tree());
}

fn refused_files(name: &str, change: fn(&Path, &str), reason: &str) {
    let scene = ArchiveScene::new();
    write_layout(&scene.image(), &[layer()], &AS_IS);
    change(&scene.image(), &blob_of(&layer()));
    let message = message(&scene);
    assert!(message.contains(reason), "{name}: {message}");
    assert!(scene.tree().is_empty(), "{name}: unpacked {:?}", scene.tree());
}

#[test]
fn blobs_that_differ_from_their_description_are_refused() {
    let change = |image: &Path, blob: &str| {
        let mut bytes = fs::read(image.join(blob)).unwrap();
        bytes[600] ^= 1;
        fs::write(image.join(blob), bytes).unwrap();
    };
    refused_files("one bit of a layer", change, "but the image declares");
    let longer = |image: &Path, blob: &str| {
        let mut bytes = fs::read(image.join(blob)).unwrap();
        bytes.push(0);
        fs::write(image.join(blob), bytes).unwrap();
    };
    refused_files("one byte more", longer, "the size differs");
    let absent = |image: &Path, blob: &str| fs::remove_file(image.join(blob)).unwrap();
    refused_files("no layer", absent, "the archive does not have this file");
    let link = |image: &Path, blob: &str| {
        fs::rename(image.join(blob), image.join("moved")).unwrap();
        symlink(image.join("moved"), image.join(blob)).unwrap();
    };
    refused_files("link", link, "not a regular file");
    let directory = |image: &Path, blob: &str| {
        fs::remove_file(image.join(blob)).unwrap();
        fs::create_dir(image.join(blob)).unwrap();
    };
    refused_files("directory", directory, "not a regular file");
    let blobs = |image: &Path, _: &str| {
        fs::rename(image.join("blobs"), image.join("moved")).unwrap();
        symlink("moved", image.join("blobs")).unwrap();
    };
    refused_files("blobs behind a link", blobs, "not a regular file");
}

#[test]
fn digests_that_are_no_plain_sha256_are_refused() {
    let set = |edit: fn(&mut Value)| ImageEdits { manifest: edit, ..AS_IS };
    let reason = "the digest is not `sha256:`";
    let path = set(|manifest| manifest["layers"][0]["digest"] = json!("sha256:../../secret"));
    refused_edit("path", &path, reason);
    let other = set(|manifest| manifest["layers"][0]["digest"] = json!("sha512:00"));
    refused_edit("other algorithm", &other, reason);
    let upper = set(|manifest| {
        let text = manifest["config"]["digest"].as_str().unwrap().replace("sha256:", "");
        manifest["config"]["digest"] = json!(format!("sha256:{}", text.to_uppercase()));
    });
    refused_edit("upper case", &upper, reason);
}

#[test]
fn layers_that_differ_from_the_configuration_are_refused() {
    let scene = ArchiveScene::new();
    let mut wrong = layer();
    wrong.diff_id = digest(b"other");
    write_layout(&scene.image(), &[wrong], &AS_IS);
    let message = message(&scene);
    assert!(message.starts_with("layer 1 of 1, unpacked: has SHA-256 "), "{message}");
    let set = |config: fn(&mut Value)| ImageEdits { config, ..AS_IS };
    let more = set(|config| config["rootfs"]["diff_ids"] = json!([digest(b""), digest(b"")]));
    refused_edit("more digests than layers", &more, "differ in number");
    let none = set(|config| config["rootfs"]["diff_ids"] = json!([]));
    refused_edit("no digests", &none, "differ in number");
    let kind = set(|config| config["rootfs"]["type"] = json!("files"));
    refused_edit("other root", &kind, "an unknown type or version");
    let variable = set(|config| config["config"]["Env"] = json!(["NOVALUE"]));
    refused_edit("variable", &variable, "not `NAME=VALUE`");
}

#[test]
fn layers_of_other_types_are_refused() {
    let types = [
        "application/vnd.oci.image.layer.v1.tar+zstd",
        "application/vnd.oci.image.layer.nondistributable.v1.tar",
        "application/vnd.oci.image.layer.v1.tar+gzip+encrypted",
        "text/plain\u{1b}[2J",
    ];
    for media_type in types {
        let scene = ArchiveScene::new();
        let mut other = layer();
        other.media_type = media_type.to_owned();
        write_layout(&scene.image(), &[other], &AS_IS);
        let message = message(&scene);
        assert!(message.contains("neither plain nor gzip"), "{message}");
        assert!(message.contains("--dest-compress-format gzip"), "{message}");
        assert!(!message.contains(char::is_control), "{message:?}");
    }
}

#[test]
fn images_for_other_machines_are_refused() {
    let other = ImageEdits {
        config: |config| config["architecture"] = json!(other_architecture()),
        ..AS_IS
    };
    refused_edit("other machine", &other, "not for Linux on this kind of machine");
    let system = ImageEdits { config: |config| config["os"] = json!("windows"), ..AS_IS };
    refused_edit("other system", &system, "not for Linux on this kind of machine");
    let several = ImageEdits {
        index: |index| {
            let platform = json!({ "os": "linux", "architecture": other_architecture() });
            index["manifests"][0]["platform"] = platform;
            index["manifests"] = json!([index["manifests"][0], index["manifests"][0]]);
        },
        ..AS_IS
    };
    refused_edit("index of others", &several, "not for Linux on this kind of machine");
}

#[test]
fn indexes_without_one_image_are_refused() {
    let set = |index: fn(&mut Value)| ImageEdits { index, ..AS_IS };
    let none = set(|index| index["manifests"] = json!([]));
    refused_edit("no image", &none, "the archive has no image");
    let two =
        set(|index| index["manifests"] = json!([index["manifests"][0], index["manifests"][0]]));
    refused_edit("two images", &two, "the archive has several images");
    let version = set(|index| index["schemaVersion"] = json!(1));
    refused_edit("version of the index", &version, "an unknown type or version");
    let kind = set(|index| index["manifests"][0]["mediaType"] = json!("text/plain"));
    refused_edit("type of the manifest", &kind, "an unknown type or version");
    let size = set(|index| index["manifests"][0]["size"] = json!(1));
    refused_edit("size of the manifest", &size, "the size differs");
    let manifest = ImageEdits {
        manifest: |manifest| manifest["config"]["mediaType"] = json!(MANIFEST_TYPE),
        ..AS_IS
    };
    refused_edit("type of the configuration", &manifest, "an unknown type or version");
}

#[test]
fn documents_that_cannot_be_read_are_refused() {
    refused_files(
        "not JSON",
        |image, _| fs::write(image.join("index.json"), "{").unwrap(),
        "invalid JSON",
    );
    refused_files(
        "key that occurs twice",
        |image, _| {
            let twice = r#"{"schemaVersion":2,"schemaVersion":2,"manifests":[]}"#;
            fs::write(image.join("index.json"), twice).unwrap();
        },
        "invalid JSON",
    );
    refused_files(
        "deep nesting",
        |image, _| fs::write(image.join("index.json"), "[".repeat(100_000)).unwrap(),
        "invalid JSON",
    );
    refused_files(
        "large document",
        |image, _| fs::write(image.join("index.json"), " ".repeat(5 * 1024 * 1024)).unwrap(),
        "larger than 4 MiB",
    );
    refused_files(
        "no layout",
        |image, _| fs::remove_file(image.join("oci-layout")).unwrap(),
        "not an OCI image layout",
    );
    refused_files(
        "other version of the layout",
        |image, _| {
            fs::write(image.join("oci-layout"), r#"{"imageLayoutVersion":"2.0.0"}"#).unwrap();
        },
        "not an OCI image layout",
    );
    refused_files(
        "no index",
        |image, _| fs::remove_file(image.join("index.json")).unwrap(),
        "the archive does not have this file",
    );
}

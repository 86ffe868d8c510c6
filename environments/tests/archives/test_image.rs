//! Writes an OCI layout whose documents a test can make wrong.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use model::Sha256;
use serde_json::{Value, json};

use super::layer_archive::LayerArchive;

pub(super) const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
pub(super) const INDEX_TYPE: &str = "application/vnd.oci.image.index.v1+json";
const PLAIN_TYPE: &str = "application/vnd.oci.image.layer.v1.tar";
const GZIP_TYPE: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// One layer, packed.
#[derive(Clone)]
pub(super) struct TestLayer {
    pub(super) packed: Vec<u8>,
    pub(super) media_type: String,
    pub(super) diff_id: String,
}

impl TestLayer {
    pub(super) fn plain(archive: LayerArchive) -> Self {
        Self::of(archive.finish())
    }

    /// A layer of these bytes, which need not be an archive.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        let diff_id = digest(&bytes);
        Self { packed: bytes, media_type: PLAIN_TYPE.to_owned(), diff_id }
    }

    pub(super) fn gzip(archive: LayerArchive) -> Self {
        let bytes = archive.finish();
        Self::packed(gzip(&bytes), digest(&bytes))
    }

    /// A layer that is packed already.
    pub(super) fn packed(packed: Vec<u8>, diff_id: String) -> Self {
        Self { packed, media_type: GZIP_TYPE.to_owned(), diff_id }
    }
}

/// Changes of documents before they are written.
pub(super) struct ImageEdits {
    pub(super) config: fn(&mut Value),
    pub(super) manifest: fn(&mut Value),
    pub(super) index: fn(&mut Value),
}

/// No change at all.
pub(super) const AS_IS: ImageEdits = ImageEdits { config: |_| {}, manifest: |_| {}, index: |_| {} };

/// Writes the layout of an image into an existing directory with `blobs/sha256`.
pub(super) fn write_layout(layout: &Path, layers: &[TestLayer], edits: &ImageEdits) {
    fs::write(layout.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).unwrap();
    let mut config = config_of(layers);
    (edits.config)(&mut config);
    let blobs: Vec<Value> =
        layers.iter().map(|layer| write_blob(layout, &layer.media_type, &layer.packed)).collect();
    let mut manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "config": write_blob(
            layout,
            "application/vnd.oci.image.config.v1+json",
            config.to_string().as_bytes(),
        ),
        "layers": blobs,
    });
    (edits.manifest)(&mut manifest);
    let manifest = write_blob(layout, MANIFEST_TYPE, manifest.to_string().as_bytes());
    let mut index = json!({ "schemaVersion": 2, "manifests": [manifest] });
    (edits.index)(&mut index);
    fs::write(layout.join("index.json"), index.to_string()).unwrap();
}

/// Returns the configuration of an image for this machine.
pub(super) fn config_of(layers: &[TestLayer]) -> Value {
    let diff_ids: Vec<&str> = layers.iter().map(|layer| layer.diff_id.as_str()).collect();
    json!({
        "architecture": architecture(),
        "os": "linux",
        "config": { "Env": ["PATH=/usr/local/bin::/usr/bin", "LANG=C.UTF-8"] },
        "rootfs": { "type": "layers", "diff_ids": diff_ids },
    })
}

/// Writes a blob and returns its descriptor.
pub(super) fn write_blob(layout: &Path, media_type: &str, bytes: &[u8]) -> Value {
    let sha256 = Sha256::of(bytes);
    fs::write(layout.join(format!("blobs/sha256/{sha256}")), bytes).unwrap();
    json!({ "mediaType": media_type, "digest": format!("sha256:{sha256}"), "size": bytes.len() })
}

pub(super) fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", Sha256::of(bytes))
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The architecture of this machine in the words of images.
pub(super) fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// An architecture of other machines.
pub(super) fn other_architecture() -> &'static str {
    if architecture() == "s390x" { "amd64" } else { "s390x" }
}

//! The JSON documents of images, as far as an unpacking needs them. Unknown keys are allowed, as
//! the format says; a key that occurs twice is refused.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::UnpackError;

/// No document of an image may be larger.
pub(super) const DOCUMENT_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The file `oci-layout`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LayoutMarker {
    pub(super) image_layout_version: String,
}

/// An index: `index.json`, or a blob that it names.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ImageIndex {
    pub(super) schema_version: u64,
    pub(super) manifests: Vec<BlobDescriptor>,
}

/// A manifest: the configuration and layers of one image.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ImageManifest {
    pub(super) schema_version: u64,
    pub(super) config: BlobDescriptor,
    pub(super) layers: Vec<BlobDescriptor>,
}

/// The type, digest and size of a blob.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BlobDescriptor {
    pub(super) media_type: String,
    pub(super) digest: String,
    pub(super) size: u64,
    pub(super) platform: Option<ImagePlatform>,
}

/// The system and machine of an image.
#[derive(Clone, Deserialize)]
pub(super) struct ImagePlatform {
    pub(super) architecture: String,
    pub(super) os: String,
}

/// The configuration of an image.
#[derive(Deserialize)]
pub(super) struct ImageConfig {
    pub(super) architecture: String,
    pub(super) os: String,
    pub(super) rootfs: LayerDigests,
    pub(super) config: Option<ImageProcess>,
}

/// The digests of the unpacked layers, from the lowest.
#[derive(Deserialize)]
pub(super) struct LayerDigests {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) diff_ids: Vec<String>,
}

/// The process that a container would start.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct ImageProcess {
    pub(super) env: Option<Vec<String>>,
}

/// One image in the `manifest.json` of `docker save`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct SavedImage {
    pub(super) config: String,
    pub(super) layers: Vec<String>,
}

/// Parses a document. `object` is its name in messages.
pub(super) fn parse<T: DeserializeOwned>(object: &str, bytes: &[u8]) -> Result<T, UnpackError> {
    serde_json::from_slice(bytes).map_err(|error| UnpackError::Json {
        object: object.to_owned(),
        detail: model::escape_line(&error.to_string()),
    })
}

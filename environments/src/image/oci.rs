//! Unpacks an OCI image layout.

use std::path::Path;

use model::{Sha256, quote};

use super::config::check_config;
use super::digests::parse_digest;
use super::documents::{BlobDescriptor, ImageIndex, ImageManifest, parse};
use super::facts::ImageFacts;
use super::layout::ImageLayout;
use super::platform::choose;
use crate::error::UnpackError;
use crate::fault::ImageFault;
use crate::unpack::{
    LayerPacking, PackedLayer, UnpackLimits, UnpackMeter, UnpackedTree, unpack_layer,
};

const INDEX_TYPES: [&str; 2] = [
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
];
const MANIFEST_TYPES: [&str; 2] = [
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
];
const CONFIG_TYPES: [&str; 2] =
    ["application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json"];
const PLAIN_TYPES: [&str; 2] =
    ["application/vnd.oci.image.layer.v1.tar", "application/vnd.docker.image.rootfs.diff.tar"];
const GZIP_TYPES: [&str; 2] = [
    "application/vnd.oci.image.layer.v1.tar+gzip",
    "application/vnd.docker.image.rootfs.diff.tar.gzip",
];

/// Unpacks the image of a layout into an existing empty directory, and returns its facts. Calls
/// `progress` with the bytes that were unpacked so far.
///
/// # Errors
///
/// Fails if the layout is invalid, a digest differs, an entry is refused, or a limit is exceeded.
/// The directory then holds a part of the image, and the caller removes it.
pub fn unpack_oci_layout(
    layout: &Path,
    into: &Path,
    limits: &UnpackLimits,
    progress: &mut dyn FnMut(u64),
) -> Result<ImageFacts, UnpackError> {
    let layout = ImageLayout::open(layout)?;
    let (manifest, sha256) = read_manifest(&layout)?;
    expect_type("the configuration", &manifest.config, &CONFIG_TYPES)?;
    let document = layout.blob_document(&manifest.config)?;
    let layers = manifest.layers.len();
    let config = check_config("the configuration of the image", &document, sha256, layers)?;
    let meter = UnpackMeter::new(limits);
    let mut tree = UnpackedTree::open(into, &meter)?;
    for ((number, blob), diff_id) in (1..).zip(&manifest.layers).zip(config.diff_ids) {
        let label = layer_label(number, layers);
        let packing = layer_packing(&label, blob)?;
        let source = layout.layer(blob)?;
        unpack_layer(PackedLayer { label, source, packing, diff_id }, &mut tree, &meter, progress)?;
    }
    Ok(config.facts)
}

/// Returns the manifest for this machine and its digest.
fn read_manifest(layout: &ImageLayout) -> Result<(ImageManifest, Sha256), UnpackError> {
    let mut chosen = choose_from("index.json", &layout.document("index.json")?)?;
    // An index may name one further index.
    if INDEX_TYPES.contains(&chosen.media_type.as_str()) {
        chosen = choose_from(&chosen.digest, &layout.blob_document(&chosen)?)?;
    }
    expect_type("the manifest", &chosen, &MANIFEST_TYPES)?;
    let manifest: ImageManifest = parse(&chosen.digest, &layout.blob_document(&chosen)?)?;
    expect_version(&chosen.digest, manifest.schema_version)?;
    Ok((manifest, parse_digest("the image", &chosen.digest)?))
}

fn choose_from(object: &str, document: &[u8]) -> Result<BlobDescriptor, UnpackError> {
    let index: ImageIndex = parse(object, document)?;
    expect_version(object, index.schema_version)?;
    choose(object, &index.manifests)
}

fn expect_version(object: &str, version: u64) -> Result<(), UnpackError> {
    match version {
        2 => Ok(()),
        _ => Err(UnpackError::image(object, ImageFault::DocumentType)),
    }
}

fn expect_type(object: &str, blob: &BlobDescriptor, types: &[&str]) -> Result<(), UnpackError> {
    match types.contains(&blob.media_type.as_str()) {
        true => Ok(()),
        false => {
            let object = format!("{object} of type {}", quote(&blob.media_type));
            Err(UnpackError::image(object, ImageFault::DocumentType))
        }
    }
}

fn layer_packing(label: &str, blob: &BlobDescriptor) -> Result<LayerPacking, UnpackError> {
    match blob.media_type.as_str() {
        plain if PLAIN_TYPES.contains(&plain) => Ok(LayerPacking::Plain),
        gzip if GZIP_TYPES.contains(&gzip) => Ok(LayerPacking::Gzip),
        other => {
            let object = format!("{label} of type {}", quote(other));
            Err(UnpackError::image(object, ImageFault::LayerType))
        }
    }
}

fn layer_label(number: usize, layers: usize) -> String {
    format!("layer {number} of {layers}")
}

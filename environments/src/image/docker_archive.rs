//! Unpacks an archive of `docker save`.

use std::path::Path;

use model::Sha256;

use super::archive_index::ArchiveIndex;
use super::config::check_config;
use super::digests::{check_digest, lower_case_sha256};
use super::documents::{SavedImage, parse};
use super::facts::ImageFacts;
use crate::error::UnpackError;
use crate::fault::ImageFault;
use crate::unpack::{PackedLayer, UnpackLimits, UnpackMeter, UnpackedTree, unpack_layer};

const MANIFEST: &str = "manifest.json";

/// Unpacks the image of an archive into an existing empty directory, and returns its facts. Calls
/// `progress` with the bytes that were unpacked so far.
///
/// # Errors
///
/// Fails if the archive is invalid, a digest differs, an entry is refused, or a limit is exceeded.
/// The directory then holds a part of the image, and the caller removes it.
pub fn unpack_docker_archive(
    archive: &Path,
    into: &Path,
    limits: &UnpackLimits,
    progress: &mut dyn FnMut(u64),
) -> Result<ImageFacts, UnpackError> {
    let meter = UnpackMeter::new(limits);
    let index = ArchiveIndex::read(archive, &meter)?;
    let document = index.file(MANIFEST)?.document(MANIFEST)?;
    let image = only_image(&document)?;
    let layers = image.layers.len();
    let config = read_config(&index, &image.config)?;
    let config = check_config(&image.config, &config, Sha256::of(&document), layers)?;
    let mut tree = UnpackedTree::open(into, &meter)?;
    for ((number, name), diff_id) in (1..).zip(&image.layers).zip(config.diff_ids) {
        let label = format!("layer {number} of {layers}");
        let source = index.file(name)?;
        let packing = source.packing(&label)?;
        unpack_layer(PackedLayer { label, source, packing, diff_id }, &mut tree, &meter, progress)?;
    }
    Ok(config.facts)
}

fn only_image(document: &[u8]) -> Result<SavedImage, UnpackError> {
    let mut images: Vec<SavedImage> = parse(MANIFEST, document)?;
    let refuse = |fault| Err(UnpackError::image(MANIFEST, fault));
    match (images.pop(), images.is_empty()) {
        (Some(image), true) => Ok(image),
        (Some(_), false) => refuse(ImageFault::SeveralImages),
        (None, _) => refuse(ImageFault::NoImage),
    }
}

/// Reads the configuration, which programs name `HEX.json`, `sha256:HEX` or `blobs/sha256/HEX`.
fn read_config(index: &ArchiveIndex, name: &str) -> Result<Vec<u8>, UnpackError> {
    let object = model::quote(name);
    let document = index.file(name)?.document(&object)?;
    let last = name.rsplit_once('/').map_or(name, |(_, last)| last);
    let digits = last.trim_start_matches("sha256:").trim_end_matches(".json");
    let declared = lower_case_sha256(digits);
    let declared = declared.ok_or_else(|| UnpackError::image(&object, ImageFault::ConfigName))?;
    check_digest(&object, declared, Sha256::of(&document))?;
    Ok(document)
}

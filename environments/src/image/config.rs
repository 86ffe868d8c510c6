//! The configuration of an image: the digests of its layers, its `PATH` and its variables.

use model::Sha256;

use super::digests::parse_digest;
use super::documents::{ImageConfig, parse};
use super::facts::ImageFacts;
use super::platform::check_platform;
use crate::error::UnpackError;
use crate::fault::ImageFault;

/// More layers than any builder makes.
const LAYERS_MAX: usize = 256;

/// The checked configuration of an image.
pub(super) struct CheckedImageConfig {
    pub(super) facts: ImageFacts,
    /// The digests of the unpacked layers, from the lowest.
    pub(super) diff_ids: Vec<Sha256>,
}

/// Checks a configuration for an image with this number of layers.
pub(super) fn check_config(
    object: &str,
    document: &[u8],
    manifest_sha256: Sha256,
    layers: usize,
) -> Result<CheckedImageConfig, UnpackError> {
    let config: ImageConfig = parse(object, document)?;
    check_platform(object, &config)?;
    if config.rootfs.kind != "layers" {
        return Err(UnpackError::image(object, ImageFault::DocumentType));
    }
    let texts = &config.rootfs.diff_ids;
    if texts.len() != layers || layers > LAYERS_MAX {
        return Err(UnpackError::image(object, ImageFault::LayerCount));
    }
    let diff_ids = texts.iter().map(|text| parse_digest(object, text)).collect::<Result<_, _>>()?;
    let variables = config.config.and_then(|process| process.env).unwrap_or_default();
    let facts = facts(object, &variables, manifest_sha256)?;
    Ok(CheckedImageConfig { facts, diff_ids })
}

fn facts(
    object: &str,
    variables: &[String],
    manifest_sha256: Sha256,
) -> Result<ImageFacts, UnpackError> {
    let mut facts = ImageFacts { manifest_sha256, path: Vec::new(), env: Vec::new() };
    for variable in variables {
        match variable.split_once('=') {
            Some(("PATH", value)) => {
                let directories = value.split(':').filter(|directory| !directory.is_empty());
                facts.path = directories.map(str::to_owned).collect();
            }
            Some((name, value)) if !name.is_empty() && !variable.contains('\0') => {
                facts.env.push((name.to_owned(), value.to_owned()));
            }
            _ => return Err(UnpackError::image(object, ImageFault::Variable)),
        }
    }
    Ok(facts)
}

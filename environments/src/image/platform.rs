//! The image that fits this machine.

use super::documents::{BlobDescriptor, ImageConfig, ImagePlatform};
use crate::error::UnpackError;
use crate::fault::ImageFault;

/// Chooses the only entry of an index, or the only one for Linux on this machine.
pub(super) fn choose(
    object: &str,
    manifests: &[BlobDescriptor],
) -> Result<BlobDescriptor, UnpackError> {
    let refuse = |fault| Err(UnpackError::image(object, fault));
    match manifests {
        [] => return refuse(ImageFault::NoImage),
        // Its configuration names its platform.
        [only] => return Ok(only.clone()),
        _ => {}
    }
    let mut fitting =
        manifests.iter().filter(|one| one.platform.as_ref().is_some_and(is_for_this_machine));
    match (fitting.next(), fitting.next()) {
        (Some(chosen), None) => Ok(chosen.clone()),
        (Some(_), Some(_)) => refuse(ImageFault::SeveralImages),
        (None, _) if manifests.iter().all(|one| one.platform.is_some()) => {
            refuse(ImageFault::OtherPlatform)
        }
        (None, _) => refuse(ImageFault::SeveralImages),
    }
}

/// Checks that an image runs on this machine.
pub(super) fn check_platform(object: &str, config: &ImageConfig) -> Result<(), UnpackError> {
    match fits(&config.os, &config.architecture) {
        true => Ok(()),
        false => Err(UnpackError::image(object, ImageFault::OtherPlatform)),
    }
}

fn is_for_this_machine(platform: &ImagePlatform) -> bool {
    fits(&platform.os, &platform.architecture)
}

fn fits(os: &str, architecture: &str) -> bool {
    os == "linux" && architecture == this_architecture()
}

/// The architecture in the words of images.
fn this_architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

//! Digests of blobs, as documents write them and as files have them.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use model::{Sha256, Sha256Stream};

use crate::error::UnpackError;
use crate::fault::ImageFault;

const BUFFER_BYTES: usize = 256 * 1024;

/// Reads `sha256:` and 64 lower-case hexadecimal digits.
pub(super) fn parse_digest(object: &str, text: &str) -> Result<Sha256, UnpackError> {
    let parsed = text.strip_prefix("sha256:").and_then(lower_case_sha256);
    parsed.ok_or_else(|| UnpackError::image(object, ImageFault::DigestText))
}

/// Reads 64 lower-case hexadecimal digits.
pub(super) fn lower_case_sha256(text: &str) -> Option<Sha256> {
    text.parse::<Sha256>().ok().filter(|parsed| parsed.to_string() == text)
}

/// Compares bytes with their declared digest.
pub(super) fn check_digest(
    object: &str,
    declared: Sha256,
    found: Sha256,
) -> Result<(), UnpackError> {
    match declared == found {
        true => Ok(()),
        false => Err(UnpackError::Digest { object: object.to_owned(), declared, found }),
    }
}

/// Computes the digest of a whole file.
pub(super) fn digest_file(file: &File) -> io::Result<Sha256> {
    let mut sha256 = Sha256Stream::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut at = 0;
    loop {
        let read = file.read_at(&mut buffer, at)?;
        if read == 0 {
            return Ok(sha256.finish());
        }
        sha256.update(buffer.get(..read).unwrap_or_default());
        at += u64::try_from(read).unwrap_or(u64::MAX);
    }
}

//! OpenSSH's key revocation lists (PROTOCOL.krl). Certificates are never accepted here, so their
//! sections are skipped. A section of any other unknown kind must never be skipped, because it
//! could name a key.

use super::model::{RevokedKeys, RevokedKeysError};
use super::wire::{WireFormatError, WireReader};

pub(super) const MAGIC: &[u8] = b"SSHKRL\n\0";
const FORMAT: u32 = 1;

const CERTIFICATES: u8 = 1;
const EXPLICIT_KEYS: u8 = 2;
const SHA1_FINGERPRINTS: u8 = 3;
const SIGNATURE: u8 = 4;
const SHA256_FINGERPRINTS: u8 = 5;

/// Sections about the certificates of a CA: serial lists, ranges, bitmaps, key ids.
const OF_CERTIFICATES: std::ops::RangeInclusive<u8> = 0x20..=0x23;

pub(super) fn read(bytes: &[u8]) -> Result<RevokedKeys, RevokedKeysError> {
    let mut wire = WireReader::new(bytes.strip_prefix(MAGIC).unwrap_or_default());
    let format = header(&mut wire).map_err(damaged)?;
    if format != FORMAT {
        let what = format!("revocation list format {format} is not supported");
        return Err(RevokedKeysError::whole(what));
    }
    let mut revoked = RevokedKeys::default();
    while !wire.is_empty() {
        let kind = wire.u8().map_err(damaged)?;
        let section = WireReader::new(wire.string().map_err(damaged)?);
        match kind {
            CERTIFICATES => certificates(section).map_err(damaged)?,
            EXPLICIT_KEYS => keys(section, &mut revoked).map_err(damaged)?,
            SHA1_FINGERPRINTS => digests(section, &mut revoked.sha1).map_err(damaged)?,
            SHA256_FINGERPRINTS => digests(section, &mut revoked.sha256).map_err(damaged)?,
            SIGNATURE => {
                return Err(RevokedKeysError::whole("signed revocation lists are refused"));
            }
            other => {
                let what = format!("the revocation list has a section of unknown kind {other}");
                return Err(RevokedKeysError::whole(what));
            }
        }
    }
    Ok(revoked)
}

fn damaged(_: WireFormatError) -> RevokedKeysError {
    RevokedKeysError::whole("the revocation list is damaged")
}

/// Returns the format. Version, date, flags, reserved field and comment decide nothing.
fn header(wire: &mut WireReader<'_>) -> Result<u32, WireFormatError> {
    let format = wire.u32()?;
    for _ in ["version", "date", "flags"] {
        wire.u64()?;
    }
    for _ in ["reserved", "comment"] {
        wire.string()?;
    }
    Ok(format)
}

fn certificates(mut section: WireReader<'_>) -> Result<(), WireFormatError> {
    for _ in ["ca", "reserved"] {
        section.string()?;
    }
    while !section.is_empty() {
        if !OF_CERTIFICATES.contains(&section.u8()?) {
            return Err(WireFormatError);
        }
        section.string()?;
    }
    Ok(())
}

fn keys(mut section: WireReader<'_>, revoked: &mut RevokedKeys) -> Result<(), WireFormatError> {
    while !section.is_empty() {
        // As in OpenSSH, these bytes are compared and never parsed as a key.
        revoked.blobs.insert(section.string()?.to_vec());
    }
    Ok(())
}

fn digests<const N: usize>(
    mut section: WireReader<'_>,
    digests: &mut std::collections::BTreeSet<[u8; N]>,
) -> Result<(), WireFormatError> {
    while !section.is_empty() {
        digests.insert(section.string()?.try_into().map_err(|_| WireFormatError)?);
    }
    Ok(())
}

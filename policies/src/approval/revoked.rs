//! Revoked keys: a key revocation list of `ssh-keygen -k`, or plain public keys, one per line. A
//! list that cannot be read as a whole must never be used in part, because the unread part could
//! name the key in question.

use base64ct::{Base64, Encoding};
use model::Sha256;
use sha1::{Digest, Sha1};

use super::key::SignerKey;
use super::krl;
use super::model::{RevokedKeys, RevokedKeysError};
use super::wire::WireReader;

/// The maximum size of a revocation list in bytes.
pub const REVOKED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Every type of key that a list may name, accepted as a signer's or not.
const LISTABLE: [&str; 8] = [
    "ssh-ed25519",
    "sk-ssh-ed25519@openssh.com",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "ssh-rsa",
    "ssh-dss",
];

impl RevokedKeys {
    /// Reads a list of either form.
    ///
    /// # Errors
    /// [`RevokedKeysError`] says what is wrong with the first thing that cannot be read.
    pub fn parse(bytes: &[u8]) -> Result<Self, RevokedKeysError> {
        if bytes.len() > REVOKED_BYTES_MAX {
            let what = format!("{} bytes, larger than 16 MiB", bytes.len());
            return Err(RevokedKeysError::whole(what));
        }
        if bytes.starts_with(krl::MAGIC) {
            return krl::read(bytes);
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|_| RevokedKeysError::whole("neither a key revocation list nor text"))?;
        let mut revoked = Self::default();
        for (index, line) in text.split('\n').enumerate() {
            let line = line.trim_start_matches([' ', '\t']);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let blob = blob(line).map_err(|what| RevokedKeysError {
                line: Some(index + 1),
                what: what.to_owned(),
            })?;
            revoked.blobs.insert(blob);
        }
        Ok(revoked)
    }

    /// Returns whether this key is revoked.
    #[must_use]
    pub fn contains(&self, key: &SignerKey) -> bool {
        let blob = key.blob();
        self.blobs.contains(blob)
            || self.sha256.contains(Sha256::of(blob).as_bytes())
            || (!self.sha1.is_empty() && self.sha1.contains(&Sha1::digest(blob).0))
    }
}

/// Decodes the key on a line `key-type base64 [comment]`.
fn blob(line: &str) -> Result<Vec<u8>, &'static str> {
    let mut words = line.split([' ', '\t', '\r']).filter(|word| !word.is_empty());
    let kind = words.next().unwrap_or_default();
    if !LISTABLE.contains(&kind) {
        return Err("does not begin with a key type");
    }
    let base64 = words.next().ok_or("has no key after its type")?;
    let blob = Base64::decode_vec(base64).map_err(|_| "the key is damaged")?;
    let named = WireReader::new(&blob).text().map_err(|_| "the key is damaged")?;
    if named == kind { Ok(blob) } else { Err("the key does not match its type") }
}

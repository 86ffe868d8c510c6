//! `SubjectPublicKeyInfo` as DER and PEM, for `openssl` and Sigstore. Encodes only public keys.

use p256::EncodedPoint;
use ssh_key::PublicKey;
use ssh_key::public::{EcdsaPublicKey, Ed25519PublicKey, KeyData};

use crate::base64;

const LINE: usize = 64;

/// The DER prefix of an uncompressed P-256 point (RFC 5480).
pub(crate) const P256_HEAD: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// The DER prefix of an Ed25519 key (RFC 8410).
pub(crate) const ED25519_HEAD: [u8; 12] =
    [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// Parses the DER of a key of either kind. Returns `None` for every other text.
pub(crate) fn key(spki: &[u8]) -> Option<PublicKey> {
    let data = if let Some(point) = spki.strip_prefix(&P256_HEAD) {
        let point = EncodedPoint::from_bytes(point).ok().filter(|point| !point.is_compressed())?;
        KeyData::Ecdsa(EcdsaPublicKey::NistP256(point))
    } else {
        let key = spki.strip_prefix(&ED25519_HEAD)?.try_into().ok()?;
        KeyData::Ed25519(Ed25519PublicKey(key))
    };
    Some(PublicKey::new(data, ""))
}

pub(crate) fn pem(spki: &[u8]) -> String {
    let mut pem = String::from("-----BEGIN PUBLIC KEY-----\n");
    let mut column = 0;
    for digit in base64::encode(spki).chars() {
        if column == LINE {
            pem.push('\n');
            column = 0;
        }
        pem.push(digit);
        column += 1;
    }
    pem.push_str("\n-----END PUBLIC KEY-----\n");
    pem
}

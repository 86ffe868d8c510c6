//! A passkey and its browser, made from a seed. Every part of a signature is a field: a test changes
//! one, and the passkey signs the changed text, as a hostile page or device would make it.

use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use ed25519_dalek::Signer;
use model::Sha256;
use policies::SignatureFile;

use super::{PRESENT, VERIFIED, armour, envelope, mpint, signed_data, string};

/// The type of the key and of its signature.
pub(crate) const KEY_TYPE: &str = "sk-ecdsa-sha2-nistp256@openssh.com";
const SIGNATURE_TYPE: &str = "webauthn-sk-ecdsa-sha2-nistp256@openssh.com";

/// The flags of a passkey that may be copied, and has been.
pub(crate) const BACKUP_ELIGIBLE: u8 = 0x08;
pub(crate) const BACKED_UP: u8 = 0x10;
/// The flags for data about a new key, and for extension data.
pub(crate) const ATTESTED: u8 = 0x40;
pub(crate) const EXTENSIONS: u8 = 0x80;

pub(crate) struct SoftPasskey {
    secret: p256::ecdsa::SigningKey,
    rp_id: String,
}

/// A signature with each of its parts.
pub(crate) struct SoftAssertion {
    pub(crate) namespace: String,
    /// The type of the signature.
    pub(crate) kind: String,
    /// The domain whose digest the device signs.
    pub(crate) rp_id: String,
    pub(crate) flags: u8,
    pub(crate) counter: u32,
    /// The origin beside the client data.
    pub(crate) origin: Vec<u8>,
    pub(crate) client_data: Vec<u8>,
    pub(crate) extensions: Vec<u8>,
    /// Encodes the two numbers.
    pub(crate) numbers: fn([u8; 32], [u8; 32]) -> Vec<u8>,
    /// Bytes after the last field.
    pub(crate) tail: Vec<u8>,
}

/// Returns the client data of a browser for this challenge.
pub(crate) fn client_data(challenge: &[u8], origin: &str) -> Vec<u8> {
    let challenge = Base64UrlUnpadded::encode_string(challenge);
    let begin = r#"{"type":"webauthn.get","challenge":""#;
    format!(r#"{begin}{challenge}","origin":"{origin}","crossOrigin":false}}"#).into_bytes()
}

pub(crate) fn two_mpints(r: [u8; 32], s: [u8; 32]) -> Vec<u8> {
    [mpint(&r), mpint(&s)].concat()
}

impl SoftPasskey {
    pub(crate) fn new(seed: u8, rp_id: &str) -> Self {
        let secret = p256::ecdsa::SigningKey::from_slice(&[seed; 32]).expect("a scalar");
        Self { secret, rp_id: rp_id.to_owned() }
    }

    pub(crate) fn blob(&self) -> Vec<u8> {
        let point = self.secret.verifying_key().to_encoded_point(false);
        let parts = [KEY_TYPE.as_bytes(), b"nistp256", point.as_bytes(), self.rp_id.as_bytes()];
        parts.iter().flat_map(|part| string(part)).collect()
    }

    pub(crate) fn public(&self) -> String {
        format!("{KEY_TYPE} {}", Base64::encode_string(&self.blob()))
    }

    /// Returns the answer of a browser whose page has this origin.
    pub(crate) fn asked(&self, namespace: &str, message: &[u8], origin: &str) -> SoftAssertion {
        SoftAssertion {
            namespace: namespace.to_owned(),
            kind: SIGNATURE_TYPE.to_owned(),
            rp_id: self.rp_id.clone(),
            flags: PRESENT | VERIFIED,
            counter: 0,
            origin: origin.as_bytes().to_vec(),
            client_data: client_data(&signed_data(namespace, message), origin),
            extensions: Vec::new(),
            numbers: two_mpints,
            tail: Vec::new(),
        }
    }

    /// Signs, and returns the bytes inside the armour.
    pub(crate) fn signature(&self, asked: &SoftAssertion) -> Vec<u8> {
        let device = [&[asked.flags][..], &asked.counter.to_be_bytes()].concat();
        let signed = [
            &Sha256::of(asked.rp_id.as_bytes()).as_bytes()[..],
            &device,
            &asked.extensions,
            Sha256::of(&asked.client_data).as_bytes(),
        ]
        .concat();
        let signature: p256::ecdsa::Signature = self.secret.sign(&signed);
        let (r, s) = signature.split_bytes();
        let number = |bytes: &[u8]| -> [u8; 32] { bytes.try_into().expect("32 bytes") };
        let seal = [
            string(asked.kind.as_bytes()),
            string(&(asked.numbers)(number(r.as_slice()), number(s.as_slice()))),
            device,
            string(&asked.origin),
            string(&asked.client_data),
            string(&asked.extensions),
            asked.tail.clone(),
        ]
        .concat();
        envelope(&self.blob(), &asked.namespace, &seal)
    }

    pub(crate) fn sign(&self, asked: &SoftAssertion) -> SignatureFile {
        let bytes = armour(&self.signature(asked));
        SignatureFile { name: "r.md.passkey.sig".to_owned(), bytes }
    }
}

impl SoftAssertion {
    /// Replaces text of the client data, which must occur.
    pub(crate) fn replace(&mut self, old: &str, new: &[u8]) {
        let old = old.as_bytes();
        let at = self.client_data.windows(old.len()).position(|window| window == old);
        let at = at.expect("the client data has the text");
        drop(self.client_data.splice(at..at + old.len(), new.iter().copied()));
    }

    /// Adds text before the last brace of the client data.
    pub(crate) fn add_member(&mut self, text: &str) {
        let end = self.client_data.len() - 1;
        drop(self.client_data.splice(end..end, text.bytes()));
    }
}

//! The entry of a key rotation: the old key with its end, the new key, and the signatures of both.
//! One signature must never be enough: the old key's proves that the rotation was wanted, the new
//! key's that its holder asked for it. The signed text is the entry without its `signatures`. Both
//! are SSH signatures in their own namespace; `ssh-keygen -Y verify` accepts them in armour.

use std::fmt;

use model::UtcTime;
use serde::Deserialize;
use ssh_key::{HashAlg, LineEnding, PublicKey, SshSig};

use crate::key_model::KeyFingerprint;
use crate::key_model::SigningError;
use crate::log::LogKey;
use crate::log::format::OWN_VERSION as VERSION;
use crate::log::tile::ENTRY_BYTES_MAX;
use crate::result_key::ResultKey;
use crate::{base64, spki};

/// The SSH namespace of the signatures of a key rotation; the signatures cover it.
pub const KEY_CHANGE_NAMESPACE: &str = "key-change.tool-exec@threegate";

pub(crate) const KIND: &str = "toolexec-key-change";
const ARMOUR: [&str; 2] = ["-----BEGIN SSH SIGNATURE-----\n", "-----END SSH SIGNATURE-----\n"];
/// The line length of `ssh-keygen`.
const ARMOUR_LINE: usize = 70;

model::closed_set! {
    /// The role of a key.
    pub enum KeyRole {
        /// It signs records.
        Result = "result",
        /// It signs checkpoints.
        Log = "log",
    }
}

impl KeyRole {
    fn details(self) -> &'static str {
        match self {
            Self::Result => "PKIX_ECDSA_P256_SHA_256",
            Self::Log => "PKIX_ED25519",
        }
    }

    fn fits(self, key: &PublicKey) -> bool {
        match self {
            Self::Result => key.key_data().ecdsa().is_some(),
            Self::Log => key.key_data().ed25519().is_some(),
        }
    }
}

/// The old or the new key of a rotation.
#[derive(Clone, Copy)]
pub(crate) enum RotationKey<'a> {
    Result(&'a ResultKey),
    Log(&'a LogKey),
}

impl RotationKey<'_> {
    fn role(self) -> KeyRole {
        match self {
            Self::Result(_) => KeyRole::Result,
            Self::Log(_) => KeyRole::Log,
        }
    }

    pub(crate) fn spki(self) -> Vec<u8> {
        match self {
            Self::Result(key) => key.public().spki().to_owned(),
            Self::Log(key) => key.public().spki(),
        }
    }

    fn sshsig(self, message: &[u8]) -> Result<SshSig, SigningError> {
        match self {
            Self::Result(key) => key.sshsig(KEY_CHANGE_NAMESPACE, message),
            Self::Log(key) => key.sshsig(KEY_CHANGE_NAMESPACE, message),
        }
    }
}

/// A key rotation that both keys signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyChange {
    role: KeyRole,
    old: Vec<u8>,
    new: Vec<u8>,
    time: UtcTime,
    entry: Vec<u8>,
}

/// The reason why an entry is not a valid key rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyChangeError {
    /// Not the canonical form.
    Form,
    /// A key of the wrong type for its role, or the same key twice.
    Key,
    /// The old key's signature does not verify.
    Old,
    /// The new key's signature does not verify.
    New,
}

impl fmt::Display for KeyChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "not an entry of a key rotation",
            Self::Key => "its keys are not of the kind that it rotates",
            Self::Old => "not signed by the old key",
            Self::New => "not signed by the new key",
        })
    }
}

impl std::error::Error for KeyChangeError {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RawKeyChange {
    api_version: String,
    kind: String,
    spec: RawKeyChangeSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawKeyChangeSpec {
    key: String,
    new: RawChangedKey,
    old: RawChangedKey,
    signatures: RawKeyChangeSignatures,
    time: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RawChangedKey {
    key_details: String,
    raw_bytes: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawKeyChangeSignatures {
    new: String,
    old: String,
}

impl KeyChange {
    /// Signs a rotation with both keys.
    pub(crate) fn sign(
        old: RotationKey<'_>,
        new: RotationKey<'_>,
        time: UtcTime,
    ) -> Result<Self, SigningError> {
        let (role, old_spki, new_spki) = (new.role(), old.spki(), new.spki());
        let signed = render(role, &old_spki, &new_spki, time, None);
        let signature = |key: RotationKey<'_>| {
            let armoured = key.sshsig(signed.as_bytes())?.to_pem(LineEnding::LF)?;
            Ok::<_, SigningError>(without_armour(&armoured))
        };
        let (by_old, by_new) = (signature(old)?, signature(new)?);
        let entry = render(role, &old_spki, &new_spki, time, Some((&by_new, &by_old)));
        Ok(Self { role, old: old_spki, new: new_spki, time, entry: entry.into_bytes() })
    }

    /// Parses a log entry and verifies both signatures. Does not check that the old key was active.
    ///
    /// # Errors
    /// The first [`KeyChangeError`].
    pub fn verify(entry: &[u8]) -> Result<Self, KeyChangeError> {
        if entry.len() > ENTRY_BYTES_MAX {
            return Err(KeyChangeError::Form);
        }
        let form: RawKeyChange = serde_json::from_slice(entry).map_err(|_| KeyChangeError::Form)?;
        let RawKeyChangeSpec { key, new, old, signatures, time } = &form.spec;
        let role = KeyRole::named(key);
        let role = role.ok_or(KeyChangeError::Form)?;
        let time: UtcTime = time.parse().map_err(|_| KeyChangeError::Form)?;
        let spki = |key: &RawChangedKey| base64::decode(&key.raw_bytes).ok_or(KeyChangeError::Form);
        let (old_spki, new_spki) = (spki(old)?, spki(new)?);
        // The form is canonical, so an entry with another order, space or escape is another entry.
        let by_both = Some((signatures.new.as_str(), signatures.old.as_str()));
        let known = form.api_version == VERSION
            && form.kind == KIND
            && [old, new].iter().all(|key| key.key_details == role.details());
        if !known || render(role, &old_spki, &new_spki, time, by_both).as_bytes() != entry {
            return Err(KeyChangeError::Form);
        }
        let signed = render(role, &old_spki, &new_spki, time, None);
        let key = |spki: &[u8]| spki::key(spki).filter(|key| role.fits(key));
        let (Some(old_key), Some(new_key)) = (key(&old_spki), key(&new_spki)) else {
            return Err(KeyChangeError::Key);
        };
        if old_spki == new_spki {
            return Err(KeyChangeError::Key);
        }
        let by = |key: &PublicKey, signature: &str| is_by(key, signature, signed.as_bytes());
        if !by(&old_key, &signatures.old) {
            return Err(KeyChangeError::Old);
        }
        if !by(&new_key, &signatures.new) {
            return Err(KeyChangeError::New);
        }
        Ok(Self { role, old: old_spki, new: new_spki, time, entry: entry.to_owned() })
    }

    /// Returns the role of the rotated key.
    #[must_use]
    pub fn role(&self) -> KeyRole {
        self.role
    }

    /// Returns the time at which the old key's validity ends and the new key's begins.
    #[must_use]
    pub fn time(&self) -> UtcTime {
        self.time
    }

    /// Returns the DER of `SubjectPublicKeyInfo` of the old key.
    #[must_use]
    pub fn old_spki(&self) -> &[u8] {
        &self.old
    }

    /// Returns the DER of `SubjectPublicKeyInfo` of the new key.
    #[must_use]
    pub fn new_spki(&self) -> &[u8] {
        &self.new
    }

    /// Returns the fingerprints of the old and the new key, as `ssh-keygen -l` prints them.
    #[must_use]
    pub fn fingerprints(&self) -> [String; 2] {
        [&self.old, &self.new].map(|spki| {
            spki::key(spki).map_or_else(String::new, |key| KeyFingerprint::of(&key).to_string())
        })
    }

    /// Returns the bytes of the log entry.
    #[must_use]
    pub fn entry(&self) -> &[u8] {
        &self.entry
    }
}

/// Renders canonical JSON (RFC 8785). A value that JSON would escape fails the later comparison.
fn render(
    role: KeyRole,
    old: &[u8],
    new: &[u8],
    time: UtcTime,
    by_new_and_old: Option<(&str, &str)>,
) -> String {
    let key = |spki: &[u8]| {
        let (details, bytes) = (role.details(), base64::encode(spki));
        format!("{{\"keyDetails\":\"{details}\",\"rawBytes\":\"{bytes}\"}}")
    };
    let signatures = by_new_and_old.map_or_else(String::new, |(new, old)| {
        format!("\"signatures\":{{\"new\":\"{new}\",\"old\":\"{old}\"}},")
    });
    let (old, new) = (key(old), key(new));
    format!(
        "{{\"apiVersion\":\"{VERSION}\",\"kind\":\"{KIND}\",\"spec\":{{\"key\":\"{role}\",\
         \"new\":{new},\"old\":{old},{signatures}\"time\":\"{time}\"}}}}"
    )
}

fn without_armour(armoured: &str) -> String {
    armoured.lines().filter(|line| !line.starts_with('-')).collect()
}

/// Returns whether this is the key's signature, in our namespace and in its only spelling.
fn is_by(key: &PublicKey, signature: &str, message: &[u8]) -> bool {
    let mut armoured = String::from(ARMOUR[0]);
    for (at, digit) in signature.chars().enumerate() {
        if at > 0 && at.is_multiple_of(ARMOUR_LINE) {
            armoured.push('\n');
        }
        armoured.push(digit);
    }
    armoured.push('\n');
    armoured.push_str(ARMOUR[1]);
    let Ok(read) = SshSig::from_pem(&armoured) else { return false };
    let again = read.to_pem(LineEnding::LF).map(|armoured| without_armour(&armoured));
    read.hash_alg() == HashAlg::Sha512
        && read.reserved().is_empty()
        && read.algorithm() == key.algorithm()
        && again.is_ok_and(|again| again == signature)
        && key.verify(KEY_CHANGE_NAMESPACE, message, &read).is_ok()
}

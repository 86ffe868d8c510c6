//! The key of a witness, and its cosignatures (C2SP tlog-cosignature, Ed25519). It can sign nothing
//! but a checkpoint that was judged. The private half goes only into the key file.

use std::fmt;

use ed25519_dalek::{Signer as _, SigningKey};
use model::UtcTime;
use ssh_key::PrivateKey;
use ssh_key::private::KeypairData;

use crate::base64;
use crate::log::key::LogOrigin;
use crate::log::note_key::{short_id, verifier_line};
use crate::log::witness::{COSIGNATURE, cosigned_text};
use crate::log::witness_judge::JudgedCheckpoint;

/// The key with which one host cosigns the logs of others. It is zeroed on drop.
pub struct WitnessSigner {
    name: String,
    /// Boxed, because a move would leave copies behind.
    key: Box<SigningKey>,
}

impl WitnessSigner {
    /// Makes the key of this host's witness, whose name is `<host>-witness`, from a seed, which must
    /// be random.
    #[must_use]
    pub fn from_seed(host: &LogOrigin, seed: &[u8; 32]) -> Self {
        Self { name: format!("{host}-witness"), key: Box::new(SigningKey::from_bytes(seed)) }
    }

    /// Accepts an unlocked Ed25519 key with matching halves.
    pub(crate) fn from_private(host: &LogOrigin, private: &PrivateKey) -> Option<Self> {
        let KeypairData::Ed25519(pair) = private.key_data() else { return None };
        let signer = Self::from_seed(host, pair.private.as_ref());
        (signer.key.verifying_key().as_bytes() == &pair.public.0).then_some(signer)
    }

    /// Returns the witness' name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns `name+hash+key`, from which a reader makes a [`WitnessKey`](super::WitnessKey).
    #[must_use]
    pub fn verifier_line(&self) -> String {
        verifier_line(&self.name, COSIGNATURE, &self.key.verifying_key())
    }

    /// Returns the signature line of a cosignature at this time, with its line feed.
    #[must_use]
    pub fn cosign(&self, judged: &JudgedCheckpoint, at: UtcTime) -> String {
        // A time before 1970 has no form in a cosignature.
        let time = at.unix().max(0);
        let signature = self.key.sign(cosigned_text(judged.checkpoint(), time).as_bytes());
        let id = short_id(&self.name, COSIGNATURE, &self.key.verifying_key());
        let blob = [&id[..], &time.to_be_bytes(), &signature.to_bytes()].concat();
        format!("\u{2014} {} {}\n", self.name, base64::encode(&blob))
    }
}

impl fmt::Debug for WitnessSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WitnessSigner({})", self.verifier_line())
    }
}

//! The check whether a signature counts for a fleet: by a key of `allowed_signers` for the
//! namespace of fleets, not revoked, and valid now. A passkey never counts.

use std::fmt;

use model::{UtcTime, escape_line};

use crate::approval::{
    AllowedSigners, EntitlementError, FLEET_NAMESPACE, SignatureError, SshSignature,
};

/// The reason why a signature does not count for a fleet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FleetSignatureError {
    /// It cannot be read, or is of other bytes.
    Signature(SignatureError),
    /// It is for another use.
    Namespace {
        /// The namespace of the signature.
        found: String,
    },
    /// Its key does not count.
    Key {
        /// The key, `SHA256:…`.
        fingerprint: String,
        /// The reason.
        why: EntitlementError,
    },
}

impl FleetSignatureError {
    /// Writes the problem without help: the help depends on the signed object.
    pub(super) fn fmt_problem(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signature(error) => write!(f, "the signature: {error}"),
            Self::Namespace { found } => {
                let found = escape_line(found);
                write!(f, "the signature: namespace `{found}` is not `{FLEET_NAMESPACE}`")
            }
            Self::Key { fingerprint, why } => {
                let why = match why {
                    EntitlementError::Revoked => "is revoked",
                    EntitlementError::Unknown => "is not in allowed_signers",
                    EntitlementError::Namespace => "may not sign for a fleet",
                    EntitlementError::Time => "is not valid now",
                };
                write!(f, "the signature: key {fingerprint} {why}")
            }
        }
    }
}

impl fmt::Display for FleetSignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_problem(f)?;
        write!(
            f,
            "; help: sign it with `ssh-keygen -Y sign -n {FLEET_NAMESPACE}` and a key that \
             allowed_signers lists for this namespace"
        )
    }
}

impl std::error::Error for FleetSignatureError {}

/// Returns the names and the key of the operator who signed exactly this message.
pub(super) fn signer_of(
    message: &[u8],
    signature: &[u8],
    signers: &AllowedSigners,
    now: UtcTime,
) -> Result<String, FleetSignatureError> {
    let signature = SshSignature::parse(signature).map_err(FleetSignatureError::Signature)?;
    if signature.namespace() != FLEET_NAMESPACE {
        return Err(FleetSignatureError::Namespace { found: signature.namespace().to_owned() });
    }
    let verified = signature.verify(message).map_err(FleetSignatureError::Signature)?;
    let fingerprint = verified.key().fingerprint();
    match signers.names_for(&verified, now) {
        Ok(names) => Ok(format!("{} with key {fingerprint}", escape_line(names))),
        Err(why) => Err(FleetSignatureError::Key { fingerprint, why }),
    }
}

//! The fields of a passkey's signature, and its verification. Each field has one encoding, except
//! that `s` may be high or low, as OpenSSH allows.

use model::Sha256;
use p256::ecdsa::Signature;
use p256::ecdsa::signature::Verifier;

use super::client_data;
use super::model::{WebauthnFacts, WebauthnProblem};
use crate::approval::key::SignerKey;
use crate::approval::touch::AuthenticatorData;
use crate::approval::wire::{WireFormatError, WireReader};

/// The type of the signature, its first field.
pub(crate) const WEBAUTHN_TYPE: &str = "webauthn-sk-ecdsa-sha2-nistp256@openssh.com";

/// A well-formed signature of a passkey that is not verified.
#[derive(Clone, Debug)]
pub(crate) struct WebauthnAssertion {
    signature: Signature,
    device: AuthenticatorData,
    origin: String,
    client_data: Vec<u8>,
    extensions: Vec<u8>,
}

impl WebauthnAssertion {
    /// Reads the fields after the type, to the end.
    pub(in crate::approval) fn read(mut wire: WireReader<'_>) -> Result<Self, WireFormatError> {
        let mut numbers = WireReader::new(wire.string()?);
        let (r, s) = (scalar(numbers.string()?)?, scalar(numbers.string()?)?);
        numbers.finish()?;
        let signature = Signature::from_scalars(r, s).map_err(|_| WireFormatError)?;
        let device = AuthenticatorData::read(&mut wire)?;
        let origin = wire.text()?.to_owned();
        let client_data = wire.string()?.to_vec();
        let extensions = wire.string()?.to_vec();
        wire.finish()?;
        Ok(Self { signature, device, origin, client_data, extensions })
    }

    pub(in crate::approval) fn device(&self) -> AuthenticatorData {
        self.device
    }

    /// Returns whether the key signed this statement, and the statement is about these bytes: the
    /// challenge is the bytes themselves, not their digest.
    pub(in crate::approval) fn is_made_by(&self, key: &SignerKey, signed: &[u8]) -> bool {
        let (Some(rp_id), Some(point)) = (key.rp_id(), key.sk_p256_point()) else { return false };
        let data = [
            &Sha256::of(rp_id.as_bytes()).as_bytes()[..],
            &self.device.bytes()[..],
            &self.extensions,
            Sha256::of(&self.client_data).as_bytes(),
        ]
        .concat();
        client_data::begins_with(&self.client_data, signed, &self.origin)
            && point.verify(&data, &self.signature).is_ok()
    }

    /// Returns the statement about the signature, which the caller has verified.
    pub(in crate::approval) fn statement(
        &self,
        key: &SignerKey,
    ) -> Result<WebauthnFacts, WebauthnProblem> {
        let device = self.device;
        let is_sound = !device.has_attested_data()
            && device.has_extensions() != self.extensions.is_empty()
            && (device.is_backup_eligible() || !device.is_backed_up());
        if !is_sound {
            return Err(WebauthnProblem::Flags);
        }
        client_data::check(&self.client_data, &self.origin)?;
        Ok(WebauthnFacts {
            rp_id: key.rp_id().unwrap_or_default().to_owned(),
            origin: self.origin.clone(),
            backup_eligible: device.is_backup_eligible(),
            backed_up: device.is_backed_up(),
        })
    }
}

/// Reads a positive `mpint` of at most 256 bits (RFC 4251, section 5) in its shortest encoding.
fn scalar(mpint: &[u8]) -> Result<[u8; 32], WireFormatError> {
    let digits = match mpint {
        [0, rest @ ..] if rest.first().is_some_and(|first| first & 0x80 != 0) => rest,
        [first, ..] if *first != 0 && first & 0x80 == 0 => mpint,
        _ => return Err(WireFormatError),
    };
    let mut number = [0; 32];
    let from = number.len().checked_sub(digits.len()).ok_or(WireFormatError)?;
    let (_, low) = number.split_at_mut(from);
    low.copy_from_slice(digits);
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::scalar;

    #[test]
    fn a_number_has_one_encoding() {
        assert_eq!(scalar(&[1]).map(|it| it[31]), Ok(1));
        assert_eq!(scalar(&[0, 0x80]).map(|it| it[31]), Ok(0x80));
        assert!(scalar(&[[0_u8].as_slice(), &[0xff; 32]].concat()).is_ok());
        for wrong in [&[][..], &[0], &[0, 1], &[0x80], &[0xff; 32], &[0, 0, 0x80], &[1; 33]] {
            assert!(scalar(wrong).is_err(), "{wrong:02x?}");
        }
    }
}

//! The statement of a security key about one signature: its flags, its counter, and for a passkey
//! the statement of the browser. It must never claim more than the key signed.

use super::webauthn::WebauthnFacts;
use super::wire::{WireFormatError, WireReader};

/// The flag for a touch (PROTOCOL.u2f; WebAuthn level 3, section 6.1).
const FLAG_PRESENT: u8 = 0x01;
/// The flag for a PIN or a finger that was checked.
const FLAG_VERIFIED: u8 = 0x04;
/// The flag of a passkey that may be copied to other devices.
const FLAG_BACKUP_ELIGIBLE: u8 = 0x08;
/// The flag of a passkey that has been copied.
const FLAG_BACKED_UP: u8 = 0x10;
/// The flag for data about a new key, which no signature has.
const FLAG_ATTESTED: u8 = 0x40;
/// The flag for extension data after the counter.
const FLAG_EXTENSIONS: u8 = 0x80;

/// The flags and the counter that a security key signs together with a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct AuthenticatorData {
    flags: u8,
    counter: u32,
}

impl AuthenticatorData {
    pub(super) fn read(wire: &mut WireReader<'_>) -> Result<Self, WireFormatError> {
        Ok(Self { flags: wire.u8()?, counter: wire.u32()? })
    }

    /// Returns the bytes as they are signed.
    pub(super) fn bytes(self) -> [u8; 5] {
        let [a, b, c, d] = self.counter.to_be_bytes();
        [self.flags, a, b, c, d]
    }

    pub(super) fn is_touched(self) -> bool {
        self.has(FLAG_PRESENT)
    }

    pub(super) fn is_backup_eligible(self) -> bool {
        self.has(FLAG_BACKUP_ELIGIBLE)
    }

    pub(super) fn is_backed_up(self) -> bool {
        self.has(FLAG_BACKED_UP)
    }

    pub(super) fn has_attested_data(self) -> bool {
        self.has(FLAG_ATTESTED)
    }

    pub(super) fn has_extensions(self) -> bool {
        self.has(FLAG_EXTENSIONS)
    }

    fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// The statement of a security key about one signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Touch {
    user_verified: bool,
    counter: u32,
    webauthn: Option<WebauthnFacts>,
}

impl Touch {
    pub(super) fn new(device: AuthenticatorData, webauthn: Option<WebauthnFacts>) -> Self {
        let user_verified = device.has(FLAG_VERIFIED);
        Self { user_verified, counter: device.counter, webauthn }
    }

    /// Returns whether the security key checked a PIN or a finger.
    #[must_use]
    pub fn user_verified(&self) -> bool {
        self.user_verified
    }

    /// Returns the key's signature counter; always 0 for a key without one.
    #[must_use]
    pub fn counter(&self) -> u32 {
        self.counter
    }

    /// Returns the statement of the browser, if the key is a passkey.
    #[must_use]
    pub fn webauthn(&self) -> Option<&WebauthnFacts> {
        self.webauthn.as_ref()
    }
}

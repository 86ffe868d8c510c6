//! Signatures of a passkey for the target `webauthn`. The key is public, as those of all tests.

use std::sync::LazyLock;

use policies::APPROVE_NAMESPACE;

use crate::soft;
use crate::soft::passkey::SoftPasskey;

/// The domain of the passkey.
pub const RP_ID: &str = "localhost";
/// The origin of the page that asks.
pub const ORIGIN: &str = "http://localhost:8000";
/// The bytes that are signed.
pub const MESSAGE: &[u8] = b"exactly these bytes\n";

/// The end of the client data that a browser writes.
const END: &[u8] = b",\"crossOrigin\":false}";

static PASSKEY: LazyLock<SoftPasskey> = LazyLock::new(|| SoftPasskey::new(5, RP_ID));

/// Encodes a signature as `ssh-keygen` writes it.
#[must_use]
pub fn armour(blob: &[u8]) -> Vec<u8> {
    soft::armour(blob)
}

/// Returns the client data of the request with another end, and the armoured signature over it.
#[must_use]
pub fn signed_statement(flags: u8, end: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut asked = PASSKEY.asked(APPROVE_NAMESPACE, MESSAGE, ORIGIN);
    let beginning = asked.client_data.strip_suffix(END).expect("the end of a browser");
    asked.client_data = [beginning, end].concat();
    asked.flags = flags;
    let armoured = PASSKEY.sign(&asked).bytes;
    (asked.client_data, armoured)
}

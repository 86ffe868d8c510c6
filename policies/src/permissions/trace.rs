//! The W3C trace context of every operation. It relates entries of the audit trail to the caller's
//! traces. It must never decide anything, because it is a claim of the caller.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A `traceparent` of version 00 (W3C Trace Context, section 3.2). Later versions are refused
/// because the meaning of their flags is unknown here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Traceparent {
    trace: u128,
    parent: u64,
    flags: u8,
}

/// The text is not a valid `traceparent`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceparentError(&'static str);

impl fmt::Display for TraceparentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "traceparent: {}; help: write 00-<32 hex>-<16 hex>-<2 hex> in lower case", self.0)
    }
}

impl std::error::Error for TraceparentError {}

impl Traceparent {
    /// Makes a new trace from 24 random bytes.
    #[must_use]
    pub fn from_random(bytes: [u8; 24]) -> Self {
        let (mut trace, mut parent) = ([0; 16], [0; 8]);
        trace.copy_from_slice(&bytes[..16]);
        parent.copy_from_slice(&bytes[16..]);
        // All zeros is the one value that neither may have.
        let trace = u128::from_be_bytes(trace).max(1);
        Self { trace, parent: u64::from_be_bytes(parent).max(1), flags: 0 }
    }
}

impl FromStr for Traceparent {
    type Err = TraceparentError;

    fn from_str(text: &str) -> Result<Self, TraceparentError> {
        let mut parts = text.split('-');
        let mut part = |digits: usize, what| {
            let part = parts.next().filter(|part| part.len() == digits);
            let hex = |part: &&str| part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
            let part = part.filter(hex).ok_or(TraceparentError(what))?;
            u128::from_str_radix(part, 16).map_err(|_| TraceparentError(what))
        };
        let version = part(2, "the version is not two hexadecimal digits")?;
        let trace = part(32, "the trace is not 32 hexadecimal digits")?;
        let parent = part(16, "the parent is not 16 hexadecimal digits")?;
        let flags = part(2, "the flags are not two hexadecimal digits")?;
        if version != 0 {
            return Err(TraceparentError("the version is not 00"));
        }
        if trace == 0 || parent == 0 {
            return Err(TraceparentError("the trace or the parent is zero"));
        }
        if parts.next().is_some() {
            return Err(TraceparentError("text follows the flags"));
        }
        let narrow = TraceparentError("a part is too long");
        let (parent, flags) = (u64::try_from(parent), u8::try_from(flags));
        Ok(Self { trace, parent: parent.map_err(|_| narrow)?, flags: flags.map_err(|_| narrow)? })
    }
}

impl TryFrom<String> for Traceparent {
    type Error = TraceparentError;

    fn try_from(text: String) -> Result<Self, TraceparentError> {
        text.parse()
    }
}

impl From<Traceparent> for String {
    fn from(trace: Traceparent) -> Self {
        trace.to_string()
    }
}

impl fmt::Display for Traceparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.parent, self.flags)
    }
}

//! SHA-256 digests. A digest must never be made from other than 32 bytes, nor compared as text.

use std::fmt;
use std::str::FromStr;

use sha2::Digest as _;

/// A SHA-256 digest, written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256([u8; 32]);

/// The error for a text that is not 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotASha256;

impl fmt::Display for NotASha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not 64 hexadecimal digits")
    }
}

impl std::error::Error for NotASha256 {}

impl Sha256 {
    /// Computes the digest of the bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// Wraps a digest that was computed elsewhere.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
        f.write_str(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Sha256 {
    type Err = NotASha256;

    /// Reads exactly 64 hexadecimal digits of either case.
    fn from_str(text: &str) -> Result<Self, NotASha256> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(NotASha256);
        }
        let mut bytes = [0u8; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = match pair {
                [high, low] => hex_value(*high)? << 4 | hex_value(*low)?,
                _ => return Err(NotASha256),
            };
        }
        Ok(Self(bytes))
    }
}

fn hex_value(digit: u8) -> Result<u8, NotASha256> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        b'A'..=b'F' => Ok(digit - b'A' + 10),
        _ => Err(NotASha256),
    }
}

/// An incremental SHA-256 digest.
#[derive(Clone, Default)]
pub struct Sha256Stream(sha2::Sha256);

impl Sha256Stream {
    /// Creates a stream without bytes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest of all bytes.
    #[must_use]
    pub fn finish(self) -> Sha256 {
        Sha256(self.0.finalize().into())
    }
}

impl fmt::Debug for Sha256Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sha256Stream")
    }
}

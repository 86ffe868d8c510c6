//! Alphabets of tokens, and runs of their characters. No run may cost its length repeatedly.

model::closed_set! {
    /// A set of ASCII characters from which an issuer generates tokens.
    pub(super) enum Alphabet {
        Digit = "digits",
        LowerHex = "lower-case hexadecimal digits",
        Hex = "hexadecimal digits",
        /// RFC 4648: `A-Z` and `2-7`.
        Base32 = "base32",
        /// The characters of Bech32 after its `1`, in upper case (BIP 173).
        Bech32 = "bech32",
        UpperDigit = "upper-case letters and digits",
        LowerDigit = "lower-case letters and digits",
        Alphanumeric = "letters and digits",
        /// Letters, digits and `-`.
        Hyphened = "letters, digits and hyphens",
        /// Letters, digits, `-` and `_`: base64url.
        Url64 = "base64url",
        /// Base64url and dots.
        Dotted = "base64url and dots",
        /// Base64 without its padding.
        Base64 = "base64",
        /// Base64 with padding inside, and with percent escapes for it.
        Escaped64 = "base64, escaped",
        /// The characters of an Entra ID client secret.
        Tilde = "letters, digits and ~._-",
        /// Base64url with padding inside.
        Equals64 = "base64url, padded",
        /// Base64url with padding and dots inside.
        Loose = "base64url and dots, padded",
        /// Both alphabets of base64, with padding inside.
        Any64 = "base64 or base64url, padded",
        /// Hexadecimal digits and `:`.
        ColonHex = "hexadecimal digits and colons",
    }
}

const COUNT: usize = Alphabet::ALL.len();

impl Alphabet {
    pub(super) fn contains(self, byte: u8) -> bool {
        let members = MEMBERS.get(self as usize).copied().unwrap_or(0);
        byte.is_ascii() && members >> byte & 1 == 1
    }

    const fn has(self, byte: u8) -> bool {
        let beside = match self {
            Self::Digit => return byte.is_ascii_digit(),
            Self::LowerHex => return matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            Self::Hex => return byte.is_ascii_hexdigit(),
            Self::Base32 => return matches!(byte, b'A'..=b'Z' | b'2'..=b'7'),
            Self::Bech32 => {
                let left_out = matches!(byte, b'1' | b'B' | b'I' | b'O');
                return !left_out && (byte.is_ascii_uppercase() || byte.is_ascii_digit());
            }
            Self::UpperDigit => return byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::LowerDigit => return byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Self::Alphanumeric => false,
            Self::Hyphened => byte == b'-',
            Self::Url64 => matches!(byte, b'-' | b'_'),
            Self::Dotted => matches!(byte, b'-' | b'_' | b'.'),
            Self::Base64 => matches!(byte, b'+' | b'/'),
            Self::Escaped64 => matches!(byte, b'+' | b'/' | b'%' | b'='),
            Self::Tilde => matches!(byte, b'~' | b'.' | b'_' | b'-'),
            Self::Equals64 => matches!(byte, b'-' | b'_' | b'='),
            Self::Loose => matches!(byte, b'-' | b'_' | b'=' | b'.'),
            Self::Any64 => matches!(byte, b'-' | b'_' | b'=' | b'+' | b'/'),
            Self::ColonHex => return byte.is_ascii_hexdigit() || byte == b':',
        };
        beside || byte.is_ascii_alphanumeric()
    }
}

/// For each alphabet, one bit for each of its ASCII characters.
const MEMBERS: [u128; COUNT] = {
    let mut members = [0; COUNT];
    let mut alphabet = 0;
    while alphabet < COUNT {
        let mut byte = 0;
        while byte < 128 {
            if Alphabet::ALL[alphabet].has(byte) {
                members[alphabet] |= 1 << byte;
            }
            byte += 1;
        }
        alphabet += 1;
    }
    members
};

/// Returns the five bits that a character of Bech32 encodes.
pub(super) fn bech32_value(byte: u8) -> Option<u32> {
    const ORDER: &[u8; 32] = b"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";
    ORDER.iter().position(|it| *it == byte).and_then(|at| u32::try_from(at).ok())
}

/// The last run of each alphabet. A hostile text repeats a prefix inside one long run; without this
/// cache, each repetition would scan to the run's end.
pub(super) struct RunExtents<'t> {
    bytes: &'t [u8],
    known: [(usize, usize); COUNT],
}

impl<'t> RunExtents<'t> {
    pub(super) fn over(text: &'t str) -> Self {
        Self { bytes: text.as_bytes(), known: [(0, 0); COUNT] }
    }

    /// Returns the end of the run of this alphabet that covers `from`; `from` if there is none.
    pub(super) fn end(&mut self, alphabet: Alphabet, from: usize) -> usize {
        let Some(known) = self.known.get_mut(alphabet as usize) else { return from };
        if !(known.0..known.1).contains(&from) {
            let rest = self.bytes.get(from..).unwrap_or_default();
            let length = rest.iter().position(|byte| !alphabet.contains(*byte));
            *known = (from, from + length.unwrap_or(rest.len()));
        }
        known.1
    }
}

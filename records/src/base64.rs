//! Standard base64 with padding (RFC 4648). Not constant-time, so for public bytes only. The
//! decoder must never accept a second spelling of a signature or a digest.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes bytes.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| usize::from(chunk.get(at).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (at, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let digit = DIGITS[word >> shift & 63];
            text.push(if at <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

/// Decodes the canonical encoding of some bytes. Returns `None` for every other text.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (whole, last) = digits.as_bytes().as_chunks::<4>();
    for [a, b, c, d] in whole {
        let word = value(*a)? << 18 | value(*b)? << 12 | value(*c)? << 6 | value(*d)?;
        let [_, all @ ..] = word.to_be_bytes();
        bytes.extend_from_slice(&all);
    }
    if !last.is_empty() {
        let mut word = 0_u32;
        for at in 0..4 {
            word = word << 6 | last.get(at).map_or(Some(0), |digit| value(*digit))?;
        }
        let [_, all @ ..] = word.to_be_bytes();
        let (kept, rest) = all.split_at_checked(last.len() - 1)?;
        if rest.iter().any(|byte| *byte != 0) {
            return None;
        }
        bytes.extend_from_slice(kept);
    }
    Some(bytes)
}

/// The value of each byte as a digit; more than 63 for a byte that is not a digit.
const VALUES: [u8; 256] = {
    let mut values = [u8::MAX; 256];
    let mut at: u8 = 0;
    while at < 64 {
        values[DIGITS[at as usize] as usize] = at;
        at += 1;
    }
    values
};

fn value(digit: u8) -> Option<u32> {
    let value = VALUES[usize::from(digit)];
    (value < 64).then(|| u32::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_has_the_vectors_of_rfc_4648() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(plain.as_bytes()), coded);
            assert_eq!(decode(coded).unwrap(), plain.as_bytes());
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)).unwrap(), all);
    }

    #[test]
    fn a_second_spelling_is_no_base64() {
        for text in [
            "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==", "Zm9v\n", "-_==", "Zm8==", "=",
        ] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}

//! Distinguishes real tokens from similar text by the checksums, marks and encodings that issuers
//! put into them. It must never need more than the token itself, and no secret of the issuer.

use super::alphabet::bech32_value;
use super::kind::TokenText;
use super::value;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE36: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Parses the digits as a number, the most significant first; `None` for an invalid digit.
fn number(digits: &str, order: &[u8]) -> Option<u64> {
    let base = u64::try_from(order.len()).ok()?;
    digits.bytes().try_fold(0_u64, |sum, digit| {
        let value = order.iter().position(|it| *it == digit)?;
        sum.checked_mul(base)?.checked_add(u64::try_from(value).ok()?)
    })
}

fn crc32(text: &str) -> u64 {
    u64::from(crc32fast::hash(text.as_bytes()))
}

/// GitHub and npm: the last six characters are the CRC-32 of those between them and the prefix.
pub(super) fn base62_crc(token: &TokenText<'_>) -> bool {
    let parts = token.body.len().checked_sub(6).and_then(|at| token.body.split_at_checked(at));
    parts.is_some_and(|(random, sum)| number(sum, BASE62) == Some(crc32(random)))
}

/// GitLab's routable tokens: `<payload>.<version>.<length of the payload><CRC-32>` in base 36. The
/// checksum covers all text before it. The first such tokens had no version.
pub(super) fn gitlab_crc(token: &TokenText<'_>) -> bool {
    let parts = token.whole.len().checked_sub(7).and_then(|at| token.whole.split_at_checked(at));
    parts.is_some_and(|(before, sum)| number(sum, BASE36) == Some(crc32(before)))
}

/// Grafana: the CRC-32 of all before the last underscore, as bytes in little-endian order.
pub(super) fn grafana_crc(token: &TokenText<'_>) -> bool {
    token.whole.rsplit_once('_').is_some_and(|(before, sum)| {
        let swapped = crc32fast::hash(before.as_bytes()).swap_bytes();
        u32::from_str_radix(sum, 16) == Ok(swapped)
    })
}

/// age: Bech32 (BIP 173) over the prefix in lower case and the data.
pub(super) fn bech32(token: &TokenText<'_>) -> bool {
    const GENERATOR: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
    let Some((human, data)) = token.whole.rsplit_once('1') else { return false };
    let human = || human.bytes().map(|byte| u32::from(byte.to_ascii_lowercase()));
    let high = human().map(|byte| byte >> 5);
    let low = human().map(|byte| byte & 31);
    let data = data.bytes().map(|byte| bech32_value(byte).unwrap_or(32));
    let sum = high.chain([0]).chain(low).chain(data).fold(1_u32, |sum, value| {
        let top = sum >> 25;
        let mixed = GENERATOR.iter().enumerate().filter(|(bit, _)| top >> bit & 1 == 1);
        mixed.fold((sum & 0x01ff_ffff) << 5 ^ value, |sum, (_, generator)| sum ^ generator)
    });
    sum == 1
}

/// OpenAI puts its name in base64 in the middle of its keys.
pub(super) fn openai_mark(token: &TokenText<'_>) -> bool {
    const BESIDE_LEAST: usize = 20;
    let halves = token.body.split_once("T3BlbkFJ");
    halves.is_some_and(|(a, b)| a.len() >= BESIDE_LEAST && b.len() >= BESIDE_LEAST)
}

/// Requires letters and digits, which excludes a phrase.
pub(super) fn mixed(token: &TokenText<'_>) -> bool {
    is_mixed(token.body)
}

pub(super) fn is_mixed(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Requires lower-case letters, upper-case letters and digits, which excludes a name in code.
pub(super) fn three_classes(token: &TokenText<'_>) -> bool {
    let body = || token.body.bytes();
    let digits = body().filter(u8::is_ascii_digit).count();
    digits >= 2
        && body().any(|byte| byte.is_ascii_lowercase())
        && body().any(|byte| byte.is_ascii_uppercase())
}

/// Requires three digits or more: the number of a workspace or of an application.
pub(super) fn numbered(token: &TokenText<'_>) -> bool {
    token.body.bytes().filter(u8::is_ascii_digit).count() >= 3 && !token.body.ends_with('-')
}

/// Requires a random value, which excludes names and phrases.
pub(super) fn random(token: &TokenText<'_>) -> bool {
    value::is_random(token.body)
}

/// MaxMind: six characters, an underscore, and the rest.
pub(super) fn maxmind_lead(token: &TokenText<'_>) -> bool {
    token.lead.bytes().enumerate().all(|(at, byte)| (byte == b'_') == (at == 6) && byte != b'-')
}

/// The character before the mark is a digit.
pub(super) fn digit_leads(token: &TokenText<'_>) -> bool {
    token.lead.ends_with(|c: char| c.is_ascii_digit())
}

/// Anthropic's keys end in the zero bits of their padding.
pub(super) fn ends_with_padding(token: &TokenText<'_>) -> bool {
    token.body.ends_with("AA")
}

/// Discord: the bot's id, a number in base64, is before the first dot.
pub(super) fn discord_id(token: &TokenText<'_>) -> bool {
    decode64(token.lead).is_some_and(|id| id.len() >= 17 && id.iter().all(u8::is_ascii_digit))
}

/// A signature of 32 bytes in base64, with some characters escaped for a URL.
pub(super) fn signature(token: &TokenText<'_>) -> bool {
    let plain = token.body.replace("%2B", "+").replace("%2F", "/").replace("%3D", "=");
    let plain = plain.replace("%2b", "+").replace("%2f", "/").replace("%3d", "=");
    plain.len() == 44 && decode64(&plain).is_some_and(|bytes| bytes.len() == 32)
}

/// Decodes base64 in either alphabet, padded or not; `None` if it is invalid.
pub(super) fn decode64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if text.len() - digits.len() > 2 || digits.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    let (mut held, mut bits) = (0_u32, 0_u32);
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        held = (held << 6 | u32::from(value)) & 0xfff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.extend(u8::try_from(held >> bits & 0xff));
        }
    }
    Some(bytes)
}

/// New Relic: all text before the mark is hexadecimal, after an optional region.
pub(super) fn hex_leads(token: &TokenText<'_>) -> bool {
    let digits = token.lead.strip_prefix("eu01xx").unwrap_or(token.lead);
    digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

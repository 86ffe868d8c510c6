//! Generates tokens at test time: this source must have none that a scanner takes for real.

pub(crate) const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
pub(crate) const UPPER_DIGIT: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
pub(crate) const LOWER_DIGIT: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
pub(crate) const LOWER_HEX: &str = "0123456789abcdef";
pub(crate) const DIGIT: &str = "0123456789";
pub(crate) const BASE62: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
pub(crate) const BASE36: &str = "0123456789abcdefghijklmnopqrstuvwxyz";
pub(crate) const URL64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
pub(crate) const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns characters that look random, the same in each run, without a mark at either end.
pub(crate) fn random(alphabet: &str, length: usize, seed: u32) -> String {
    let letters = alphabet.as_bytes();
    let mut state = seed.wrapping_mul(2_654_435_761) ^ 0x9e37_79b9;
    let mut body: Vec<u8> = (0..length)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            letters[(state >> 16) as usize % letters.len()]
        })
        .collect();
    for at in [0, length.saturating_sub(1)] {
        if body.get(at).is_some_and(|byte| !byte.is_ascii_alphanumeric()) {
            body[at] = b'b';
        }
    }
    String::from_utf8(body).unwrap()
}

pub(crate) fn digits_of(mut number: u64, order: &str, width: usize) -> String {
    let (mut digits, base) = (Vec::new(), order.len() as u64);
    for _ in 0..width {
        digits.push(order.as_bytes()[usize::try_from(number % base).unwrap()]);
        number /= base;
    }
    digits.reverse();
    String::from_utf8(digits).unwrap()
}

pub(crate) fn crc(text: &str) -> u64 {
    u64::from(crc32fast::hash(text.as_bytes()))
}

/// GitHub's and npm's form.
pub(crate) fn crc62(prefix: &str, seed: u32) -> String {
    let body = random(BASE62, 30, seed);
    format!("{prefix}{body}{}", digits_of(crc(&body), BASE62, 6))
}

pub(crate) fn routable(prefix: &str, version: &str, seed: u32) -> String {
    let before = format!("{prefix}{}.{version}12", random(URL64, 38, seed));
    format!("{before}{}", digits_of(crc(&before), BASE36, 7))
}

pub(crate) fn grafana(seed: u32) -> String {
    let before = format!("glsa_{}", random(BASE62, 32, seed));
    format!("{before}_{:08x}", crc32fast::hash(before.as_bytes()).swap_bytes())
}

pub(crate) fn encode64(bytes: &[u8], alphabet: &str, padded: bool) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(*chunk.get(at).unwrap_or(&0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            if at <= chunk.len() {
                let six = (group >> (18 - 6 * at) & 63) as usize;
                text.push(char::from(alphabet.as_bytes()[six]));
            } else if padded {
                text.push('=');
            }
        }
    }
    text
}

pub(crate) fn jwt(header: &str, payload: &str, seed: u32) -> String {
    let part = |text: &str| encode64(text.as_bytes(), URL64, false);
    format!("{}.{}.{}", part(header), part(payload), random(URL64, 43, seed))
}

/// Computes the checksum of BIP 173 over a human-readable part and its data.
pub(crate) fn age(human: &str, seed: u32) -> String {
    const ORDER: &str = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";
    let data = random(ORDER, 52, seed);
    let value = |c: char| u32::try_from(ORDER.find(c).unwrap()).unwrap();
    let lower = human.to_lowercase();
    let mut values: Vec<u32> = lower.bytes().map(|byte| u32::from(byte) >> 5).collect();
    values.push(0);
    values.extend(lower.bytes().map(|byte| u32::from(byte) & 31));
    values.extend(data.chars().map(value).chain([0; 6]));
    let sum = values.into_iter().fold(1, |sum: u32, value| {
        let mut next = (sum & 0x1ff_ffff) << 5 ^ value;
        for (bit, generator) in
            [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3].iter().enumerate()
        {
            if sum >> 25 >> bit & 1 == 1 {
                next ^= generator;
            }
        }
        next
    }) ^ 1;
    let check = (0..6).map(|at| char::from(ORDER.as_bytes()[(sum >> (25 - 5 * at) & 31) as usize]));
    format!("{human}1{data}{}", check.collect::<String>())
}

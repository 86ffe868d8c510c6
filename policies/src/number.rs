//! The spelling of numbers in a policy file. Each number has one spelling, so that no two readers
//! can understand a limit differently.

use serde::de::{Deserialize, Deserializer, Error as _};

/// A whole number in plain decimal digits. `0x10`, `1_000` and `010` are refused.
pub(crate) struct WholeNumber(pub(crate) u64);

/// A size in bytes: a whole number, optionally followed by ` KiB`, ` MiB` or ` GiB`.
pub(crate) struct ByteCount(pub(crate) u64);

/// A number of cores in thousandths, written with at most three decimals.
pub(crate) struct MilliCores(pub(crate) u64);

/// A share in thousandths of a percent, written in percent with at most three decimals.
pub(crate) struct MilliPercent(pub(crate) u64);

fn digits(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| plain)
}

fn byte_count(text: &str) -> Option<u64> {
    let Some((number, unit)) = text.split_once(' ') else { return digits(text) };
    let factor: u64 = match unit {
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    digits(number)?.checked_mul(factor)
}

fn thousandths(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let decimal = !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit());
    if !decimal || fraction.len() > 3 {
        return None;
    }
    let fraction: u64 = format!("{fraction:0<3}").parse().ok()?;
    digits(whole)?.checked_mul(1000)?.checked_add(fraction)
}

impl<'de> Deserialize<'de> for WholeNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = digits(&text).map(Self);
        number.ok_or_else(|| D::Error::custom(format!("`{text}` is not a whole number")))
    }
}

impl<'de> Deserialize<'de> for ByteCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let size = byte_count(&text).map(Self);
        size.ok_or_else(|| D::Error::custom(format!("`{text}` is not a size such as 16 MiB")))
    }
}

impl<'de> Deserialize<'de> for MilliCores {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let cores = thousandths(&text).map(Self);
        cores.ok_or_else(|| D::Error::custom(format!("`{text}` is not a number of cores")))
    }
}

impl<'de> Deserialize<'de> for MilliPercent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let share = thousandths(&text).map(Self);
        share.ok_or_else(|| D::Error::custom(format!("`{text}` is not a percentage")))
    }
}

#[cfg(test)]
mod tests {
    use super::{byte_count, digits, thousandths};

    #[test]
    fn numbers_are_plain_decimals() {
        assert_eq!(digits("0"), Some(0));
        assert_eq!(digits("64"), Some(64));
        for odd in ["", "-1", "+1", "010", "0x10", "1_000", "1.0", "18446744073709551616"] {
            assert_eq!(digits(odd), None, "{odd}");
        }
    }

    #[test]
    fn sizes_cores_and_shares_have_one_spelling() {
        assert_eq!(byte_count("16 MiB"), Some(16 << 20));
        assert_eq!(byte_count("4096"), Some(4096));
        for odd in ["16MiB", "16 MB", "1.5 GiB", "16  MiB", "99999999999999999999 KiB"] {
            assert_eq!(byte_count(odd), None, "{odd}");
        }
        assert_eq!(thousandths("8"), Some(8000));
        assert_eq!(thousandths("0.5"), Some(500));
        assert_eq!(thousandths("12.5"), Some(12_500));
        for odd in ["", ".5", "1.", "1.2345", "1e3", "-1", "inf"] {
            assert_eq!(thousandths(odd), None, "{odd}");
        }
    }
}

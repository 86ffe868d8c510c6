//! Reads the records of an extended header (pax), each `LENGTH KEY=VALUE` and LF. Values may hold
//! any byte, so the records are split by their lengths only.

/// One record of an extended header.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct PaxRecord<'a> {
    pub(super) key: &'a [u8],
    pub(super) value: &'a [u8],
}

/// Returns the records, or nothing if one of them is malformed.
pub(super) fn pax_records(mut text: &[u8]) -> Option<Vec<PaxRecord<'_>>> {
    let mut records = Vec::new();
    while !text.is_empty() {
        let (record, rest) = split_record(text)?;
        records.push(record);
        text = rest;
    }
    Some(records)
}

fn split_record(text: &[u8]) -> Option<(PaxRecord<'_>, &[u8])> {
    let space = text.iter().position(|byte| *byte == b' ')?;
    let length = decimal(text.get(..space)?)?;
    let (record, rest) = text.split_at_checked(usize::try_from(length).ok()?)?;
    let (last, pair) = record.get(space + 1..)?.split_last()?;
    let equals = pair.iter().position(|byte| *byte == b'=')?;
    let (key, value) = (pair.get(..equals)?, pair.get(equals + 1..)?);
    (*last == b'\n' && !key.is_empty()).then_some((PaxRecord { key, value }, rest))
}

/// Reads a decimal number without a sign.
pub(super) fn decimal(digits: &[u8]) -> Option<u64> {
    let plain = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    plain.then(|| std::str::from_utf8(digits).ok()?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::{PaxRecord, pax_records};

    #[test]
    fn a_value_may_hold_any_byte() {
        let records = pax_records(b"8 a=b\n\xff\n9 path=x\n");
        let expected = vec![
            PaxRecord { key: b"a", value: b"b\n\xff" },
            PaxRecord { key: b"path", value: b"x" },
        ];
        assert_eq!(records, Some(expected));
    }

    #[test]
    fn a_malformed_record_is_refused() {
        let texts: [&[u8]; 9] = [
            b"path=x\n",
            b"9 path=x",
            b"8 path=x\n",
            b"11 path=x\n",
            b"+9 path=x\n",
            b"0 path=x\n",
            b"2 \n",
            b"5 =x\n",
            b"99999999999999999999 a=b\n",
        ];
        for text in texts {
            assert_eq!(pax_records(text), None, "{text:?}");
        }
    }
}

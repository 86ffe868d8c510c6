//! Figures beside their limits: `12 of 60 s`, `64 of 256 MiB`. Both have the unit of the limit.

const UNITS: [(&str, u32); 4] = [("B", 0), ("KiB", 10), ("MiB", 20), ("GiB", 30)];

pub(crate) fn bytes_of(bytes: Option<u64>, bytes_max: u64) -> String {
    let unit = UNITS.iter().rev().find(|(_, shift)| bytes_max >> shift > 0).unwrap_or(&UNITS[0]);
    let (word, shift) = *unit;
    let in_unit = |bytes: u64| {
        let tenths = (u128::from(bytes) * 10) >> shift;
        match (shift, tenths % 10) {
            (0, _) | (_, 0) => (tenths / 10).to_string(),
            (_, tenth) => format!("{}.{tenth}", tenths / 10),
        }
    };
    let now = bytes.map_or_else(|| "?".to_owned(), in_unit);
    format!("{now} of {} {word}", in_unit(bytes_max))
}

pub(crate) fn seconds_of(ms: Option<u64>, ms_max: u64) -> String {
    let now = ms.map_or_else(|| "?".to_owned(), |ms| format!("{}.{}", ms / 1000, ms % 1000 / 100));
    format!("{now} of {} s", ms_max.div_ceil(1000))
}

/// Returns the full positions of a bar: none only if `part` is 0, all only if it reaches `whole`.
pub(crate) fn share(part: u64, whole: u64, positions: usize) -> usize {
    let all = u128::try_from(positions).unwrap_or(0);
    let full = (u128::from(part) * all).checked_div(u128::from(whole)).unwrap_or(0).min(all);
    let full = usize::try_from(full).unwrap_or(positions);
    if part > 0 && whole > 0 { full.max(1).min(positions) } else { full }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_use_the_unit_of_their_limit() {
        assert_eq!(bytes_of(Some(67_108_864), 268_435_456), "64 of 256 MiB");
        assert_eq!(bytes_of(Some(1_288_490_188), 4 << 30), "1.1 of 4 GiB");
        assert_eq!(bytes_of(None, 512), "? of 512 B");
        assert_eq!(bytes_of(Some(0), 0), "0 of 0 B");
        assert_eq!(seconds_of(Some(11_850), 60_000), "11.8 of 60 s");
        assert_eq!(seconds_of(None, 1_500), "? of 2 s");
    }

    #[test]
    fn a_bar_is_full_only_when_all_is_used() {
        assert_eq!(share(0, 60, 10), 0);
        assert_eq!(share(1, 600, 10), 1);
        assert_eq!(share(599, 600, 10), 9);
        assert_eq!(share(600, 600, 10), 10);
        assert_eq!(share(u64::MAX, 1, 10), 10);
        assert_eq!(share(5, 0, 10), 0);
    }
}

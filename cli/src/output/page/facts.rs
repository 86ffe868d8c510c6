//! Facts of a record by key. A record that did not verify may contain anything: missing values and
//! unexpected types are shown as such, and no function here fails.

use serde_json::Value;

pub(super) struct PageFacts(Value);

impl PageFacts {
    pub(super) fn of(facts: Value) -> Self {
        Self(facts)
    }

    pub(super) fn at(&self, key: &str) -> &Value {
        self.0.get(key).unwrap_or(&Value::Null)
    }

    pub(super) fn text(&self, key: &str) -> &str {
        text(self.at(key))
    }

    pub(super) fn rows(&self, key: &str) -> &[Value] {
        rows(self.at(key))
    }
}

/// Returns a string value, or a dash for any other.
pub(super) fn text(value: &Value) -> &str {
    match value {
        Value::String(text) => text,
        _ => "–",
    }
}

pub(super) fn rows(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns any value as text; a missing value is a dash.
pub(super) fn display(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => items.iter().map(display).collect::<Vec<_>>().join(", "),
        Value::Object(_) => value.to_string(),
    }
}

/// Returns a count. Counts beyond the range of JSON numbers are written as text.
pub(super) fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

pub(super) fn bytes(value: &Value) -> String {
    count(value).map_or_else(|| display(value), size)
}

/// Formats bytes in the largest unit that gives at least one.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match UNITS.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) if bytes.is_multiple_of(*unit) => format!("{} {name}", bytes / unit),
        Some((name, unit)) => {
            let tenths = u128::from(bytes) * 10 / u128::from(*unit);
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} B"),
    }
}

pub(super) fn time(micros: u64) -> String {
    match micros {
        0..1_000_000 => format!("{}.{} ms", micros / 1000, micros % 1000 / 100),
        _ if micros.is_multiple_of(1_000_000) => format!("{} s", micros / 1_000_000),
        _ => format!("{}.{:02} s", micros / 1_000_000, micros % 1_000_000 / 10_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_have_readable_units() {
        assert_eq!(
            [512, 1024, 1536, 268_435_456].map(size),
            ["512 B", "1 KiB", "1.5 KiB", "256 MiB"]
        );
        assert_eq!(size(u64::MAX), "17179869183.9 GiB");
        assert_eq!([1_500, 30_000_000, 2_340_000].map(time), ["1.5 ms", "30 s", "2.34 s"]);
    }

    #[test]
    fn missing_values_are_dashes() {
        let facts = PageFacts::of(serde_json::json!({"a": [], "b": "9007199254740993"}));
        assert_eq!(facts.text("none"), "–");
        assert_eq!(display(facts.at("a")), "none");
        assert_eq!(count(facts.at("b")), Some(9_007_199_254_740_993));
        assert_eq!(PageFacts::of(Value::Null).rows("x").len(), 0);
    }
}

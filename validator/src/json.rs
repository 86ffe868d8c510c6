//! Strict JSON: no duplicate name in an object at any depth, nothing after the value, bounded
//! depth. The last of two equal names must never win, because a person reads the first. A number
//! that another reader would round must never pass.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The largest integer up to which binary64 has no gaps, 2^53 - 1 (RFC 8785, section 3.2.2.3).
pub const JSON_INTEGER_MAX: u64 = (1 << 53) - 1;

/// The reason why bytes are not JSON that all readers understand alike.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JsonError {
    /// The text exceeds the size limit.
    TooLarge {
        /// The limit in bytes.
        bytes_max: usize,
    },
    /// Not JSON, deeper than 128 levels, or a duplicate name in an object.
    Malformed {
        /// The line, from 1.
        line: usize,
        /// The problem on that line.
        message: String,
    },
    /// A number of 2^53 or more, which readers convert differently.
    NumberTooLarge(String),
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { bytes_max } => write!(f, "larger than {bytes_max} bytes"),
            Self::Malformed { line, message } => write!(f, "line {line}: {message}"),
            Self::NumberTooLarge(number) => {
                write!(f, "{number} is beyond 2^53 - 1, where JSON parsers differ")
            }
        }
    }
}

impl std::error::Error for JsonError {}

/// Reads one value that all readers of JSON understand alike.
///
/// # Errors
/// Too many bytes, not JSON, a duplicate name, more than 128 levels, or a number beyond 2^53 - 1.
pub fn read_json(bytes: &[u8], bytes_max: usize) -> Result<Value, JsonError> {
    if bytes.len() > bytes_max {
        return Err(JsonError::TooLarge { bytes_max });
    }
    let StrictJson(value) = serde_json::from_slice(bytes).map_err(|error| {
        let (line, message) = error_position(&error);
        JsonError::Malformed { line, message }
    })?;
    match first_imprecise_number(&value) {
        Some(number) => Err(JsonError::NumberTooLarge(number)),
        None => Ok(value),
    }
}

/// Reads one object with any numbers; the error is the line and the problem.
pub(crate) fn object(text: &str) -> Result<Map<String, Value>, (usize, String)> {
    match serde_json::from_str(text) {
        Ok(StrictJson(Value::Object(object))) => Ok(object),
        Ok(_) => Err((1, "not an object".to_owned())),
        Err(error) => Err(error_position(&error)),
    }
}

fn error_position(error: &serde_json::Error) -> (usize, String) {
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
    (error.line().max(1), message)
}

fn first_imprecise_number(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => {
            let size = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
            let too_large = match (size, number.as_f64()) {
                (Some(size), _) => size > JSON_INTEGER_MAX,
                (None, Some(binary64)) => binary64.abs() >= 9_007_199_254_740_992.0,
                (None, None) => true,
            };
            too_large.then(|| number.to_string())
        }
        Value::Array(items) => items.iter().find_map(first_imprecise_number),
        Value::Object(members) => members.values().find_map(first_imprecise_number),
        _ => None,
    }
}

/// A value without duplicate names, for deserializing JSON within JSON. Numbers are not checked.
pub struct StrictJson(pub Value);

impl<'de> Deserialize<'de> for StrictJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(StrictJson(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, StrictJson(value))) = members.next_entry::<String, StrictJson>()? {
            if object.insert(name, value).is_some() {
                return Err(A::Error::custom("a name appears twice in an object"));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Value, JsonError> {
        read_json(text.as_bytes(), 1000)
    }

    #[test]
    fn a_name_twice_is_refused_at_any_depth() {
        assert!(read(r#"{"a":[{"b":1,"c":2}]}"#).is_ok());
        for text in [r#"{"a":1,"a":1}"#, r#"[{"a":{"b":1,"b":2}}]"#, r#"{"a":1,"\u0061":2}"#] {
            assert!(matches!(read(text), Err(JsonError::Malformed { .. })), "{text}");
        }
    }

    #[test]
    fn a_number_that_readers_round_is_refused() {
        for text in ["9007199254740991", "-9007199254740991", "0.5", "1e15", "[1e-300]"] {
            assert!(read(text).is_ok(), "{text}");
        }
        for text in ["9007199254740992", "-9007199254740992", r#"{"a":[1e16]}"#, "1e300"] {
            assert!(matches!(read(text), Err(JsonError::NumberTooLarge(_))), "{text}");
        }
        assert!(read("1e400").is_err());
    }

    #[test]
    fn size_depth_and_trailing_text_are_bounded() {
        assert_eq!(read_json(b"[ ]", 2), Err(JsonError::TooLarge { bytes_max: 2 }));
        assert!(read(&format!("{}1{}", "[".repeat(120), "]".repeat(120))).is_ok());
        assert!(read(&format!("{}1{}", "[".repeat(200), "]".repeat(200))).is_err());
        assert!(read("1 2").is_err());
        assert!(read_json(b"\"\xff\"", 1000).is_err());
    }
}

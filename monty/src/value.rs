//! The value of a program as JSON with Python's types: `{"type": "int", "value": 6}`. A reader of
//! JSON that has only 64-bit floats reads every value exactly. Must never lose a value: what JSON
//! cannot hold is written as a text.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use monty_types::{DictPairs, MontyObject};
use serde_json::{Map, Value};

use crate::failure::MontyFailure;

/// Integers up to here are exact in a 64-bit float.
const EXACT_MAX: u64 = 1 << 53;

/// Writing a longer integer in decimal takes too much time.
const DECIMAL_BITS_MAX: u64 = 1 << 17;

/// Writes the value of a program to a new file.
///
/// # Errors
/// `Internal` if the file already exists or cannot be written.
pub fn write_result(path: &Path, value: &MontyObject) -> Result<(), MontyFailure> {
    let mut text = typed_value(value).to_string();
    text.push('\n');
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        let help = "name a new file in a writable directory";
        MontyFailure::Internal(format!("{}: {error}; help: {help}", path.display()))
    })
}

/// Returns a value as JSON with its type.
#[must_use]
pub fn typed_value(value: &MontyObject) -> Value {
    match value {
        MontyObject::None => typed("None", Value::Null),
        MontyObject::Bool(value) => typed("bool", *value),
        MontyObject::Int(value) if value.unsigned_abs() <= EXACT_MAX => typed("int", *value),
        MontyObject::Int(value) => typed("int", value.to_string()),
        MontyObject::BigInt(value) if value.bits() <= DECIMAL_BITS_MAX => {
            typed("int", value.to_string())
        }
        MontyObject::BigInt(value) => typed("repr", format!("<int of {} bits>", value.bits())),
        MontyObject::Float(value) => typed("float", float(*value)),
        MontyObject::String(text) => typed("str", text.as_str()),
        MontyObject::Bytes(bytes) => typed("bytes", STANDARD.encode(bytes)),
        MontyObject::List(items) => typed("list", typed_values(items)),
        MontyObject::Tuple(items) => typed("tuple", typed_values(items)),
        MontyObject::Set(items) => typed("set", typed_values(items)),
        MontyObject::Dict(pairs) => typed("dict", dictionary(pairs)),
        MontyObject::Repr(text) => typed("repr", text.as_str()),
        other => typed("repr", other.to_string()),
    }
}

fn typed(kind: &str, value: impl Into<Value>) -> Value {
    let mut object = Map::new();
    object.insert("type".to_owned(), kind.into());
    object.insert("value".to_owned(), value.into());
    Value::Object(object)
}

fn typed_values(items: &[MontyObject]) -> Value {
    Value::Array(items.iter().map(typed_value).collect())
}

/// Returns a number, or a text for what JSON has no number for.
fn float(value: f64) -> Value {
    if value.is_nan() {
        "nan".into()
    } else if value.is_infinite() {
        if value > 0.0 { "inf".into() } else { "-inf".into() }
    } else {
        value.into()
    }
}

/// Returns an object if each key is a `str`, otherwise a list of pairs.
fn dictionary(pairs: &DictPairs) -> Value {
    let object: Option<Map<String, Value>> = pairs
        .iter()
        .map(|(key, value)| match key {
            MontyObject::String(key) => Some((key.clone(), typed_value(value))),
            _ => None,
        })
        .collect();
    match object {
        Some(object) => Value::Object(object),
        None => {
            let pair = |key, value| Value::Array(vec![typed_value(key), typed_value(value)]);
            Value::Array(pairs.iter().map(|(key, value)| pair(key, value)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(value: &MontyObject) -> String {
        typed_value(value).to_string()
    }

    #[test]
    fn plain_values_keep_their_types() {
        let int = MontyObject::Int;
        assert_eq!(json(&MontyObject::None), r#"{"type":"None","value":null}"#);
        assert_eq!(json(&MontyObject::Bool(true)), r#"{"type":"bool","value":true}"#);
        assert_eq!(json(&int(6)), r#"{"type":"int","value":6}"#);
        assert_eq!(json(&int(1 << 53)), r#"{"type":"int","value":9007199254740992}"#);
        let beyond = r#"{"type":"int","value":"-9007199254740993"}"#;
        assert_eq!(json(&int(-(1 << 53) - 1)), beyond);
        assert_eq!(json(&int(i64::MIN)), r#"{"type":"int","value":"-9223372036854775808"}"#);
        assert_eq!(json(&MontyObject::Float(0.5)), r#"{"type":"float","value":0.5}"#);
        assert_eq!(json(&MontyObject::Float(f64::NAN)), r#"{"type":"float","value":"nan"}"#);
        let least = MontyObject::Float(f64::NEG_INFINITY);
        assert_eq!(json(&least), r#"{"type":"float","value":"-inf"}"#);
        assert_eq!(json(&MontyObject::Bytes(vec![0, 255])), r#"{"type":"bytes","value":"AP8="}"#);
    }

    #[test]
    fn collections_hold_typed_values() {
        let text = |text: &str| MontyObject::String(text.to_owned());
        let one = r#"{"type":"int","value":1}"#;
        let list = MontyObject::List(vec![MontyObject::Int(1)]);
        assert_eq!(json(&list), format!(r#"{{"type":"list","value":[{one}]}}"#));
        let named = MontyObject::dict(vec![(text("a"), MontyObject::Int(1))]);
        assert_eq!(json(&named), format!(r#"{{"type":"dict","value":{{"a":{one}}}}}"#));
        let mixed = MontyObject::dict(vec![(MontyObject::Int(1), MontyObject::Int(1))]);
        assert_eq!(json(&mixed), format!(r#"{{"type":"dict","value":[[{one},{one}]]}}"#));
    }

    #[test]
    fn anything_else_is_its_repr() {
        assert_eq!(json(&MontyObject::Ellipsis), r#"{"type":"repr","value":"Ellipsis"}"#);
        let date = MontyObject::Path("/in/a".to_owned());
        assert_eq!(json(&date), r#"{"type":"repr","value":"PosixPath('/in/a')"}"#);
        let fallback = MontyObject::Repr("<object>".to_owned());
        assert_eq!(json(&fallback), r#"{"type":"repr","value":"<object>"}"#);
    }
}

//! The value of a program as JSON with Python's types: `{"type": "int", "value": 6}`. A reader of
//! JSON that has only 64-bit floats reads every value exactly. What JSON cannot hold is written as
//! a text: a `repr`, and of an integer beyond 131,072 bits only its size. The JSON is streamed,
//! because the memory of the code is limited. Must never leave a part of a value as its result.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use monty_types::{DictPairs, MontyObject};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::failure::MontyFailure;

/// Integers up to here are exact in a 64-bit float.
const EXACT_MAX: u64 = 1 << 53;

/// Writing a longer integer in decimal takes too much time.
const DECIMAL_BITS_MAX: u64 = 1 << 17;

/// Writes the value of a program to a new file. A file that could not be written whole is removed.
///
/// # Errors
/// `Internal` if the file already exists or cannot be written.
pub fn write_result(path: &Path, value: &MontyObject) -> Result<(), MontyFailure> {
    let failed = |error: &io::Error, help: &str| {
        MontyFailure::Internal(format!("{}: {error}; help: {help}", path.display()))
    };
    let help = "name a new file in a writable directory";
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let file = opened.map_err(|error| failed(&error, help))?;
    let Err(error) = write_line(file, value) else { return Ok(()) };
    match fs::remove_file(path) {
        Ok(()) => Err(failed(&error, "make room for the value, or compute a smaller one")),
        Err(_) => Err(failed(&error, "remove the file, which is not complete")),
    }
}

fn write_line(out: impl Write, value: &MontyObject) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    serde_json::to_writer(&mut out, &TypedValue(value))?;
    out.write_all(b"\n")?;
    out.flush()
}

/// A value, written with its type.
struct TypedValue<'a>(&'a MontyObject);

impl Serialize for TypedValue<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            MontyObject::None => typed(out, "None", &()),
            MontyObject::Bool(value) => typed(out, "bool", value),
            MontyObject::Int(value) if value.unsigned_abs() <= EXACT_MAX => {
                typed(out, "int", value)
            }
            MontyObject::Int(value) => typed(out, "int", &format_args!("{value}")),
            MontyObject::BigInt(value) if value.bits() <= DECIMAL_BITS_MAX => {
                typed(out, "int", &format_args!("{value}"))
            }
            MontyObject::BigInt(value) => {
                typed(out, "repr", &format_args!("<int of {} bits>", value.bits()))
            }
            MontyObject::Float(value) if value.is_finite() => typed(out, "float", value),
            MontyObject::Float(value) => typed(out, "float", no_number(*value)),
            MontyObject::String(text) => typed(out, "str", text),
            MontyObject::Bytes(bytes) => {
                let base64 = Base64Display::new(bytes, &STANDARD);
                typed(out, "bytes", &format_args!("{base64}"))
            }
            MontyObject::List(items) => typed(out, "list", &TypedItems(items)),
            MontyObject::Tuple(items) => typed(out, "tuple", &TypedItems(items)),
            MontyObject::Set(items) => typed(out, "set", &TypedItems(items)),
            MontyObject::Dict(pairs) => typed(out, "dict", &TypedPairs(pairs)),
            MontyObject::Repr(text) => typed(out, "repr", text),
            other => typed(out, "repr", &format_args!("{other}")),
        }
    }
}

fn typed<S: Serializer, T: Serialize + ?Sized>(
    out: S,
    kind: &str,
    value: &T,
) -> Result<S::Ok, S::Error> {
    let mut object = out.serialize_struct("TypedValue", 2)?;
    object.serialize_field("type", kind)?;
    object.serialize_field("value", value)?;
    object.end()
}

/// Returns the text for a float that JSON has no number for.
fn no_number(value: f64) -> &'static str {
    if value.is_nan() {
        "nan"
    } else if value > 0.0 {
        "inf"
    } else {
        "-inf"
    }
}

struct TypedItems<'a>(&'a [MontyObject]);

impl Serialize for TypedItems<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(self.0.iter().map(TypedValue))
    }
}

/// A dictionary: an object if each key is a `str`, otherwise a list of pairs.
struct TypedPairs<'a>(&'a DictPairs);

impl Serialize for TypedPairs<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let is_named = self.0.iter().all(|(key, _)| matches!(key, MontyObject::String(_)));
        if !is_named {
            let pairs = self.0.iter();
            return out.collect_seq(pairs.map(|(key, value)| [key, value].map(TypedValue)));
        }
        out.collect_map(self.0.iter().filter_map(|(key, value)| match key {
            MontyObject::String(key) => Some((key, TypedValue(value))),
            _ => None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(value: &MontyObject) -> String {
        serde_json::to_string(&TypedValue(value)).unwrap()
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
        let ordered = vec![(text("b"), MontyObject::Int(1)), (text("a"), MontyObject::Int(1))];
        let ordered = json(&MontyObject::dict(ordered));
        assert_eq!(ordered, format!(r#"{{"type":"dict","value":{{"b":{one},"a":{one}}}}}"#));
        assert_eq!(json(&MontyObject::dict(Vec::new())), r#"{"type":"dict","value":{}}"#);
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

    struct FullFile;

    impl Write for FullFile {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_unwritten_value_is_an_error() {
        let error = write_line(FullFile, &MontyObject::None).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}

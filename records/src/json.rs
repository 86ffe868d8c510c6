//! The facts of a record as JSON: written from the same tree as the front matter, and read back
//! strictly. A number that JSON readers would round must never be written as one, and an object
//! with a name twice must never be read.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map as Object, Value};

use crate::yaml::{Map, Node};

/// Beyond it binary64 has gaps: RFC 8785 and protobuf's `Struct` have no other numbers.
pub(crate) const INTEGER_MAX: u64 = (1 << 53) - 1;

/// The map as an object, its keys in the map's order; the same map always gives the same text.
pub(crate) fn object(map: &Map) -> String {
    let mut text = String::new();
    push_object(&mut text, map);
    text
}

fn push_object(text: &mut String, map: &Map) {
    text.push('{');
    for (at, (key, node)) in map.iter().enumerate() {
        text.push_str(if at == 0 { "\"" } else { ",\"" });
        // Keys are words of this program.
        text.push_str(key);
        text.push_str("\":");
        push(text, node);
    }
    text.push('}');
}

fn push(text: &mut String, node: &Node) {
    match node {
        Node::Null => text.push_str("null"),
        Node::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Node::Int(value) => push_integer(text, &value.to_string(), value.unsigned_abs()),
        Node::Uint(value) => push_integer(text, &value.to_string(), *value),
        Node::Number(digits) => text.push_str(digits),
        Node::Word(word) => text.push_str(&string(word)),
        Node::Text(words) | Node::Masked(words, _) => text.push_str(&string(words)),
        Node::List(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { "," });
                push(text, item);
            }
            text.push(']');
        }
        Node::Map(map) => push_object(text, map),
    }
}

fn push_integer(text: &mut String, digits: &str, size: u64) {
    let quote = if size > INTEGER_MAX { "\"" } else { "" };
    text.extend([quote, digits, quote]);
}

/// A string in quotes.
pub(crate) fn string(text: &str) -> String {
    Value::from(text).to_string()
}

/// What a YAML reader gives for a front matter, with its large numbers as JSON has them here.
pub(crate) fn as_written(value: Value) -> Value {
    match value {
        Value::Number(number) => {
            let size = number.as_i64().map(i64::unsigned_abs).or_else(|| number.as_u64());
            match size {
                Some(size) if size > INTEGER_MAX => Value::String(number.to_string()),
                _ => Value::Number(number),
            }
        }
        Value::Array(items) => Value::Array(items.into_iter().map(as_written).collect()),
        Value::Object(map) => {
            Value::Object(map.into_iter().map(|(key, value)| (key, as_written(value))).collect())
        }
        other => other,
    }
}

/// A value in which no object has a name twice.
pub(crate) struct Strict(pub(crate) Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without a name twice in an object")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Object::new();
        while let Some((key, Strict(value))) = entries.next_entry::<String, Strict>()? {
            if object.insert(key, value).is_some() {
                return Err(A::Error::custom("a name twice in an object"));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_value_is_read_as_it_was_written() {
        let map: Map = vec![
            ("none", Node::Null),
            ("text", Node::text("\"\\\n\u{1}\u{202e}é𝄞")),
            ("largest", Node::Uint(INTEGER_MAX)),
            ("larger", Node::Uint(INTEGER_MAX + 1)),
            ("less", Node::Int(-1)),
            ("second", Node::Number("0.500000".into())),
            ("list", Node::List(vec![Node::Bool(true), Node::Word("unknown")])),
            ("map", Node::Map(vec![])),
        ];
        let text = object(&map);
        let expected = "{\"none\":null,\"text\":\"\\\"\\\\\\n\\u0001\u{202e}é𝄞\",\
                        \"largest\":9007199254740991,\"larger\":\"9007199254740992\",\"less\":-1,\
                        \"second\":0.500000,\"list\":[true,\"unknown\"],\"map\":{}}";
        assert_eq!(text, expected);
        let Strict(value) = serde_json::from_str(&text).unwrap();
        let yaml: Value = serde_yaml::from_str(&crate::yaml::block(&map, 0)).unwrap();
        assert_eq!(as_written(yaml), value);
    }

    #[test]
    fn a_name_twice_is_refused_at_any_depth() {
        assert!(serde_json::from_str::<Strict>(r#"{"a":[{"b":1,"c":2}]}"#).is_ok());
        for text in [r#"{"a":1,"a":1}"#, r#"[{"a":{"b":1,"b":2}}]"#] {
            assert!(serde_json::from_str::<Strict>(text).is_err(), "{text}");
        }
    }
}

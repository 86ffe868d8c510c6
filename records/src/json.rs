//! The facts of a record as JSON, written from the same tree as the front matter. A number that
//! JSON readers would round must never be written as a number.

use serde_json::Value;
use validator::JSON_INTEGER_MAX;

use crate::yaml::{FactMap, FactNode};

/// Writes the map as an object, with its keys in the map's order. The output is deterministic.
pub(crate) fn object(map: &FactMap) -> String {
    let mut text = String::new();
    push_object(&mut text, map);
    text
}

fn push_object(text: &mut String, map: &FactMap) {
    text.push('{');
    for (at, (key, node)) in map.iter().enumerate() {
        text.push_str(if at == 0 { "\"" } else { ",\"" });
        // Keys are constants of this program and need no escaping.
        text.push_str(key);
        text.push_str("\":");
        push(text, node);
    }
    text.push('}');
}

fn push(text: &mut String, node: &FactNode) {
    match node {
        FactNode::Null => text.push_str("null"),
        FactNode::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        FactNode::Int(value) => push_integer(text, &value.to_string(), value.unsigned_abs()),
        FactNode::Uint(value) => push_integer(text, &value.to_string(), *value),
        FactNode::Number(digits) => text.push_str(digits),
        FactNode::Keyword(word) => text.push_str(&string(word)),
        FactNode::Text(words) | FactNode::Masked(words, _) => text.push_str(&string(words)),
        FactNode::List(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { "," });
                push(text, item);
            }
            text.push(']');
        }
        FactNode::Map(map) => push_object(text, map),
    }
}

fn push_integer(text: &mut String, digits: &str, size: u64) {
    let quote = if size > JSON_INTEGER_MAX { "\"" } else { "" };
    text.extend([quote, digits, quote]);
}

pub(crate) fn string(text: &str) -> String {
    Value::from(text).to_string()
}

/// Converts a parsed YAML front matter: large numbers become strings, as this module writes them.
pub(crate) fn normalize_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => {
            let size = number.as_i64().map(i64::unsigned_abs).or_else(|| number.as_u64());
            match size {
                Some(size) if size > JSON_INTEGER_MAX => Value::String(number.to_string()),
                _ => Value::Number(number),
            }
        }
        Value::Array(items) => Value::Array(items.into_iter().map(normalize_numbers).collect()),
        Value::Object(map) => Value::Object(
            map.into_iter().map(|(key, value)| (key, normalize_numbers(value))).collect(),
        ),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use validator::StrictJson;

    #[test]
    fn every_kind_of_value_is_read_as_it_was_written() {
        let map: FactMap = vec![
            ("none", FactNode::Null),
            ("text", FactNode::text("\"\\\n\u{1}\u{202e}é𝄞")),
            ("largest", FactNode::Uint(JSON_INTEGER_MAX)),
            ("larger", FactNode::Uint(JSON_INTEGER_MAX + 1)),
            ("less", FactNode::Int(-1)),
            ("second", FactNode::Number("0.500000".into())),
            ("list", FactNode::List(vec![FactNode::Bool(true), FactNode::Keyword("unknown")])),
            ("map", FactNode::Map(vec![])),
        ];
        let text = object(&map);
        let expected = "{\"none\":null,\"text\":\"\\\"\\\\\\n\\u0001\u{202e}é𝄞\",\
                        \"largest\":9007199254740991,\"larger\":\"9007199254740992\",\"less\":-1,\
                        \"second\":0.500000,\"list\":[true,\"unknown\"],\"map\":{}}";
        assert_eq!(text, expected);
        let StrictJson(value) = serde_json::from_str(&text).unwrap();
        let yaml: Value = serde_yaml::from_str(&crate::yaml::block(&map, 0)).unwrap();
        assert_eq!(normalize_numbers(yaml), value);
    }
}

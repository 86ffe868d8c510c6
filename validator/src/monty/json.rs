//! One JSON object, strictly: no key twice at any depth, no text after it, bounded depth. It must
//! never let the last of two equal keys win, for a person reads the first.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Why a text is no such object.
pub(crate) struct Wrong {
    /// Which line of the text, from 1.
    pub(crate) line: usize,
    pub(crate) message: String,
}

pub(crate) fn object(text: &str) -> Result<Map<String, Value>, Wrong> {
    match serde_json::from_str(text) {
        Ok(Strict(Value::Object(object))) => Ok(object),
        Ok(_) => Err(Wrong { line: 1, message: "not an object".to_owned() }),
        Err(error) => {
            let said = error.to_string();
            let message = said.split(" at line ").next().unwrap_or(&said).to_owned();
            Err(Wrong { line: error.line().max(1), message })
        }
    }
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any).map(Self)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
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

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Strict(value))) = members.next_entry::<String, Strict>()? {
            if object.insert(key, value).is_some() {
                return Err(A::Error::custom("a key appears twice"));
            }
        }
        Ok(Value::Object(object))
    }
}

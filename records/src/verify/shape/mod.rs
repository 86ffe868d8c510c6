//! A check of a record's facts against their schema, so that no fact's form disables a rule that
//! reads it. A part of the schema that is not understood here must match nothing.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use model::UtcTime;
use serde_json::Value;

use crate::predicate::predicate_schema;
use crate::verify_error::VerifyError;

/// The maximum number of reported problems of one record.
const PROBLEMS_MAX: usize = 20;

/// The age of a record: whether keys of the outermost object may be absent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordAge {
    /// The predicate of a statement has all keys.
    Stated,
    /// A record without a statement was written by an older version, with fewer keys.
    Older,
}

/// Returns every fact that violates the schema.
pub(super) fn faults(file: &str, facts: &Value, age: RecordAge) -> Vec<VerifyError> {
    static SHAPE: OnceLock<SchemaShape> = OnceLock::new();
    let shape = SHAPE.get_or_init(|| SchemaShape::of_schema(&predicate_schema()));
    let mut problems = Vec::new();
    shape.check(facts, "", age, &mut problems);
    problems.truncate(PROBLEMS_MAX);
    let fault = |problem| VerifyError::Record { file: file.to_owned(), problem };
    problems.into_iter().map(fault).collect()
}

/// The allowed form of a value.
#[derive(Debug)]
enum SchemaShape {
    /// A part of the schema that is not understood.
    Nothing,
    Null,
    Flag,
    OneOf(Vec<Value>),
    Text(Option<SchemaPattern>),
    Time(SchemaPattern),
    /// Both bounds are included.
    Integer {
        min: i64,
        max: i64,
    },
    Number {
        min: f64,
    },
    List(Box<SchemaShape>),
    Object(BTreeMap<String, SchemaField>),
    Any(Vec<SchemaShape>),
}

#[derive(Debug)]
struct SchemaField {
    shape: SchemaShape,
    required: bool,
}

impl SchemaShape {
    fn of_schema(schema: &Value) -> Self {
        Self::of(schema, &schema["$defs"])
    }

    fn of(schema: &Value, defs: &Value) -> Self {
        let all = |list: &Value| list.as_array().cloned().unwrap_or_default();
        if let Some(name) = schema["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/")) {
            return Self::of(&defs[name], defs);
        }
        if let Some(only) = schema.get("const") {
            return Self::OneOf(vec![only.clone()]);
        }
        if schema.get("enum").is_some() {
            return Self::OneOf(all(&schema["enum"]));
        }
        if schema.get("anyOf").is_some() {
            return Self::Any(all(&schema["anyOf"]).iter().map(|it| Self::of(it, defs)).collect());
        }
        match schema["type"].as_str() {
            Some("null") => Self::Null,
            Some("boolean") => Self::Flag,
            Some("string") => Self::text(schema),
            Some("integer") => match (schema["minimum"].as_i64(), schema["maximum"].as_i64()) {
                (Some(min), Some(max)) => Self::Integer { min, max },
                _ => Self::Nothing,
            },
            Some("number") => {
                schema["minimum"].as_f64().map_or(Self::Nothing, |min| Self::Number { min })
            }
            Some("array") => Self::List(Box::new(Self::of(&schema["items"], defs))),
            Some("object") => Self::object(schema, defs),
            _ => Self::Nothing,
        }
    }

    fn text(schema: &Value) -> Self {
        let pattern = schema["pattern"].as_str().map(SchemaPattern::read);
        match (pattern, schema["format"].as_str()) {
            (None, None) => Self::Text(None),
            (Some(Some(pattern)), None) => Self::Text(Some(pattern)),
            (Some(Some(pattern)), Some("date-time")) => Self::Time(pattern),
            _ => Self::Nothing,
        }
    }

    fn object(schema: &Value, defs: &Value) -> Self {
        let (Some(properties), Some(required)) =
            (schema["properties"].as_object(), schema["required"].as_array())
        else {
            return Self::Nothing;
        };
        if schema["additionalProperties"] != false {
            return Self::Nothing;
        }
        let field = |(key, value): (&String, &Value)| {
            let required = required.iter().any(|it| it == key);
            (key.clone(), SchemaField { shape: Self::of(value, defs), required })
        };
        Self::Object(properties.iter().map(field).collect())
    }

    /// Reports the values at this place that are not allowed.
    fn check(&self, value: &Value, place: &str, age: RecordAge, problems: &mut Vec<String>) {
        match (self, value) {
            (Self::List(items), Value::Array(values)) => {
                for (value, at) in values.iter().zip(0..) {
                    items.check(value, &join_path(place, &at), RecordAge::Stated, problems);
                }
            }
            (Self::Object(fields), Value::Object(values)) => {
                for (key, value) in values {
                    match fields.get(key) {
                        Some(field) => field.shape.check(
                            value,
                            &join_path(place, key),
                            RecordAge::Stated,
                            problems,
                        ),
                        None => problems.push(format!("{}: unknown key", join_path(place, key))),
                    }
                }
                let needed =
                    fields.iter().filter(|(_, it)| it.required && age == RecordAge::Stated);
                let missing = needed.filter(|(key, _)| !values.contains_key(*key));
                problems
                    .extend(missing.map(|(key, _)| format!("{}: missing", join_path(place, key))));
            }
            (Self::Any(shapes), _) => {
                let fits = shapes.iter().any(|shape| shape.fits(value));
                // The problems of a composite's parts are more precise than one about the whole.
                let parts = shapes.iter().find(|shape| shape.has_same_container(value));
                match parts {
                    _ if fits => {}
                    Some(shape) => shape.check(value, place, RecordAge::Stated, problems),
                    None => problems.push(unfit(place, value)),
                }
            }
            _ if self.fits(value) => {}
            _ => problems.push(unfit(place, value)),
        }
    }

    fn has_same_container(&self, value: &Value) -> bool {
        match self {
            Self::List(_) => value.is_array(),
            Self::Object(_) => value.is_object(),
            // Of a known value or `unknown`, or of a nullable value.
            Self::Any(shapes) => shapes.iter().any(|shape| shape.has_same_container(value)),
            _ => false,
        }
    }

    fn fits(&self, value: &Value) -> bool {
        match self {
            Self::Nothing => false,
            Self::Null => value.is_null(),
            Self::Flag => value.is_boolean(),
            Self::OneOf(values) => values.contains(value),
            Self::Text(pattern) => value
                .as_str()
                .is_some_and(|text| pattern.as_ref().is_none_or(|pattern| pattern.matches(text))),
            Self::Time(pattern) => value
                .as_str()
                .is_some_and(|text| pattern.matches(text) && text.parse::<UtcTime>().is_ok()),
            Self::Integer { min, max } => {
                value.as_i64().is_some_and(|number| (*min..=*max).contains(&number))
            }
            Self::Number { min } => value.as_f64().is_some_and(|number| number >= *min),
            Self::Any(shapes) => shapes.iter().any(|shape| shape.fits(value)),
            Self::List(_) | Self::Object(_) => {
                let mut problems = Vec::new();
                self.has_same_container(value) && {
                    self.check(value, "", RecordAge::Stated, &mut problems);
                    problems.is_empty()
                }
            }
        }
    }
}

fn join_path(place: &str, part: &impl std::fmt::Display) -> String {
    if place.is_empty() { part.to_string() } else { format!("{place}.{part}") }
}

fn unfit(place: &str, value: &Value) -> String {
    match value {
        Value::Array(_) => format!("{place}: unexpected list"),
        Value::Object(_) => format!("{place}: unexpected object"),
        other => format!("{place}: unexpected value {other}"),
    }
}

/// Runs of characters of a class that cover a text, without backtracking: the schema's patterns.
#[derive(Debug)]
struct SchemaPattern(Vec<CharRun>);

#[derive(Debug)]
struct CharRun {
    ranges: Vec<(u8, u8)>,
    min: usize,
    max: usize,
}

impl SchemaPattern {
    /// Returns `None` if it has anything but classes, plain characters and repetition counts.
    fn read(text: &str) -> Option<Self> {
        let mut rest = text.strip_prefix('^')?.strip_suffix('$')?;
        let mut runs = Vec::new();
        while let Some(first) = rest.chars().next() {
            let (ranges, after) = match rest.strip_prefix('[') {
                Some(class) => {
                    let (class, after) = class.split_once(']')?;
                    (ranges(class.as_bytes())?, after)
                }
                None if first.is_ascii_alphanumeric() || "-:".contains(first) => {
                    let byte = u8::try_from(first).ok()?;
                    (vec![(byte, byte)], rest.get(1..)?)
                }
                None => return None,
            };
            let (min, max, after) = match after.strip_prefix('{') {
                Some(counts) => {
                    let (counts, after) = counts.split_once('}')?;
                    let (min, max) = counts.split_once(',').unwrap_or((counts, counts));
                    (min.parse().ok()?, max.parse().ok()?, after)
                }
                None => (1, 1, after),
            };
            runs.push(CharRun { ranges, min, max });
            rest = after;
        }
        Some(Self(runs))
    }

    fn matches(&self, text: &str) -> bool {
        let mut rest = text.as_bytes();
        for run in &self.0 {
            let within =
                |byte: &&u8| run.ranges.iter().any(|(from, to)| (from..=to).contains(byte));
            let count = rest.iter().take(run.max).take_while(within).count();
            if count < run.min {
                return false;
            }
            rest = rest.get(count..).unwrap_or_default();
        }
        rest.is_empty()
    }
}

/// Parses the ranges of a class such as `0-9a-f`.
fn ranges(class: &[u8]) -> Option<Vec<(u8, u8)>> {
    let (ranges, rest) = class.as_chunks::<3>();
    let range = |range: &[u8; 3]| match range {
        [from, b'-', to] => Some((*from, *to)),
        _ => None,
    };
    if rest.is_empty() { ranges.iter().map(range).collect() } else { None }
}

#[cfg(test)]
mod tests;

//! A received artifact: its content and its embedded signature. The signed bytes must always be
//! computed from the whole received object, never from the parsed content.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::artifact::Artifact;
use super::canonical::canonical;

/// An artifact that has the form of its schema. Its signature is not verified.
#[derive(Clone, Debug)]
pub struct Sealed<T> {
    artifact: Artifact,
    object: Map<String, Value>,
    content: T,
}

/// The reason why a document is not the expected artifact.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    artifact: Artifact,
    what: String,
}

impl Malformed {
    pub(super) fn new(artifact: Artifact, what: impl Into<String>) -> Self {
        Self { artifact, what: what.into() }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The parser quotes names and values of the document.
        write!(f, "{}: {}", self.artifact.as_str(), model::escape_line(&self.what))
    }
}

impl std::error::Error for Malformed {}

/// The content of an artifact without its type and signature.
pub(super) trait Content: DeserializeOwned {
    const ARTIFACT: Artifact;

    /// Checks conditions that involve more than one field.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

#[expect(private_bounds, reason = "the artifacts are those of the seed and the set is closed")]
impl<T: Content> Sealed<T> {
    /// Reads an artifact with exactly the fields of its schema.
    ///
    /// # Errors
    ///
    /// [`Malformed`] states the first problem.
    pub fn read(value: &Value) -> Result<Self, Malformed> {
        let artifact = T::ARTIFACT;
        let wrong = |what: &str| Malformed::new(artifact, what);
        let Value::Object(object) = value else { return Err(wrong("not an object")) };
        let mut rest = object.clone();
        match rest.remove("@type") {
            Some(Value::String(name)) if name == artifact.as_str() => {}
            None if !artifact.says_its_type() => {}
            Some(_) => return Err(wrong("`@type` is that of another artifact")),
            None => return Err(wrong("`@type` is missing")),
        }
        match (rest.remove(seal_name(artifact)), artifact) {
            (Some(Value::String(_)), Artifact::Ibe) => {}
            (_, Artifact::Ibe) => return Err(wrong("`sig` is missing or not text")),
            (Some(Value::Object(_)), _) | (None, Artifact::Crl) => {}
            _ => return Err(wrong("`proof` is missing or not an object")),
        }
        if let Some(name) = rest.iter().find_map(|(name, value)| null_in(name, value)) {
            return Err(wrong(&format!("`{name}` is null; leave it out")));
        }
        let content: T = serde_json::from_value(Value::Object(rest))
            .map_err(|error| Malformed::new(artifact, error.to_string()))?;
        content.check().map_err(|what| Malformed::new(artifact, what))?;
        Ok(Self { artifact, object: object.clone(), content })
    }
}

impl<T> Sealed<T> {
    /// Returns the content.
    #[must_use]
    pub fn content(&self) -> &T {
        &self.content
    }

    /// Returns the kind of artifact.
    #[must_use]
    pub fn artifact(&self) -> Artifact {
        self.artifact
    }

    /// Returns the embedded signature, or the reason why none counts.
    pub(super) fn jws(&self) -> Result<&str, &'static str> {
        match self.object.get(seal_name(self.artifact)) {
            Some(Value::String(sig)) if sig.is_empty() => Err("`sig` is empty"),
            Some(Value::String(sig)) => Ok(sig),
            Some(Value::Object(proof)) if proof.is_empty() => Err("`proof` is empty"),
            Some(Value::Object(proof)) => match (proof.len(), proof.get("jws")) {
                (1, Some(Value::String(jws))) => Ok(jws),
                _ => Err("the proof is not {\"jws\": …} alone"),
            },
            _ => Err("`proof` is missing"),
        }
    }

    /// Returns the payloads that the signature may cover: with an empty seal, and for the envelope
    /// also without it. The seed describes both forms.
    pub(super) fn payloads(&self) -> Vec<Vec<u8>> {
        let mut object = self.object.clone();
        let name = seal_name(self.artifact);
        let blank = match self.artifact {
            Artifact::Ibe => Value::String(String::new()),
            _ => Value::Object(Map::new()),
        };
        object.insert(name.to_owned(), blank);
        let mut payloads = vec![canonical(&Value::Object(object.clone()))];
        if self.artifact == Artifact::Ibe {
            object.remove(name);
            payloads.push(canonical(&Value::Object(object)));
        }
        payloads
    }
}

/// Returns the name of a null member, if nulls are not allowed there.
fn null_in<'a>(name: &'a str, value: &'a Value) -> Option<&'a str> {
    match value {
        // A tool, a JSON Schema or a guard may use null there.
        _ if ["args", "argsSchema", "equals"].contains(&name) => None,
        Value::Null => Some(name),
        Value::Array(items) => items.iter().find_map(|item| null_in(name, item)),
        Value::Object(members) => members.iter().find_map(|(name, value)| null_in(name, value)),
        _ => None,
    }
}

/// Returns the name of the member with the signature.
pub(super) fn seal_name(artifact: Artifact) -> &'static str {
    if artifact == Artifact::Ibe { "sig" } else { "proof" }
}

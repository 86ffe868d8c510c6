//! A received artifact: its content and its embedded signature. The signed bytes must always be
//! computed from the whole received object, never from the parsed content.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::artifact::AisArtifact;
use super::canonical::canonical;

/// An artifact that has the form of its schema. Its signature is not verified.
#[derive(Clone, Debug)]
pub struct UnverifiedArtifact<T> {
    artifact: AisArtifact,
    object: Map<String, Value>,
    content: T,
}

/// The reason why a document is not the expected artifact.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArtifactError {
    artifact: AisArtifact,
    what: String,
}

impl ArtifactError {
    pub(super) fn new(artifact: AisArtifact, what: impl Into<String>) -> Self {
        Self { artifact, what: what.into() }
    }

    /// Returns the artifact that the document should be.
    #[must_use]
    pub fn artifact(&self) -> AisArtifact {
        self.artifact
    }
}

impl fmt::Display for ArtifactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The parser quotes names and values of the document.
        write!(f, "{}: {}", self.artifact.as_str(), model::escape_line(&self.what))
    }
}

impl std::error::Error for ArtifactError {}

/// The content of an artifact without its type and signature.
pub(super) trait ArtifactContent: DeserializeOwned {
    const ARTIFACT: AisArtifact;

    /// Checks conditions that involve more than one field.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

#[expect(private_bounds, reason = "the artifacts are those of the seed and the set is closed")]
impl<T: ArtifactContent> UnverifiedArtifact<T> {
    /// Reads an artifact with exactly the fields of its schema.
    ///
    /// # Errors
    /// [`ArtifactError`] states the first problem.
    pub fn read(value: &Value) -> Result<Self, ArtifactError> {
        let artifact = T::ARTIFACT;
        let wrong = |what: &str| ArtifactError::new(artifact, what);
        let Value::Object(object) = value else { return Err(wrong("not an object")) };
        let mut rest = object.clone();
        match rest.remove("@type") {
            Some(Value::String(name)) if name == artifact.as_str() => {}
            None if !artifact.requires_type() => {}
            Some(_) => return Err(wrong("`@type` is that of another artifact")),
            None => return Err(wrong("`@type` is missing")),
        }
        match (rest.remove(signature_member(artifact)), artifact) {
            (Some(Value::String(_)), AisArtifact::Ibe) => {}
            (_, AisArtifact::Ibe) => return Err(wrong("`sig` is missing or not text")),
            (Some(Value::Object(_)), _) | (None, AisArtifact::Crl) => {}
            _ => return Err(wrong("`proof` is missing or not an object")),
        }
        if let Some(name) = rest.iter().find_map(|(name, value)| null_in(name, value)) {
            return Err(wrong(&format!("`{name}` is null; leave it out")));
        }
        let content: T = serde_json::from_value(Value::Object(rest))
            .map_err(|error| ArtifactError::new(artifact, error.to_string()))?;
        content.check().map_err(|what| ArtifactError::new(artifact, what))?;
        Ok(Self { artifact, object: object.clone(), content })
    }
}

impl<T> UnverifiedArtifact<T> {
    /// Returns the content.
    #[must_use]
    pub fn content(&self) -> &T {
        &self.content
    }

    /// Returns the kind of artifact.
    #[must_use]
    pub fn artifact(&self) -> AisArtifact {
        self.artifact
    }

    /// Returns the embedded signature, or the reason why none counts.
    pub(super) fn jws(&self) -> Result<&str, &'static str> {
        match self.object.get(signature_member(self.artifact)) {
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
        let name = signature_member(self.artifact);
        let blank = match self.artifact {
            AisArtifact::Ibe => Value::String(String::new()),
            _ => Value::Object(Map::new()),
        };
        object.insert(name.to_owned(), blank);
        let mut payloads = vec![canonical(&Value::Object(object.clone()))];
        if self.artifact == AisArtifact::Ibe {
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

pub(super) fn signature_member(artifact: AisArtifact) -> &'static str {
    if artifact == AisArtifact::Ibe { "sig" } else { "proof" }
}

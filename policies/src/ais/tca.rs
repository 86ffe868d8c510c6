//! The Tool Capability Assertion: the arguments and effects of a tool's operations. An undeclared
//! effect must never count as allowed.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::artifact::AisArtifact;
use super::field::{JsonCount, NonEmptyText, Uri};
use super::unverified::ArtifactContent;

const OPERATIONS_MAX: usize = 1000;

/// The capabilities of a tool (seed, section 5).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tca {
    /// `urn:tca:<tool>@<version>`
    pub id: Uri,
    /// The operations, at most 1000, each with its own name.
    pub operations: Vec<Operation>,
    /// The operator of the tool, by a stable identifier.
    pub operator: NonEmptyText,
}

/// One operation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Operation {
    /// The name, unique in the assertion.
    pub name: NonEmptyText,
    /// The JSON Schema of the arguments.
    pub args_schema: Value,
    /// The declared effects. A step must not expect others.
    pub effects: Effects,
}

/// The effects of an operation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Effects {
    /// The number of writes of one call.
    pub writes: Writes,
    /// The classes of data that it uses.
    pub data_classes: Vec<NonEmptyText>,
    /// The hosts that it calls, `host` or `host:port`; none if missing.
    pub destinations: Option<Vec<NonEmptyText>>,
}

/// The number of writes of an operation.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
pub enum Writes {
    /// At most this number.
    Most(JsonCount),
    /// From the first to the second number: `[0, 5]`.
    Between(JsonCount, JsonCount),
    /// The same with names: `{"min": 0, "max": 5}`.
    Range(WritesRange),
}

/// A range of writes with names.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WritesRange {
    min: JsonCount,
    max: JsonCount,
}

impl Writes {
    /// Returns the minimum and the maximum.
    #[must_use]
    pub fn bounds(self) -> (u64, u64) {
        match self {
            Self::Most(most) => (0, most.get()),
            Self::Between(least, most) => (least.get(), most.get()),
            Self::Range(WritesRange { min, max }) => (min.get(), max.get()),
        }
    }
}

impl Tca {
    /// Returns the operation of this name.
    #[must_use]
    pub fn operation(&self, name: &str) -> Option<&Operation> {
        self.operations.iter().find(|operation| operation.name.as_str() == name)
    }
}

fn is_tca_id(id: &str) -> bool {
    let parts = id.strip_prefix("urn:tca:").and_then(|rest| rest.rsplit_once('@'));
    parts.is_some_and(|(tool, version)| !tool.is_empty() && !version.is_empty())
}

impl ArtifactContent for Tca {
    const ARTIFACT: AisArtifact = AisArtifact::Tca;

    fn check(&self) -> Result<(), String> {
        if !is_tca_id(self.id.as_str()) {
            return Err("`id` is not urn:tca:<tool>@<version>".to_owned());
        }
        if self.operations.len() > OPERATIONS_MAX {
            return Err(format!("more than {OPERATIONS_MAX} operations"));
        }
        let mut names = BTreeSet::new();
        for operation in &self.operations {
            let name = operation.name.as_str();
            if !names.insert(name) {
                return Err(format!("two operations are called `{name}`"));
            }
            if !operation.args_schema.is_object() {
                return Err(format!("`argsSchema` of `{name}` is not an object"));
            }
            let (least, most) = operation.effects.writes.bounds();
            if least > most {
                return Err(format!("`effects.writes` of `{name}` is an empty range"));
            }
        }
        Ok(())
    }
}

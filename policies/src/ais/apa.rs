//! The Agent Plan Assertion: the steps that an agent proposes. A plan must never have two steps of one
//! name, for the envelope names a step and nothing else.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::artifact::Artifact;
use super::field::{Count, Fraction, Text, Uri};
use super::seal::Content;

const STEPS_MAX: usize = 1000;

/// A plan (seed, section 3).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Apa {
    /// Its name.
    pub id: Uri,
    /// The intent that it serves.
    pub uia: Uri,
    /// Who planned.
    pub model: Model,
    /// What is to be done.
    pub steps: Vec<Step>,
    /// What all of it amounts to.
    pub totals: Totals,
}

/// A model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Who makes it.
    pub vendor: Text,
    /// Which version.
    pub version: Text,
    /// Which one exactly.
    pub hash: Text,
}

/// One call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its name, unique in the plan, without `#`.
    pub id: Text,
    /// The operation.
    pub tool: Text,
    /// Its arguments, all of them, with their values.
    pub args: Map<String, Value>,
    /// What it will do.
    pub expected: Expected,
    /// How it serves the intent.
    pub alignment: Alignment,
    /// The group of alternatives that it belongs to, of which one is done.
    pub alternative: Option<Text>,
    /// What chooses it from its group.
    pub guard: Option<StepGuard>,
}

/// What a step will do.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Expected {
    /// The classes of data that it touches.
    pub data_classes: Vec<Text>,
    /// How much it writes.
    pub writes: Count,
    /// How many calls leave the host; none if missing.
    pub external_calls: Option<Count>,
}

/// How a step serves the intent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alignment {
    /// As the method of the proof computes it.
    pub score: Fraction,
    /// In words.
    pub why: Text,
}

/// A condition that the artifacts themselves decide.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepGuard {
    /// A JSON Pointer (RFC 6901) into the bundle, below `/uia` or `/tca`.
    pub pointer: String,
    /// The value that must stand there.
    pub equals: Value,
}

/// What a plan amounts to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Totals {
    /// Writes.
    pub predicted_writes: Count,
    /// Records.
    pub predicted_records: Count,
    /// External calls; none if missing.
    pub predicted_external_calls: Option<Count>,
}

impl Expected {
    /// How many calls leave the host.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.external_calls.map_or(0, Count::get)
    }
}

impl Totals {
    /// How many calls leave the host.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.predicted_external_calls.map_or(0, Count::get)
    }
}

impl Apa {
    /// The step that a reference names: `s1`, or `<id of the plan>#s1`.
    #[must_use]
    pub fn step(&self, reference: &str) -> Option<&Step> {
        let id = match reference.rsplit_once('#') {
            Some((plan, id)) => {
                Uri::try_from(plan.to_owned()).ok().filter(|plan| *plan == self.id)?;
                id
            }
            None => reference,
        };
        self.steps.iter().find(|step| step.id.as_str() == id)
    }
}

impl Content for Apa {
    const ARTIFACT: Artifact = Artifact::Apa;

    fn check(&self) -> Result<(), String> {
        if self.steps.len() > STEPS_MAX {
            return Err(format!("more than {STEPS_MAX} steps"));
        }
        let mut names = BTreeSet::new();
        for step in &self.steps {
            let id = step.id.as_str();
            if id.contains('#') {
                return Err(format!("the step `{id}` has a `#` in its name"));
            }
            if !names.insert(id) {
                return Err(format!("two steps are called `{id}`"));
            }
        }
        Ok(())
    }
}

//! The Agent Plan Assertion: the steps that an agent proposes. The steps of a plan must never share
//! a name, because the envelope identifies a step only by name.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::artifact::AisArtifact;
use super::field::{Fraction, JsonCount, NonEmptyText, Uri};
use super::unverified::ArtifactContent;

const STEPS_MAX: usize = 1000;

/// A plan (seed, section 3).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Apa {
    /// The identifier, by which proof, envelope and revocation list refer to the plan.
    pub id: Uri,
    /// The intent that it serves.
    pub uia: Uri,
    /// The model that made the plan.
    pub model: PlanModel,
    /// The steps, at most 1000. An envelope is about one of them.
    pub steps: Vec<PlanStep>,
    /// The totals; for writes and external calls at least the sum of the steps.
    pub totals: PlanTotals,
}

/// A model, by vendor and version.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanModel {
    /// The vendor of the model; the guard does not check it.
    pub vendor: NonEmptyText,
    /// The vendor's version of the model; the guard does not check it.
    pub version: NonEmptyText,
    /// The hash of exactly this model.
    pub hash: NonEmptyText,
}

/// One step of a plan: one call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanStep {
    /// The name, unique in the plan, without `#`.
    pub id: NonEmptyText,
    /// The operation.
    pub tool: NonEmptyText,
    /// All arguments, with their values.
    pub args: Map<String, Value>,
    /// The expected effects: limits for the request, and limited by the tool's operation.
    pub expected: ExpectedEffects,
    /// The planner's claim that the step serves the intent.
    pub alignment: Alignment,
    /// The group of alternatives that it belongs to. Only one step of a group is executed.
    pub alternative: Option<NonEmptyText>,
    /// The condition that chooses it from its group.
    pub guard: Option<StepGuard>,
}

/// The expected effects of a step.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ExpectedEffects {
    /// The classes of data that it uses.
    pub data_classes: Vec<NonEmptyText>,
    /// The number of writes. A request must not declare more output files than this.
    pub writes: JsonCount,
    /// The number of calls that leave the host; none if missing.
    pub external_calls: Option<JsonCount>,
}

/// The alignment of a step with the intent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alignment {
    /// The score, as the method of the proof computes it.
    pub score: Fraction,
    /// The reason, as text.
    pub why: NonEmptyText,
}

/// A condition on the artifacts themselves.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepGuard {
    /// A JSON Pointer (RFC 6901) into the bundle, below `/uia` or `/tca`.
    pub pointer: String,
    /// The required value at the pointer.
    pub equals: Value,
}

/// The totals of a plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PlanTotals {
    /// The writes of the whole plan, compared with the user's `maxWrites`.
    pub predicted_writes: JsonCount,
    /// The records of the whole plan, compared with the user's `maxRecords`.
    pub predicted_records: JsonCount,
    /// External calls; none if missing.
    pub predicted_external_calls: Option<JsonCount>,
}

impl ExpectedEffects {
    /// Returns the number of calls that leave the host.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.external_calls.map_or(0, JsonCount::get)
    }
}

impl PlanTotals {
    /// Returns the number of calls that leave the host.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.predicted_external_calls.map_or(0, JsonCount::get)
    }
}

impl Apa {
    /// Returns the step that a reference names: `s1`, or `<id of the plan>#s1`.
    #[must_use]
    pub fn step(&self, reference: &str) -> Option<&PlanStep> {
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

impl ArtifactContent for Apa {
    const ARTIFACT: AisArtifact = AisArtifact::Apa;

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

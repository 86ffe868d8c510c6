//! The User Intent Assertion: what a user wants and what may be spent on it. It must never be taken to
//! say how.

use serde::Deserialize;

use super::artifact::Artifact;
use super::field::{Count, Text, Time, Uri};
use super::seal::Content;

const LEVEL_MAX: u64 = 5;
const PURPOSE_MIN: usize = 3;
/// Every word of it is looked for in every step.
const PURPOSE_MAX: usize = 4096;

/// What a user wants (seed, section 2).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Uia {
    /// Its name.
    pub id: Uri,
    /// Who wants it.
    pub subject: Subject,
    /// Why, in natural language; at least three characters.
    pub purpose: Text,
    /// Within what.
    pub constraints: Constraints,
    /// How much may be spent.
    pub risk_budget: RiskBudget,
    /// Which rules of the host apply.
    pub policy_profile: Text,
}

/// A principal.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// A stable identifier: an OIDC `sub`, a DID, the DN of a certificate.
    pub id: Text,
}

/// What the user permits. A list that is there is the whole list: an empty one permits nothing.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Constraints {
    /// The classes of data.
    pub data_classes: Vec<Text>,
    /// Where it may be done.
    pub jurisdictions: Vec<Text>,
    /// When.
    pub time_window: TimeWindow,
    /// The hosts that may be reached, `host` or `host:port`; any if missing.
    pub destinations: Option<Vec<Text>>,
}

/// Until when the intent holds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TimeWindow {
    /// The last moment.
    pub not_after: Time,
}

/// What may be spent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RiskBudget {
    /// 0 (none) to 5 (any).
    pub level: Count,
    /// Writes of the whole plan.
    pub max_writes: Count,
    /// Records of the whole plan.
    pub max_records: Count,
    /// External calls of the whole plan; none if missing.
    pub max_external_calls: Option<Count>,
}

impl Content for Uia {
    const ARTIFACT: Artifact = Artifact::Uia;

    fn check(&self) -> Result<(), String> {
        let length = self.purpose.as_str().chars().count();
        if !(PURPOSE_MIN..=PURPOSE_MAX).contains(&length) {
            return Err("`purpose` has fewer than 3 characters, or more than 4096".to_owned());
        }
        if self.risk_budget.level.get() > LEVEL_MAX {
            return Err("`riskBudget.level` is above 5".to_owned());
        }
        Ok(())
    }
}

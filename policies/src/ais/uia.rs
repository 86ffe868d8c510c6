//! The User Intent Assertion: the goal of a user and its budget. It must never be read as a
//! description of the way to the goal.

use serde::Deserialize;

use super::artifact::AisArtifact;
use super::field::{ArtifactTime, JsonCount, NonEmptyText, Uri};
use super::unverified::ArtifactContent;

const LEVEL_MAX: u64 = 5;
const PURPOSE_MIN: usize = 3;
/// The limit of the purpose, because every word of it is searched for in every step.
const PURPOSE_MAX: usize = 4096;

/// The intent of a user (seed, section 2).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Uia {
    /// The identifier, by which plan, proof, envelope and revocation list refer to the intent.
    pub id: Uri,
    /// The user.
    pub subject: IntentSubject,
    /// The purpose, in natural language; at least three characters.
    pub purpose: NonEmptyText,
    /// The permitted data, places, time and hosts.
    pub constraints: IntentConstraints,
    /// The permitted risk, writes, records and external calls.
    pub risk_budget: RiskBudget,
    /// The rules of the host that apply, by profile.
    pub policy_profile: NonEmptyText,
}

/// A principal.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntentSubject {
    /// A stable identifier: an OIDC `sub`, a DID, the DN of a certificate.
    pub id: NonEmptyText,
}

/// The permissions of the user. A list is complete: an empty one permits nothing.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct IntentConstraints {
    /// The permitted classes of data.
    pub data_classes: Vec<NonEmptyText>,
    /// The permitted jurisdictions.
    pub jurisdictions: Vec<NonEmptyText>,
    /// The permitted time.
    pub time_window: TimeWindow,
    /// The permitted hosts, `host` or `host:port`; any if missing.
    pub destinations: Option<Vec<NonEmptyText>>,
}

/// The end of an intent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TimeWindow {
    /// The last second.
    pub not_after: ArtifactTime,
}

/// The budget of an intent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RiskBudget {
    /// 0 (none) to 5 (any).
    pub level: JsonCount,
    /// The writes of the whole plan.
    pub max_writes: JsonCount,
    /// The records of the whole plan.
    pub max_records: JsonCount,
    /// The external calls of the whole plan; none if missing.
    pub max_external_calls: Option<JsonCount>,
}

impl ArtifactContent for Uia {
    const ARTIFACT: AisArtifact = AisArtifact::Uia;

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

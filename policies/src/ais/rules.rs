//! The AIS rules of a host's policy. They must never make the guard looser than the seed: a rule
//! sets a strictness, or names what the seed leaves to local policy.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use validator::read_json;

use super::apr::SEMANTIC_ENTAILMENT_V1;
use crate::translate::yaml_problem;

/// The maximum size of a separate rules file in bytes.
pub const RULES_BYTES_MAX: usize = 256 * 1024;

/// The reason why a document is not a set of rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RulesError(String);

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rules: {}", model::escape_line(&self.0))
    }
}

impl std::error::Error for RulesError {}

/// The AIS rules of one host, under `ais:` of its policy. A missing rule has its shipped value.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AisRules {
    /// The treatment of HS256. Shipped: refused.
    pub hs256: SecretKeys,
    /// The maximum seconds until `exp`. Shipped: 3600.
    pub envelope_seconds_max: u64,
    /// The requirement of a revocation list. Shipped: required. A list in the bundle is always
    /// checked.
    pub crl: Presence,
    /// The maximum validity of a revocation list, in seconds. Shipped: 86400.
    pub crl_seconds_max: u64,
    /// The requirement of a supply chain assertion. Shipped: optional. An assertion in the bundle
    /// is always checked.
    pub sca: Presence,
    /// The minimum coverage, 0 to 1. Shipped: 0.8.
    pub coverage_min: f64,
    /// The highest risk by `riskBudget.level`, 0 to 5. Shipped: level / 5.
    pub risk_max: [f64; 6],
    /// The accepted methods of alignment; only those that this program computes can be accepted.
    /// Shipped: `semantic-entailment-v1`.
    pub methods: Vec<String>,
    /// The obligations that this host meets. Shipped: none.
    pub obligations: Vec<String>,
    /// The jurisdiction of this host, for `constraints.jurisdictions`. Shipped: none, so that no
    /// intent is accepted.
    pub jurisdiction: Option<String>,
    /// The policy profiles that this host knows. Shipped: none, so that no intent is accepted.
    pub profiles: BTreeMap<String, ProfileRules>,
}

/// The rules of one profile. They can only be stricter than the general rules.
#[derive(Clone, Default, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProfileRules {
    /// The tools that may be called; any if missing.
    pub tools: Option<Vec<String>>,
    /// The minimum coverage.
    pub coverage_min: Option<f64>,
    /// The highest risk.
    pub risk_max: Option<f64>,
    /// The maximum number of writes of a plan.
    pub writes_max: Option<u64>,
}

/// The acceptance of signatures by shared secrets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecretKeys {
    /// They do not count.
    Refused,
    /// They count, but prove nothing to a third party: a verifier could have signed itself.
    Demo,
}

/// The requirement of an artifact.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Presence {
    /// A bundle without the artifact is refused.
    Required,
    /// A bundle may do without the artifact.
    Optional,
}

impl Default for AisRules {
    fn default() -> Self {
        Self {
            hs256: SecretKeys::Refused,
            envelope_seconds_max: 3600,
            crl: Presence::Required,
            crl_seconds_max: 86_400,
            sca: Presence::Optional,
            coverage_min: 0.8,
            risk_max: [0.0, 0.2, 0.4, 0.6, 0.8, 1.0],
            methods: vec![SEMANTIC_ENTAILMENT_V1.to_owned()],
            obligations: Vec::new(),
            jurisdiction: None,
            profiles: BTreeMap::new(),
        }
    }
}

impl AisRules {
    /// Reads a separate rules file: JSON if it begins with `{`, else YAML.
    ///
    /// # Errors
    /// The first problem: the form, an unknown member, a number out of its range.
    pub fn read(bytes: &[u8]) -> Result<Self, RulesError> {
        let wrong = |error: &dyn fmt::Display| RulesError(error.to_string());
        if bytes.len() > RULES_BYTES_MAX {
            return Err(wrong(&"larger than 256 KiB"));
        }
        let rules: Self = if bytes.trim_ascii_start().starts_with(b"{") {
            let value = read_json(bytes, RULES_BYTES_MAX).map_err(|error| wrong(&error))?;
            serde_json::from_value(value).map_err(|error| wrong(&error))?
        } else {
            let text = std::str::from_utf8(bytes).map_err(|_| wrong(&"not UTF-8"))?;
            serde_yaml::from_str(text).map_err(|error| wrong(&yaml_problem(text, &error)))?
        };
        rules.check()?;
        Ok(rules)
    }

    /// Checks that every number is in its range, for readers that contain rules as a part.
    ///
    /// # Errors
    /// The first number out of its range.
    pub fn check(&self) -> Result<(), RulesError> {
        let of_profiles = self.profiles.values().flat_map(|it| [it.coverage_min, it.risk_max]);
        let parts = [self.coverage_min].into_iter().chain(self.risk_max);
        let wrong = |part: &f64| !(0.0..=1.0).contains(part);
        if let Some(part) = parts.chain(of_profiles.flatten()).find(wrong) {
            return Err(RulesError(format!("{part} is not from 0 to 1")));
        }
        if self.risk_max.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(RulesError("risk_max allows less at a higher level".to_owned()));
        }
        Ok(())
    }
}

//! An answer, as a person wrote it. It must never mean more than a person reading the same bytes
//! would understand. Another module decides whether it counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZeroU32;

use model::{Sha256, UtcTime, escape_line};
use serde::{Deserialize, Serialize};
use validator::read_json;

use super::as_text;
use super::contract::{ANSWER_TYPE, CONTRACT_VERSION};
use super::name::{PermissionSource, ToolName};
use super::request::PermissionRequestId;

/// The maximum size of an answer in bytes.
pub const ANSWER_BYTES_MAX: usize = 128 * 1024;
const COMMENTARY_CHARS_MAX: usize = 4096;
const TOOLS_MAX: usize = super::call::TOOLS_MAX;
const USES_MAX: u32 = 1_000_000;
const FORM_HELP: &str = "help: write it with `toolexec permission set --request`";

/// An answer file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionAnswer {
    r#type: String,
    version: String,
    /// The permission request that is answered.
    pub answers: AnsweredRequest,
    /// The answer: the contract's success emission.
    pub data: AnswerData,
    /// The restrictions of a grant, by tool.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<ToolName, GrantLimits>,
}

/// The permission request that an answer belongs to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnsweredRequest {
    /// The id of the permission request, which must be open.
    pub id: PermissionRequestId,
    /// The digest of its file.
    #[serde(with = "as_text")]
    pub sha256: Sha256,
    /// The source of the permission request, which must be exactly the same.
    pub source: PermissionSource,
}

/// The contract's success emission.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerData {
    /// The tools that may be called. A tool that is also denied is denied.
    pub granted: Vec<ToolName>,
    /// The tools that may not be called.
    pub denied: Vec<ToolName>,
    /// A comment for readers of the trail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commentary: Option<String>,
}

/// The restrictions of one tool's grant. A missing one restricts nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantLimits {
    /// The number of calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<NonZeroU32>,
    /// The end of the grant: the first second in which it has expired.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "as_text::maybe")]
    pub expires_utc: Option<UtcTime>,
    /// The inputs that the grant covers; any if missing.
    #[serde(default)]
    pub arguments: CoveredInputs,
}

/// The inputs that a grant covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CoveredInputs {
    /// Any input, as with a grant in the seed.
    #[default]
    Any,
    /// Only the inputs in the permission request.
    AsRequested,
}

/// The reason why an answer does not count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PermissionAnswerError(pub(super) String);

impl fmt::Display for PermissionAnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PermissionAnswerError {}

impl PermissionAnswer {
    /// Makes an answer to one permission request.
    #[must_use]
    pub fn new(
        answers: AnsweredRequest,
        data: AnswerData,
        limits: BTreeMap<ToolName, GrantLimits>,
    ) -> Self {
        let (r#type, version) = (ANSWER_TYPE.to_owned(), CONTRACT_VERSION.to_owned());
        Self { r#type, version, answers, data, limits }
    }

    /// Reads an answer file, strictly, because a person reads it too.
    ///
    /// # Errors
    /// [`PermissionAnswerError`] states the problem.
    pub fn read(bytes: &[u8]) -> Result<Self, PermissionAnswerError> {
        let wrong = |what: String| PermissionAnswerError(escape_line(&what));
        let malformed = |what: &dyn fmt::Display| wrong(format!("{what}; {FORM_HELP}"));
        let value = read_json(bytes, ANSWER_BYTES_MAX).map_err(|error| malformed(&error))?;
        if has_null(&value) {
            // A limit that is null looks like a missing limit.
            return Err(wrong("limits: null is not a limit; help: leave the limit out".to_owned()));
        }
        let answer: Self = serde_json::from_value(value).map_err(|error| malformed(&error))?;
        match answer.problem() {
            None => Ok(answer),
            Some(what) => Err(wrong(what)),
        }
    }

    /// Returns the bytes of its file.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        // Serialization cannot fail, because every key is text. Empty bytes would not be an answer.
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    fn problem(&self) -> Option<String> {
        if self.r#type != ANSWER_TYPE || self.version != CONTRACT_VERSION {
            return Some(format!("not `{ANSWER_TYPE}` of version {CONTRACT_VERSION}; {FORM_HELP}"));
        }
        for (list, tools) in [("granted", &self.data.granted), ("denied", &self.data.denied)] {
            let mut seen = BTreeSet::new();
            if let Some(twice) = tools.iter().find(|tool| !seen.insert(*tool)) {
                return Some(format!("data.{list}: names {twice} twice; help: name it once"));
            }
            if tools.len() > TOOLS_MAX {
                let help = "name only the requested tools";
                return Some(format!("data.{list}: more than {TOOLS_MAX} tools; help: {help}"));
            }
        }
        let commentary = self.data.commentary.as_deref().unwrap_or_default();
        if commentary.chars().count() > COMMENTARY_CHARS_MAX {
            return Some(format!(
                "data.commentary: more than {COMMENTARY_CHARS_MAX} characters; help: shorten it"
            ));
        }
        if let Some(other) = self.limits.keys().find(|tool| !self.data.granted.contains(tool)) {
            return Some(format!("limits: {other} is not granted; help: remove its limits"));
        }
        let many = |limits: &GrantLimits| limits.uses.is_some_and(|it| it.get() > USES_MAX);
        let many = self.limits.iter().find(|(_, limits)| many(limits));
        many.map(|(tool, _)| format!("limits.{tool}.uses: above {USES_MAX}; help: leave it out"))
    }
}

fn has_null(value: &serde_json::Value) -> bool {
    let limits = value.get("limits").and_then(|it| it.as_object());
    let tools = limits.into_iter().flat_map(|tools| tools.values());
    value.get("limits").is_some_and(serde_json::Value::is_null)
        || value.pointer("/data/commentary").is_some_and(serde_json::Value::is_null)
        || tools.filter_map(|it| it.as_object()).any(|it| it.values().any(|v| v.is_null()))
}

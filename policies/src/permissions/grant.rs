//! One permission: its inputs, its number of uses and its end. A grant must never be read as more
//! than its answer. An unreadable limit makes the whole entry unreadable.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use model::{Sha256, UtcTime};
use serde::{Deserialize, Serialize};

use super::as_text;
use super::model::ToolAuthorizationState;
use super::name::ToolName;

/// The id of a grant: the number of the trail entry that made it, and its index there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GrantId {
    pub(crate) entry: u64,
    pub(crate) place: u32,
}

/// The text is not the id of a grant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GrantIdError;

impl fmt::Display for GrantIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a grant such as G12.0; help: list them with `toolexec permission list`")
    }
}

impl std::error::Error for GrantIdError {}

impl fmt::Display for GrantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "G{}.{}", self.entry, self.place)
    }
}

impl FromStr for GrantId {
    type Err = GrantIdError;

    fn from_str(text: &str) -> Result<Self, GrantIdError> {
        let parts = text.strip_prefix('G').and_then(|rest| rest.split_once('.'));
        let (entry, place) = parts.ok_or(GrantIdError)?;
        let id = Self {
            entry: entry.parse().map_err(|_| GrantIdError)?,
            place: place.parse().map_err(|_| GrantIdError)?,
        };
        // A grant has one id: signs and leading zeros are refused.
        if id.to_string() == text { Ok(id) } else { Err(GrantIdError) }
    }
}

impl TryFrom<String> for GrantId {
    type Error = GrantIdError;

    fn try_from(text: String) -> Result<Self, GrantIdError> {
        text.parse()
    }
}

impl From<GrantId> for String {
    fn from(id: GrantId) -> Self {
        id.to_string()
    }
}

/// One permission of one tool.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionGrant {
    /// The id, by which uses and revocations refer to the grant.
    pub id: GrantId,
    /// The number of calls that remain. `None` means any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses_left: Option<NonZeroU32>,
    /// The first second in which it has expired.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "as_text::maybe")]
    pub expires: Option<UtcTime>,
    /// The digests of the inputs that it covers. `None` means any input.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "inputs")]
    pub inputs: Option<Box<[Sha256]>>,
}

impl PermissionGrant {
    /// Returns whether it has not expired.
    #[must_use]
    pub fn is_live(&self, now: UtcTime) -> bool {
        self.expires.is_none_or(|end| now < end)
    }

    pub(crate) fn is_for(&self, input: impl FnOnce() -> Sha256) -> bool {
        self.inputs.as_ref().is_none_or(|inputs| inputs.contains(&input()))
    }
}

/// A denial of a tool. It takes precedence over every grant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionDenial {
    /// The answer named it.
    #[serde(rename = "said")]
    Named,
    /// The answer granted others and left it out.
    LeftOut,
}

/// The permissions of one tool.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolGrants {
    /// The tool that the permissions are for.
    pub tool: ToolName,
    /// The denial, if the tool is denied. It has no grants then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denied: Option<PermissionDenial>,
    /// The grants that are neither used up nor revoked; some may have expired.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<PermissionGrant>,
}

impl ToolGrants {
    /// Returns the state of the tool alone. It may differ for particular inputs or several calls.
    #[must_use]
    pub fn state(&self, now: UtcTime) -> ToolAuthorizationState {
        match self.denied {
            Some(_) => ToolAuthorizationState::Denied,
            None if self.grants.iter().any(|it| it.is_live(now)) => {
                ToolAuthorizationState::Approved
            }
            None => ToolAuthorizationState::Requestable,
        }
    }
}

mod inputs {
    //! Optional digests as text.

    use model::Sha256;
    use serde::{Deserializer, Serializer};

    use super::as_text::each;

    // The field's own type, as serde's `with` requires.
    pub(super) fn serialize<S: Serializer>(
        inputs: &Option<Box<[Sha256]>>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match inputs {
            Some(inputs) => each::serialize(inputs, to),
            None => to.serialize_none(),
        }
    }

    /// Reads a member that exists. `null` is refused, because it would mean any input.
    pub(super) fn deserialize<'de, D>(from: D) -> Result<Option<Box<[Sha256]>>, D::Error>
    where
        D: Deserializer<'de>,
    {
        each::deserialize(from).map(|inputs: Vec<Sha256>| Some(inputs.into_boxed_slice()))
    }
}

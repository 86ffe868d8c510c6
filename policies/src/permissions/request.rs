//! A request for permission: the file for a person, and the facts that must be kept to check the
//! answer. A permission request is answered once, by its exact bytes, before it expires.

use std::fmt;
use std::str::FromStr;

use model::{Sha256, UtcTime};
use serde::{Deserialize, Serialize};
use validator::read_json;

use super::as_text;
use super::call::PermissionCalls;
use super::contract::{CONTRACT_VERSION, REQUEST_TYPE, RequestData, ShownInputs};
use super::model::OperationContext;
use super::name::{Domains, PermissionSource, ToolName};
use super::trace::Traceparent;

/// The shortest time in which a permission request may be answered, in seconds.
const OPEN_SEC_MIN: i64 = 7 * 24 * 60 * 60;
/// The maximum size of a permission request file in bytes.
pub const PERMISSION_REQUEST_BYTES_MAX: usize = 2 * 1024 * 1024;

/// The id of a permission request and its file name: `PR-YYYYMMDD-HHMMSSZ-<16 hex digits>`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PermissionRequestId(String);

/// The text is not the id of a permission request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PermissionRequestIdError;

impl fmt::Display for PermissionRequestIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not of the form PR-YYYYMMDD-HHMMSSZ-<16 hex digits>")
    }
}

impl std::error::Error for PermissionRequestIdError {}

impl PermissionRequestId {
    /// Makes the id of a new permission request. A random nonce makes it unpredictable.
    #[must_use]
    pub fn new(now: UtcTime, nonce: u64) -> Self {
        Self(format!("PR-{}-{nonce:016x}", now.compact()))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PermissionRequestId {
    type Err = PermissionRequestIdError;

    fn from_str(text: &str) -> Result<Self, PermissionRequestIdError> {
        let form = b"PR-00000000-000000Z-xxxxxxxxxxxxxxxx";
        let fits = |(c, kind): (u8, &u8)| match kind {
            b'0' => c.is_ascii_digit(),
            b'x' => matches!(c, b'0'..=b'9' | b'a'..=b'f'),
            other => c == *other,
        };
        match text.len() == form.len() && text.bytes().zip(form).all(fits) {
            true => Ok(Self(text.to_owned())),
            false => Err(PermissionRequestIdError),
        }
    }
}

impl TryFrom<String> for PermissionRequestId {
    type Error = PermissionRequestIdError;

    fn try_from(text: String) -> Result<Self, PermissionRequestIdError> {
        text.parse()
    }
}

impl From<PermissionRequestId> for String {
    fn from(id: PermissionRequestId) -> Self {
        id.0
    }
}

impl fmt::Display for PermissionRequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The stored facts of a permission request until its answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenPermissionRequest {
    /// The id, by which the answer refers to it.
    pub id: PermissionRequestId,
    /// The digest of its file.
    #[serde(with = "as_text")]
    pub sha256: Sha256,
    /// The source that asks. The answer must name the same.
    pub source: PermissionSource,
    /// The requested tools. The answer may name no others, and denies those that it leaves out.
    pub tools: Vec<RequestedTool>,
    /// The digest of the requested calls, so that the same request is not open twice.
    #[serde(with = "as_text")]
    pub asks_sha256: Sha256,
    /// The first second in which it can no longer be answered.
    #[serde(with = "as_text")]
    pub expires: UtcTime,
    /// The domains under which its file is.
    pub domains: Option<Domains>,
}

/// One tool of a permission request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestedTool {
    /// The requested tool.
    pub tool: ToolName,
    /// The digests of the waiting calls' inputs.
    #[serde(with = "as_text::each")]
    pub inputs: Vec<Sha256>,
}

impl OpenPermissionRequest {
    pub(crate) fn about(&self, tool: &ToolName) -> Option<&RequestedTool> {
        self.tools.iter().find(|it| it.tool == *tool)
    }
}

/// A permission request file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermissionRequestFile {
    r#type: String,
    version: String,
    /// The id, which the answer must repeat.
    pub id: PermissionRequestId,
    /// The source that asks, which the answer must repeat.
    pub source: PermissionSource,
    #[serde(deserialize_with = "Option::deserialize")]
    domains: Option<Domains>,
    traceparent: Traceparent,
    #[serde(with = "as_text")]
    created_utc: UtcTime,
    #[serde(with = "as_text")]
    expires_utc: UtcTime,
    /// The contract's request data.
    pub data: RequestData,
}

impl PermissionRequestFile {
    /// Makes a permission request: the facts to keep, and the bytes of its file.
    #[must_use]
    pub fn build(
        source: &PermissionSource,
        calls: &PermissionCalls,
        terms: &PermissionTerms,
        moment: &OperationContext,
        nonce: u64,
    ) -> (OpenPermissionRequest, Vec<u8>) {
        let id = PermissionRequestId::new(moment.now, nonce);
        let expires = UtcTime::from_unix(moment.now.unix().saturating_add(terms.open_sec));
        let file = Self {
            r#type: REQUEST_TYPE.to_owned(),
            version: CONTRACT_VERSION.to_owned(),
            id: id.clone(),
            source: source.clone(),
            domains: terms.domains.clone(),
            traceparent: moment.traceparent,
            created_utc: moment.now,
            expires_utc: expires,
            data: RequestData::of(source, calls, terms.shown),
        };
        // It cannot fail: every key is text. A file without bytes could not be answered.
        let mut bytes = serde_json::to_vec_pretty(&file).unwrap_or_default();
        bytes.push(b'\n');
        let tools = calls
            .iter()
            .map(|(tool, tool_calls)| RequestedTool {
                tool: tool.clone(),
                inputs: tool_calls.digests().collect(),
            })
            .collect();
        let open = OpenPermissionRequest {
            id,
            sha256: Sha256::of(&bytes),
            source: source.clone(),
            tools,
            asks_sha256: calls.sha256(source),
            expires,
            domains: terms.domains.clone(),
        };
        (open, bytes)
    }

    /// Reads a permission request file.
    ///
    /// # Errors
    /// The problem, as text.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let value =
            read_json(bytes, PERMISSION_REQUEST_BYTES_MAX).map_err(|error| error.to_string())?;
        let file: Self = serde_json::from_value(value).map_err(|error| error.to_string())?;
        if file.r#type != REQUEST_TYPE || file.version != CONTRACT_VERSION {
            return Err(format!("not `{REQUEST_TYPE}` of version {CONTRACT_VERSION}"));
        }
        Ok(file)
    }
}

/// The terms on which people are asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PermissionTerms {
    /// The domains of the files (seed 003, `domains`).
    pub domains: Option<Domains>,
    /// The inputs that a file shows.
    pub shown: ShownInputs,
    /// The seconds in which a permission request may be answered.
    pub open_sec: i64,
}

impl PermissionTerms {
    /// Returns the time for the answers of people, if a request may be held for `held_sec_max`
    /// seconds: at least as long.
    #[must_use]
    pub fn open_sec_for(held_sec_max: u64) -> i64 {
        i64::try_from(held_sec_max).unwrap_or(i64::MAX).max(OPEN_SEC_MIN)
    }
}

impl Default for PermissionTerms {
    fn default() -> Self {
        Self { domains: None, shown: ShownInputs::Whole, open_sec: OPEN_SEC_MIN }
    }
}

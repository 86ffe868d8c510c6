//! A question to a person: the file that is lodged, and what must be remembered of it so that an answer
//! can be held against it. One question is answered once, by its own bytes, in its own time.

use std::fmt;
use std::str::FromStr;

use model::{Sha256, UtcTime};
use serde::{Deserialize, Serialize};
use validator::read_json;

use super::as_text;
use super::call::Calls;
use super::contract::{CONTRACT_VERSION, REQUEST_TYPE, RequestData, ShownInputs};
use super::model::Moment;
use super::name::{Domains, Source, ToolName};
use super::trace::Traceparent;

/// How long a question may be answered, in seconds: as long as a request is held.
pub const ASK_OPEN_SEC: i64 = 7 * 24 * 60 * 60;
/// The most bytes of a request file.
pub const ASK_BYTES_MAX: usize = 2 * 1024 * 1024;

/// The name of a question, `PR-YYYYMMDD-HHMMSSZ-<16 hex digits>`; also its file's.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AskId(String);

/// The text names no question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotAnAskId;

impl fmt::Display for NotAnAskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("is no id of a permission request, PR-YYYYMMDD-HHMMSSZ-<16 hex digits>")
    }
}

impl std::error::Error for NotAnAskId {}

impl AskId {
    /// The name of a question of now. The nonce is random: nobody is to know it before.
    #[must_use]
    pub fn new(now: UtcTime, nonce: u64) -> Self {
        Self(format!("PR-{}-{nonce:016x}", now.compact()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AskId {
    type Err = NotAnAskId;

    fn from_str(text: &str) -> Result<Self, NotAnAskId> {
        let form = b"PR-00000000-000000Z-xxxxxxxxxxxxxxxx";
        let fits = |(c, kind): (u8, &u8)| match kind {
            b'0' => c.is_ascii_digit(),
            b'x' => matches!(c, b'0'..=b'9' | b'a'..=b'f'),
            other => c == *other,
        };
        match text.len() == form.len() && text.bytes().zip(form).all(fits) {
            true => Ok(Self(text.to_owned())),
            false => Err(NotAnAskId),
        }
    }
}

impl TryFrom<String> for AskId {
    type Error = NotAnAskId;

    fn try_from(text: String) -> Result<Self, NotAnAskId> {
        text.parse()
    }
}

impl From<AskId> for String {
    fn from(id: AskId) -> Self {
        id.0
    }
}

impl fmt::Display for AskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is remembered of a question until it is answered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenAsk {
    /// Its name.
    pub id: AskId,
    /// The digest of its file.
    #[serde(with = "as_text")]
    pub sha256: Sha256,
    /// For whom it asks.
    pub source: Source,
    /// For which tools.
    pub tools: Vec<AskedAbout>,
    /// The digest of what it asks, so that the same is not asked twice at a time.
    #[serde(with = "as_text")]
    pub asks_sha256: Sha256,
    /// The first second in which it cannot be answered any more.
    #[serde(with = "as_text")]
    pub expires: UtcTime,
    /// Where its file is.
    pub domains: Option<Domains>,
}

/// One tool of a question.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskedAbout {
    /// The tool.
    pub tool: ToolName,
    /// The digests of the inputs that wait.
    #[serde(with = "as_text::each")]
    pub inputs: Vec<Sha256>,
}

impl OpenAsk {
    pub(crate) fn about(&self, tool: &ToolName) -> Option<&AskedAbout> {
        self.tools.iter().find(|it| it.tool == *tool)
    }
}

/// A request file as it stands on the disk.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskFile {
    r#type: String,
    version: String,
    /// Its name.
    pub id: AskId,
    /// For whom it asks.
    pub source: Source,
    #[serde(deserialize_with = "Option::deserialize")]
    domains: Option<Domains>,
    traceparent: Traceparent,
    #[serde(with = "as_text")]
    created_utc: UtcTime,
    #[serde(with = "as_text")]
    expires_utc: UtcTime,
    /// What is asked.
    pub data: RequestData,
}

impl AskFile {
    /// The question, what to remember of it, and the bytes of its file.
    #[must_use]
    pub fn build(
        source: &Source,
        calls: &Calls,
        terms: &Terms,
        moment: &Moment,
        nonce: u64,
    ) -> (OpenAsk, Vec<u8>) {
        let id = AskId::new(moment.now, nonce);
        let expires = UtcTime::from_unix(moment.now.unix().saturating_add(ASK_OPEN_SEC));
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
        // It cannot fail: its keys are text. A file without bytes could not be answered.
        let mut bytes = serde_json::to_vec_pretty(&file).unwrap_or_default();
        bytes.push(b'\n');
        let tools = calls
            .iter()
            .map(|(tool, asked)| AskedAbout {
                tool: tool.clone(),
                inputs: asked.digests().collect(),
            })
            .collect();
        let open = OpenAsk {
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

    /// Reads a request file.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let value = read_json(bytes, ASK_BYTES_MAX).map_err(|error| error.to_string())?;
        let file: Self = serde_json::from_value(value).map_err(|error| error.to_string())?;
        if file.r#type != REQUEST_TYPE || file.version != CONTRACT_VERSION {
            return Err(format!("is not `{REQUEST_TYPE}` of version {CONTRACT_VERSION}"));
        }
        Ok(file)
    }
}

/// How people are asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Terms {
    /// Where (seed 003, `domains`).
    pub domains: Option<Domains>,
    /// With what in it.
    pub shown: ShownInputs,
}

impl Default for Terms {
    fn default() -> Self {
        Self { domains: None, shown: ShownInputs::Whole }
    }
}

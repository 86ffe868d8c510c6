//! Identifiers of requests, results and claims. An id is also a file name, so it must never contain
//! a slash, a control character or a leading dot. Only the constructors here make one.

use std::fmt;
use std::str::FromStr;

use crate::digest::Sha256;
use crate::time::UtcTime;

const STAMP_LEN: usize = "YYYYMMDD-HHMMSSZ".len();
/// The maximum length of the last part of a request id, in characters.
pub const SLUG_MAX: usize = 64;

/// A request id: `TR-YYYYMMDD-HHMMSSZ-<slug>` (seed 002, "File Naming").
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RequestId {
    text: String,
    date: UtcTime,
}

/// The id of a standing approval: `SA-YYYYMMDD-HHMMSSZ-<slug>`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StandingId {
    text: String,
    date: UtcTime,
}

/// A standing approval with the digest of its exact bytes: `SA-…@sha256:<64 hex digits>`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StandingReference {
    /// The id of the standing approval.
    pub id: StandingId,
    /// The digest of its file.
    pub sha256: Sha256,
}

/// A result id: `TS-YYYYMMDD-HHMMSSZ-<request_id>`, or `REFUSED-<16 hex digits>` in its place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ResultId {
    text: String,
    at: UtcTime,
}

/// The error for a text that is not an id. Holds the expected form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotAnId(&'static str);

impl fmt::Display for NotAnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not of the form {}", self.0)
    }
}

impl std::error::Error for NotAnId {}

const REQUEST_FORM: NotAnId =
    NotAnId("TR-YYYYMMDD-HHMMSSZ-<slug>, slug of 1 to 64 letters, digits, '_', '-'");
const STANDING_FORM: NotAnId =
    NotAnId("SA-YYYYMMDD-HHMMSSZ-<slug>, slug of 1 to 64 letters, digits, '_', '-'");
const REFERENCE_FORM: NotAnId = NotAnId("SA-YYYYMMDD-HHMMSSZ-<slug>@sha256:<64 hex digits>");
const RESULT_FORM: NotAnId = NotAnId("TS-YYYYMMDD-HHMMSSZ-<request_id>");

impl RequestId {
    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether the id contains a `.`. A new request must not, because its sidecar files are
    /// named by its id and a `.`; requests of earlier versions may, and stay readable.
    #[must_use]
    pub fn has_dot(&self) -> bool {
        self.text.contains('.')
    }

    /// Returns the date and time in the id.
    #[must_use]
    pub fn date(&self) -> UtcTime {
        self.date
    }
}

impl FromStr for RequestId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let date = date_in(text, "TR-", b"._-").ok_or(REQUEST_FORM)?;
        Ok(Self { text: text.to_owned(), date })
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl StandingId {
    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the date and time in the id.
    #[must_use]
    pub fn date(&self) -> UtcTime {
        self.date
    }
}

impl FromStr for StandingId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let date = date_in(text, "SA-", b"_-").ok_or(STANDING_FORM)?;
        Ok(Self { text: text.to_owned(), date })
    }
}

impl fmt::Display for StandingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for StandingReference {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let (id, digest) = text.split_once("@sha256:").ok_or(REFERENCE_FORM)?;
        let sha256: Sha256 = digest.parse().map_err(|_| REFERENCE_FORM)?;
        // One spelling of each reference.
        let is_canonical = sha256.to_string() == digest;
        let id = id.parse().map_err(|_| REFERENCE_FORM)?;
        is_canonical.then_some(Self { id, sha256 }).ok_or(REFERENCE_FORM)
    }
}

impl fmt::Display for StandingReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@sha256:{}", self.id, self.sha256)
    }
}

/// Returns the date of an id with this prefix and a slug of letters, digits and these marks.
fn date_in(text: &str, prefix: &str, marks: &[u8]) -> Option<UtcTime> {
    let (stamp, slug) = text.strip_prefix(prefix)?.split_at_checked(STAMP_LEN)?;
    let slug = slug.strip_prefix('-')?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || marks.contains(&byte);
    let is_slug = !slug.is_empty() && slug.len() <= SLUG_MAX && slug.bytes().all(allowed);
    UtcTime::from_compact(stamp, b'-').ok().filter(|_| is_slug)
}

impl ResultId {
    /// Returns the id of a result of this request, made at this time.
    #[must_use]
    pub fn for_request(at: UtcTime, request: &RequestId) -> Self {
        Self { text: format!("TS-{}-{request}", at.compact()), at }
    }

    /// Returns the id of the refusal of a file without a usable request id, from the file's digest.
    #[must_use]
    pub fn for_refused(at: UtcTime, file: &Sha256) -> Self {
        let hex = file.to_string();
        Self { text: format!("TS-{}-REFUSED-{}", at.compact(), &hex[..16]), at }
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the date and time in the id.
    #[must_use]
    pub fn at(&self) -> UtcTime {
        self.at
    }

    /// Returns the request id in the result id, or `None` for a refusal without one.
    #[must_use]
    pub fn request_id(&self) -> Option<RequestId> {
        self.subject().parse().ok()
    }

    /// Returns the part after the date: the request id, or `REFUSED-` and 16 hexadecimal digits.
    #[must_use]
    pub fn subject(&self) -> &str {
        self.text.get("TS-".len() + STAMP_LEN + 1..).unwrap_or("")
    }
}

impl FromStr for ResultId {
    type Err = NotAnId;

    /// Reads our form and upstream's `TS-YYYYMMDDTHHMMSSZ-…`.
    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let rest = text.strip_prefix("TS-").ok_or(RESULT_FORM)?;
        let (stamp, subject) = rest.split_at_checked(STAMP_LEN).ok_or(RESULT_FORM)?;
        let subject = subject.strip_prefix('-').ok_or(RESULT_FORM)?;
        let at = UtcTime::from_compact(stamp, b'-')
            .or_else(|_| UtcTime::from_compact(stamp, b'T'))
            .map_err(|_| RESULT_FORM)?;
        let refused = subject.strip_prefix("REFUSED-").is_some_and(|hex| {
            hex.len() == 16 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        });
        if !refused && subject.parse::<RequestId>().is_err() {
            return Err(RESULT_FORM);
        }
        Ok(Self { text: text.to_owned(), at })
    }
}

impl fmt::Display for ResultId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The id of a claim or its slot, and their directory's name: 32 lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimId(String);

impl ClaimId {
    /// Makes an id from 16 random bytes.
    #[must_use]
    pub fn from_random(bytes: [u8; 16]) -> Self {
        Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Reads the name of a directory. Returns `None` for a name of any other form.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (name.len() == 32 && name.bytes().all(hex)).then(|| Self(name.to_owned()))
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

//! The trust store: the keys that may sign each artifact, and their validity. A signature must
//! never count if its key has another role.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use model::UtcTime;
use serde::Deserialize;
use serde_json::Value;
use validator::{CLOCK_SKEW_SEC, read_json};

use super::field::{ArtifactTime, NonEmptyText};
use super::jws::CompactJws;
use super::model::{AisKeyRole, Algorithm};
use super::public_key::{PublicKey, PublicKeyError};
use super::rules::SecretKeys;
use super::unverified::UnverifiedArtifact;
use super::uri::normal_form;
use crate::translate::yaml_problem;

/// The most bytes a trust store may have.
pub const TRUST_BYTES_MAX: usize = 1024 * 1024;
const KEYS_MAX: usize = 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTrustStore {
    version: u64,
    principals: BTreeMap<String, Vec<NonEmptyText>>,
    keys: Vec<RawTrustedKey>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTrustedKey {
    kid: NonEmptyText,
    principal: String,
    algorithm: Algorithm,
    roles: Vec<AisKeyRole>,
    valid_from: Option<ArtifactTime>,
    valid_until: Option<ArtifactTime>,
    key: Value,
}

/// Keys, and what each may sign.
pub struct AisTrustStore {
    principals: BTreeMap<String, Vec<NonEmptyText>>,
    keys: Vec<TrustedKey>,
}

/// Hides the keys, because they may include secrets.
impl fmt::Debug for AisTrustStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TrustStore of {} keys", self.keys.len())
    }
}

pub(super) struct TrustedKey {
    pub(super) kid: String,
    pub(super) principal: String,
    roles: Vec<AisKeyRole>,
    valid_from: Option<ArtifactTime>,
    valid_until: Option<ArtifactTime>,
    key: PublicKey,
}

/// The reason why a document is not a trust store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AisTrustError {
    /// Larger than [`TRUST_BYTES_MAX`].
    TooLarge,
    /// Neither JSON nor YAML of the required form.
    Form(String),
    /// The `kid` of a key that cannot be used, and the problem.
    Key(String, PublicKeyError),
    /// A contradiction, or an entry that would trust too much.
    Unsound(String),
}

impl fmt::Display for AisTrustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = model::escape_line;
        match self {
            Self::TooLarge => {
                f.write_str("trust store: larger than 1 MiB; help: remove unused keys")
            }
            Self::Form(what) => {
                write!(f, "trust store: {}; help: see *Trust store* in docs/ais.md", shown(what))
            }
            Self::Key(kid, error) => write!(f, "trust store: key `{}`: {error}", shown(kid)),
            Self::Unsound(what) => write!(f, "trust store: {}", shown(what)),
        }
    }
}

impl std::error::Error for AisTrustError {}

impl AisTrustStore {
    /// Reads a trust store: JSON if it begins with `{`, else YAML. Repeated names and unknown
    /// members are refused.
    ///
    /// # Errors
    /// [`AisTrustError`] states the first problem.
    pub fn read(bytes: &[u8]) -> Result<Self, AisTrustError> {
        if bytes.len() > TRUST_BYTES_MAX {
            return Err(AisTrustError::TooLarge);
        }
        let wrong = |error: &dyn fmt::Display| AisTrustError::Form(error.to_string());
        let form: RawTrustStore = if bytes.trim_ascii_start().starts_with(b"{") {
            let value = read_json(bytes, TRUST_BYTES_MAX).map_err(|error| wrong(&error))?;
            serde_json::from_value(value).map_err(|error| wrong(&error))?
        } else {
            let text = std::str::from_utf8(bytes).map_err(|_| wrong(&"not UTF-8"))?;
            serde_yaml::from_str(text).map_err(|error| wrong(&yaml_problem(text, &error)))?
        };
        form.check()
    }

    /// Returns the key of the artifact's role that signed its present content.
    pub(super) fn signer<T>(
        &self,
        sealed: &UnverifiedArtifact<T>,
        now: UtcTime,
        secrets: SecretKeys,
    ) -> Result<&TrustedKey, String> {
        let jws = CompactJws::read(sealed.jws()?)?;
        if jws.algorithm == Algorithm::HS256 && secrets == SecretKeys::Refused {
            return Err("HS256 is for demonstrations, and policy refuses it".to_owned());
        }
        if !sealed.payloads().iter().any(|payload| jws.is_over(payload)) {
            return Err("the signature does not cover the canonical bytes of this artifact".into());
        }
        let role = sealed.artifact().role();
        let mut why = match &jws.kid {
            Some(kid) => format!("no key `{kid}` is trusted"),
            None => format!("no key with the role {} made the signature", role.as_str()),
        };
        for key in &self.keys {
            match &jws.kid {
                Some(kid) if *kid != key.kid => continue,
                None if !key.roles.contains(&role) => continue,
                _ => {}
            }
            match key.check_signature(&jws, role, now) {
                Ok(()) => return Ok(key),
                Err(error) if jws.kid.is_some() => why = error,
                Err(_) => {}
            }
        }
        Err(why)
    }

    /// Returns whether a principal has this identifier.
    pub(super) fn is_known_as(&self, principal: &str, identifier: &str) -> bool {
        let known = self.principals.get(principal);
        known.is_some_and(|known| known.iter().any(|it| it.as_str() == identifier))
    }
}

impl TrustedKey {
    fn check_signature(
        &self,
        jws: &CompactJws<'_>,
        role: AisKeyRole,
        now: UtcTime,
    ) -> Result<(), String> {
        let kid = &self.kid;
        if jws.algorithm != self.key.algorithm() {
            return Err(format!("the algorithm does not match the key `{kid}`"));
        }
        if !self.roles.contains(&role) {
            return Err(format!("the key `{kid}` does not have the role {}", role.as_str()));
        }
        let (earliest, latest) = (now.unix() + CLOCK_SKEW_SEC, now.unix() - CLOCK_SKEW_SEC);
        if self.valid_from.is_some_and(|from| from.utc().unix() > earliest) {
            return Err(format!("the key `{kid}` is not valid yet"));
        }
        if self.valid_until.is_some_and(|until| until.utc().unix() < latest) {
            return Err(format!("the key `{kid}` has expired"));
        }
        if jws.is_by(&self.key) {
            Ok(())
        } else {
            Err(format!("the signature was not made by the key `{kid}`"))
        }
    }
}

impl RawTrustStore {
    fn check(self) -> Result<AisTrustStore, AisTrustError> {
        let unsound = |what: String| Err(AisTrustError::Unsound(what));
        if self.version != 1 {
            let what = format!("version {} is not supported; help: write 1", self.version);
            return unsound(what);
        }
        if self.keys.len() > KEYS_MAX {
            return unsound(format!("more than {KEYS_MAX} keys; help: remove unused keys"));
        }
        let mut identifiers = BTreeSet::new();
        for identifier in self.principals.values().flatten() {
            if !identifiers.insert(normal_form(identifier.as_str())) {
                return unsound(format!(
                    "two principals are called `{identifier}`; help: list it once"
                ));
            }
        }
        let mut store = AisTrustStore { principals: self.principals, keys: Vec::new() };
        for form in self.keys {
            let key = form.check(&store)?;
            store.keys.push(key);
        }
        Ok(store)
    }
}

impl RawTrustedKey {
    fn check(self, store: &AisTrustStore) -> Result<TrustedKey, AisTrustError> {
        let kid = self.kid.to_string();
        let key =
            PublicKey::read(&self.key).map_err(|error| AisTrustError::Key(kid.clone(), error))?;
        let what = if key.algorithm() != self.algorithm {
            let algorithm = key.algorithm().as_str();
            Some(format!("`algorithm` does not match the key; help: write {algorithm}"))
        } else if !store.principals.contains_key(&self.principal) {
            let name = &self.principal;
            Some(format!("the principal `{name}` is not listed; help: add it to `principals`"))
        } else if self.roles.is_empty() {
            Some("`roles` is empty; help: name a role".to_owned())
        } else if self.roles.contains(&AisKeyRole::Verifier)
            && self.roles.contains(&AisKeyRole::AgentRuntime)
        {
            Some("has both roles verifier and agent-runtime; help: keep one of them".to_owned())
        } else if self.valid_from.is_some_and(|from| self.valid_until.is_some_and(|it| it <= from))
        {
            Some("`valid_until` is not after `valid_from`; help: set a later time".to_owned())
        } else if store.keys.iter().any(|other| other.kid == kid) {
            Some("two keys have this kid; help: change one".to_owned())
        } else {
            let same = store.keys.iter().find(|other| other.key.is_same_key(&key));
            same.map(|other| format!("is the key `{}` again; help: list its roles once", other.kid))
        };
        if let Some(what) = what {
            return Err(AisTrustError::Unsound(format!("key `{kid}`: {what}")));
        }
        let Self { principal, roles, valid_from, valid_until, .. } = self;
        Ok(TrustedKey { kid, principal, roles, valid_from, valid_until, key })
    }
}

//! The environments that a policy permits. An environment counts by its digest alone: names are for
//! people, and must never permit anything.

use std::collections::BTreeSet;

use model::Sha256;

use crate::approval::SignerKey;
use crate::problem::Problems;
use crate::raw::{RawAllowedEnvironments, RawEnvironments};

const DIGEST_PREFIX: &str = "sha256:";
const KEY_HELP: &str = "write an Ed25519 or ECDSA P-256 key as in a .pub file";

model::closed_set! {
    /// The environments that a request may name.
    pub(crate) enum AllowedEnvironments {
        /// Each environment in the store of this host.
        Stored = "stored",
        /// Those that the policy lists.
        Listed = "listed",
        /// None at all.
        None = "none",
    }
}

/// The environments that a request may name, the digests of those that the policy lists, and the
/// keys of their builders.
#[derive(Clone, Debug)]
pub(crate) struct EnvironmentRules {
    pub(crate) allowed: AllowedEnvironments,
    digests: BTreeSet<Sha256>,
    /// `None` if the policy demands no signed record of a build.
    builders: Option<Vec<SignerKey>>,
}

impl EnvironmentRules {
    /// A policy without the key is older than environments, and permits none.
    pub(crate) fn check(form: Option<RawEnvironments>, problems: &mut Problems<'_>) -> Self {
        let Some(form) = form else {
            let (allowed, digests) = (AllowedEnvironments::None, BTreeSet::new());
            return Self { allowed, digests, builders: None };
        };
        let allowed = match form.allowed {
            RawAllowedEnvironments::Stored => AllowedEnvironments::Stored,
            RawAllowedEnvironments::Listed => AllowedEnvironments::Listed,
            RawAllowedEnvironments::None => AllowedEnvironments::None,
        };
        let digests = listed(&form.digests, problems);
        if allowed != AllowedEnvironments::Listed && !form.digests.is_empty() {
            // The author expects that only these are permitted, or that these are.
            let what = format!("has no effect with allowed: {}", allowed.as_str());
            let advice = "write allowed: listed, or digests: []";
            problems.add("environments.digests", what, advice);
        }
        let builders = form.builders.map(|written| keys(&written, problems));
        if allowed == AllowedEnvironments::None && builders.is_some() {
            let what = "has no effect with allowed: none".to_owned();
            problems.add("environments.builders", what, "remove the key");
        }
        Self { allowed, digests, builders }
    }

    /// Returns whether the policy demands a signed record of a build.
    pub(crate) fn demands_builder(&self) -> bool {
        self.builders.is_some()
    }

    /// Returns whether this key may sign the record of a build.
    pub(crate) fn is_builder(&self, key: &SignerKey) -> bool {
        self.builders.as_ref().is_some_and(|keys| keys.contains(key))
    }

    /// Returns whether a request may name the environment with this digest.
    pub(crate) fn permits(&self, sha256: &Sha256) -> bool {
        match self.allowed {
            AllowedEnvironments::Stored => true,
            AllowedEnvironments::Listed => self.digests.contains(sha256),
            AllowedEnvironments::None => false,
        }
    }
}

/// Reads the listed digests.
fn listed(written: &[String], problems: &mut Problems<'_>) -> BTreeSet<Sha256> {
    let mut digests = BTreeSet::new();
    for written in written {
        let Some(sha256) = digest(written) else {
            let what = format!("`{}` is not a digest", written.escape_default());
            let advice = "write sha256: and the 64 digits that `toolexec env show` prints";
            problems.add("environments.digests", what, advice);
            continue;
        };
        if !digests.insert(sha256) {
            let what = format!("`{written}` appears twice");
            problems.add("environments.digests", what, "keep one of them");
        }
    }
    digests
}

/// Reads the keys of builders. A security key cannot sign the record of a build.
fn keys(written: &[String], problems: &mut Problems<'_>) -> Vec<SignerKey> {
    let mut keys = Vec::new();
    for written in written {
        let key = match SignerKey::read(written) {
            Ok(key) if key.kind().is_security_key() => {
                let what = format!("{} cannot sign a build", key.kind().as_str());
                problems.add("environments.builders", what, KEY_HELP);
                continue;
            }
            Ok(key) => key,
            Err(error) => {
                problems.add("environments.builders", error.to_string(), KEY_HELP);
                continue;
            }
        };
        match keys.contains(&key) {
            true => {
                let what = format!("{} appears twice", key.fingerprint());
                problems.add("environments.builders", what, "keep one of them");
            }
            false => keys.push(key),
        }
    }
    if written.is_empty() {
        let what = "names no key, so no environment could be used".to_owned();
        problems.add("environments.builders", what, "add a key, or remove `builders`");
    }
    keys
}

/// Reads the one spelling of a digest: lower-case digits after `sha256:`.
fn digest(written: &str) -> Option<Sha256> {
    let hex = written.strip_prefix(DIGEST_PREFIX)?;
    hex.parse().ok().filter(|sha256: &Sha256| sha256.to_string() == hex)
}

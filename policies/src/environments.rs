//! The environments that a policy permits. An environment counts by its digest alone: names are for
//! people, and must never permit anything.

use std::collections::BTreeSet;

use model::Sha256;

use crate::problem::Problems;
use crate::raw::{RawAllowedEnvironments, RawEnvironments};

const DIGEST_PREFIX: &str = "sha256:";

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

/// The environments that a request may name, and the digests of those that the policy lists.
#[derive(Clone, Debug)]
pub(crate) struct EnvironmentRules {
    pub(crate) allowed: AllowedEnvironments,
    digests: BTreeSet<Sha256>,
}

impl EnvironmentRules {
    /// A policy without the key is older than environments, and permits none.
    pub(crate) fn check(form: Option<RawEnvironments>, problems: &mut Problems<'_>) -> Self {
        let Some(form) = form else {
            return Self { allowed: AllowedEnvironments::None, digests: BTreeSet::new() };
        };
        let allowed = match form.allowed {
            RawAllowedEnvironments::Stored => AllowedEnvironments::Stored,
            RawAllowedEnvironments::Listed => AllowedEnvironments::Listed,
            RawAllowedEnvironments::None => AllowedEnvironments::None,
        };
        let mut digests = BTreeSet::new();
        for written in &form.digests {
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
        if allowed != AllowedEnvironments::Listed && !form.digests.is_empty() {
            // The author expects that only these are permitted, or that these are.
            let what = format!("has no effect with allowed: {}", allowed.as_str());
            let advice = "write allowed: listed, or digests: []";
            problems.add("environments.digests", what, advice);
        }
        Self { allowed, digests }
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

/// Reads the one spelling of a digest: lower-case digits after `sha256:`.
fn digest(written: &str) -> Option<Sha256> {
    let hex = written.strip_prefix(DIGEST_PREFIX)?;
    hex.parse().ok().filter(|sha256: &Sha256| sha256.to_string() == hex)
}

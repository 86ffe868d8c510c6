//! The scope of a search for runtimes and backends.

use std::path::Path;

use policies::Policy;
use validator::Request;

/// The backends that are searched for. Each file of them is hashed, so that a decision about one
/// request only looks for its own. No other backend may be used in that decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BackendScope {
    /// Every backend of the policy.
    All,
    /// The backend with this name.
    Only(String),
    /// None.
    Nothing,
}

impl BackendScope {
    /// Returns the backend of a request, or all if its decision depends on every digest.
    #[must_use]
    pub fn of(policy: &Policy, request: &Request) -> Self {
        if policy.requires_ais(request) {
            return Self::All;
        }
        Self::named(policy, request)
    }

    /// Returns the backend that a request names, or else the policy's default.
    #[must_use]
    pub fn named(policy: &Policy, request: &Request) -> Self {
        let named = request.backend().map(|backend| backend.as_str());
        Self::Only(named.unwrap_or_else(|| policy.default_backend()).to_owned())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(only) => only == name,
            Self::Nothing => false,
        }
    }
}

/// The places and the backends of one search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuntimeSearch<'a> {
    /// The state directory, with the runtime caches and the remembered probes.
    pub(crate) state: &'a Path,
    pub(crate) backends: &'a BackendScope,
}

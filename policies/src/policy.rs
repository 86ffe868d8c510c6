//! A policy that passed every check. A [`Policy`] must never exist otherwise. Its text and digest
//! must be those of the exact bytes that were read.

use std::collections::BTreeSet;

use model::Sha256;
use validator::Request;

use crate::backends::BackendRule;
use crate::check;
use crate::covered_requests::CoveredRequests;
use crate::environments::AllowedEnvironments;
use crate::limits::Ceilings;
use crate::model::PolicyRules;
use crate::permissions::PermissionTerms;
use crate::problem::{PolicyError, PolicyProblem};
use crate::runtime::RuntimeRule;
use crate::translate;

/// The maximum size of a policy file in bytes.
pub const POLICY_BYTES_MAX: usize = 256 * 1024;

const SHOW_ADVICE: &str = "see a complete policy with `toolexec policy show embedded`";
const EMBEDDED: &str = include_str!("../profiles/embedded.yaml");
const STANDARD: &str = include_str!("../profiles/standard.yaml");
const STRICT: &str = include_str!("../profiles/strict.yaml");

/// The rules of one host.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(crate) rules: PolicyRules,
    text: String,
    sha256: Sha256,
}

impl Policy {
    /// Reads a policy file. Messages call it `origin`.
    ///
    /// # Errors
    /// [`PolicyError`] with every problem, as far as the file can be read.
    pub fn parse(bytes: &[u8], origin: &str) -> Result<Self, PolicyError> {
        let refuse = |what: String, advice: &str| {
            Err(PolicyError::one(origin, PolicyProblem::new(None, "", what, advice)))
        };
        if bytes.len() > POLICY_BYTES_MAX {
            let what = format!("{} bytes, larger than 256 KiB", bytes.len());
            return refuse(what, "shorten the file");
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            return refuse("not UTF-8".to_owned(), "save the file as UTF-8");
        };
        let rules = check::check(translate::read(text, origin, SHOW_ADVICE)?, text, origin)?;
        Ok(Self { rules, text: text.to_owned(), sha256: Sha256::of(bytes) })
    }

    /// Returns the shipped profile of this name: `embedded`, `standard` or `strict`.
    #[must_use]
    pub fn shipped(name: &str) -> Option<Self> {
        let text = Self::shipped_text(name)?;
        // A test parses every profile, so `None` always means an unknown name.
        Self::parse(text.as_bytes(), name).ok()
    }

    /// Returns the exact text of the shipped profile of this name.
    #[must_use]
    pub fn shipped_text(name: &str) -> Option<&'static str> {
        match name {
            "embedded" => Some(EMBEDDED),
            "standard" => Some(STANDARD),
            "strict" => Some(STRICT),
            _ => None,
        }
    }

    /// Returns the `name` of the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.rules.name
    }

    /// Returns the whole text of the file.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the digest of the file's bytes.
    #[must_use]
    pub fn sha256(&self) -> Sha256 {
        self.sha256
    }

    /// Returns whether the person who types `toolexec run` approves the request by that.
    #[must_use]
    pub fn accepts_invoker(&self) -> bool {
        self.rules.approval.invoker
    }

    /// Returns whether `toolexec exec` may run a command without asking the person who typed it.
    #[must_use]
    pub fn may_skip_question(&self) -> bool {
        self.rules.approval.invoker && self.rules.approval.unasked
    }

    /// Returns whether the daemon takes drafts that use a standing approval out of `drafts/`.
    #[must_use]
    pub fn takes_standing_drafts(&self) -> bool {
        self.rules.approval.standing.is_some_and(|rules| rules.from_drafts)
    }

    /// Returns the domain whose passkeys count when a page of this origin, as browsers write it, asks
    /// for a signature.
    #[must_use]
    pub fn passkey_domain(&self, origin: &str) -> Option<&str> {
        self.rules.approval.passkeys.domain_for(origin)
    }

    /// Returns whether a run may use other mechanisms if no cgroup is writable.
    #[must_use]
    pub fn cgroup_exception(&self) -> bool {
        self.rules.layers.cgroup_exception
    }

    /// Returns the lowest Landlock ABI that the policy accepts.
    #[must_use]
    pub fn landlock_abi_min(&self) -> u32 {
        self.rules.layers.landlock_abi_min
    }

    /// Returns the offered runtimes, ordered by name.
    pub fn runtimes(&self) -> impl Iterator<Item = &RuntimeRule> {
        self.rules.runtimes.iter()
    }

    /// Returns the backends that it offers besides `confined`, ordered by name.
    pub fn backends(&self) -> impl Iterator<Item = &BackendRule> {
        self.rules.backends.iter()
    }

    /// Returns the name of the backend of requests that name none.
    #[must_use]
    pub fn default_backend(&self) -> &str {
        self.rules.backends.default_name()
    }

    /// Returns whether a request may name any environment at all.
    #[must_use]
    pub fn permits_environments(&self) -> bool {
        self.rules.environments.allowed != AllowedEnvironments::None
    }

    /// Returns whether this request needs a permission.
    #[must_use]
    pub fn requires_permission(&self, request: &Request) -> bool {
        self.rules.permissions.covered.covers(request)
    }

    /// Returns whether this request must be bound to an intent by an AIS bundle.
    #[must_use]
    pub fn requires_ais(&self, request: &Request) -> bool {
        self.rules.ais.covered.covers(request)
    }

    /// Returns the terms of permission requests, or `None` if no request needs a permission.
    #[must_use]
    pub fn permission_terms(&self) -> Option<&PermissionTerms> {
        let rules = &self.rules.permissions;
        (rules.covered != CoveredRequests::None).then_some(&rules.terms)
    }

    /// Returns the users of the host whose unsigned answers about permissions count.
    #[must_use]
    pub fn permission_uids(&self) -> &BTreeSet<u32> {
        &self.rules.permissions.answer_uids
    }

    /// Returns the idle time in seconds after which the workflow of an agent has ended.
    #[must_use]
    pub fn workflow_idle_sec(&self) -> Option<u64> {
        self.rules.permissions.workflow_idle_sec
    }

    /// Returns the seconds that a request may wait for a person's answer after its submission.
    #[must_use]
    pub fn held_sec_max(&self) -> u64 {
        self.rules.held_sec_max
    }

    /// Returns every host with every port that a request may name, `host:port`.
    pub fn hosts_offered(&self) -> impl Iterator<Item = String> {
        self.rules.network.offered()
    }

    /// Returns the requests that need a permission: `none`, `core_draft` or `all`.
    #[must_use]
    pub fn permissions_cover(&self) -> &'static str {
        self.rules.permissions.covered.as_str()
    }

    /// Returns the ceilings.
    #[must_use]
    pub fn ceilings(&self) -> &Ceilings {
        &self.rules.ceilings
    }
}

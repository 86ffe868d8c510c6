//! A policy that was read and found whole. A value of [`Policy`] must never exist unless the file
//! passed every check, and the text and the digest it carries must be those of the very bytes that were
//! read.

use std::collections::BTreeSet;

use model::Sha256;
use validator::Request;

use crate::check;
use crate::limits::Ceilings;
use crate::model::{Covered, Rules};
use crate::permissions::Terms;
use crate::problem::{PolicyError, PolicyProblem};
use crate::runtime::Runtime;
use crate::translate;

/// The most bytes a policy file may have.
pub const POLICY_BYTES_MAX: usize = 256 * 1024;

const EMBEDDED: &str = include_str!("../profiles/embedded.yaml");
const STANDARD: &str = include_str!("../profiles/standard.yaml");
const STRICT: &str = include_str!("../profiles/strict.yaml");

/// The rules of one host.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(crate) rules: Rules,
    text: String,
    sha256: Sha256,
}

impl Policy {
    /// Reads a policy file; `origin` is its name in messages.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] with everything that is wrong, as far as the file can be read.
    pub fn parse(bytes: &[u8], origin: &str) -> Result<Self, PolicyError> {
        let refuse = |what: String, advice: &str| {
            Err(PolicyError::one(origin, PolicyProblem::new(None, "", what, advice)))
        };
        if bytes.len() > POLICY_BYTES_MAX {
            let what = format!("{} bytes are too many for a policy", bytes.len());
            return refuse(what, "at most 256 KiB are read");
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            return refuse("not UTF-8".to_owned(), "save the file as UTF-8");
        };
        let rules = check::check(translate::read(text, origin)?, text, origin)?;
        Ok(Self { rules, text: text.to_owned(), sha256: Sha256::of(bytes) })
    }

    /// The profile of this name that the program carries: `embedded`, `standard` or `strict`.
    #[must_use]
    pub fn shipped(name: &str) -> Option<Self> {
        let text = Self::shipped_text(name)?;
        // A test parses both, so that the only reason for nothing here is an unknown name.
        Self::parse(text.as_bytes(), name).ok()
    }

    /// The exact text of the profile of this name.
    #[must_use]
    pub fn shipped_text(name: &str) -> Option<&'static str> {
        match name {
            "embedded" => Some(EMBEDDED),
            "standard" => Some(STANDARD),
            "strict" => Some(STRICT),
            _ => None,
        }
    }

    /// The name that the file gives itself.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.rules.name
    }

    /// The text that was read, whole.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The digest of the bytes that were read.
    #[must_use]
    pub fn sha256(&self) -> Sha256 {
        self.sha256
    }

    /// Whether the word of the person who types `toolexec run` is enough.
    #[must_use]
    pub fn takes_the_invokers_word(&self) -> bool {
        self.rules.approval.invoker
    }

    /// Whether a run may do with other mechanisms where no cgroup can be written.
    #[must_use]
    pub fn cgroup_exception(&self) -> bool {
        self.rules.layers.cgroup_exception
    }

    /// The lowest Landlock ABI that will do.
    #[must_use]
    pub fn landlock_abi_min(&self) -> u32 {
        self.rules.layers.landlock_abi_min
    }

    /// The runtimes on offer, by name.
    pub fn runtimes(&self) -> impl Iterator<Item = &Runtime> {
        self.rules.runtimes.iter()
    }

    /// Whether this request needs a permission.
    #[must_use]
    pub fn asks_permission(&self, request: &Request) -> bool {
        self.rules.permissions.covered.covers(request)
    }

    /// Whether this request must be bound to an intent by an AIS bundle.
    #[must_use]
    pub fn asks_ais(&self, request: &Request) -> bool {
        self.rules.ais.covered.covers(request)
    }

    /// How people are asked for permissions; nothing where nobody needs one.
    #[must_use]
    pub fn permission_terms(&self) -> Option<&Terms> {
        let rules = &self.rules.permissions;
        (rules.covered != Covered::Nobody).then_some(&rules.terms)
    }

    /// The users of the host whose unsigned answers about permissions count.
    #[must_use]
    pub fn permission_uids(&self) -> &BTreeSet<u32> {
        &self.rules.permissions.answer_uids
    }

    /// After how many seconds without an entry about it the workflow of an agent has ended.
    #[must_use]
    pub fn workflow_idle_sec(&self) -> Option<u64> {
        self.rules.permissions.workflow_idle_sec
    }

    /// How long a request may wait for somebody's answer, in seconds since it was dropped.
    #[must_use]
    pub fn held_sec_max(&self) -> u64 {
        self.rules.held_sec_max
    }

    /// Every host with every port that a request may name, `host:port`.
    pub fn hosts_offered(&self) -> impl Iterator<Item = String> {
        self.rules.network.offered()
    }

    /// Who needs a permission: `nobody`, `core_draft` or `everybody`.
    #[must_use]
    pub fn permissions_cover(&self) -> &'static str {
        self.rules.permissions.covered.as_str()
    }

    /// The ceilings.
    #[must_use]
    pub fn ceilings(&self) -> &Ceilings {
        &self.rules.ceilings
    }
}

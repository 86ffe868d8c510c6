//! The facts that a decision may use besides request and policy. Callers collect them from the
//! host, the clock and the ledger. Nothing here proves anything, and nothing here decides.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use model::{EnvironmentReference, HostAudience, UtcTime};
use validator::{OwnerUid, StandingApproval};

use crate::ais::{AisTrustStore, EnvironmentDigests};
use crate::approval::{AllowedSigners, SignatureFile, SignerKey};
use crate::backends::InstalledBackends;
use crate::permissions::ToolFinding;
use crate::standing::StandingUses;

/// The AIS bundle of a request, `<stem>.ais.json`. It is a claim until it verifies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AisFile {
    /// No bundle exists.
    Missing,
    /// A bundle was read.
    Read {
        /// The file name, for messages.
        name: String,
        /// The bytes of the file, which nothing has parsed yet.
        bytes: Vec<u8>,
    },
    /// A file exists but was not read. The message names it.
    Unread(String),
}

/// The evidence of the AIS guard besides the request. Parts that policy does not need may be empty.
#[derive(Clone, Copy, Debug)]
pub struct AisEvidence<'a> {
    /// The bundle next to the request.
    pub file: &'a AisFile,
    /// The keys whose signatures count, if a trust store is configured.
    pub trust: Option<&'a AisTrustStore>,
    /// The digests of the programs and policies that a run would use.
    pub supply: &'a EnvironmentDigests,
    /// Every nonce that a start has used up. `None` if the caller did not query the ledger. A
    /// preview can do without it; an approval cannot.
    pub nonces_used: Option<&'a HashSet<String>>,
}

/// The way in which the request was submitted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SubmissionOrigin {
    /// A person ran `toolexec run`.
    Invoked {
        /// The person's uid.
        uid: u32,
        /// The user's name, if the host knows one.
        name: Option<String>,
    },
    /// A file appeared in the spool.
    Submitted {
        /// The owner of the file.
        owner: OwnerUid,
        /// The owner's name, if the host knows one.
        owner_name: Option<String>,
    },
}

/// A runtime as installed on this host. The fields are public because plain paths prove nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstalledRuntime {
    /// The program, as a path in the sandbox.
    pub binary: PathBuf,
    /// The directory of the interpreter and its library, if no mount of the policy contains it.
    pub prefix: Option<PathBuf>,
    /// The caches that exist, as host path by sandbox path.
    pub caches: BTreeMap<PathBuf, PathBuf>,
}

impl InstalledRuntime {
    /// Makes the entry of a program that needs nothing else.
    #[must_use]
    pub fn binary(path: impl Into<PathBuf>) -> Self {
        Self { binary: path.into(), prefix: None, caches: BTreeMap::new() }
    }
}

/// The reason why a runtime cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MissingRuntime {
    /// The reason, without help.
    pub reason: String,
    /// The act that makes it usable, if it is not the installation of the program.
    pub remedy: Option<String>,
}

impl From<String> for MissingRuntime {
    fn from(reason: String) -> Self {
        Self { reason, remedy: None }
    }
}

/// The programs found on this host, by the policy's name of the runtime, and the backends.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InstalledRuntimes {
    found: BTreeMap<String, InstalledRuntime>,
    missing: BTreeMap<String, MissingRuntime>,
    backends: InstalledBackends,
}

impl InstalledRuntimes {
    /// Makes an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an installed runtime. A relative path is ignored: its meaning depends on the directory.
    pub fn insert(&mut self, runtime_name: impl Into<String>, found: InstalledRuntime) {
        if found.binary.is_absolute() {
            self.found.insert(runtime_name.into(), found);
        }
    }

    /// Records the reason why a runtime cannot be used here.
    pub fn insert_missing(&mut self, runtime_name: impl Into<String>, why: MissingRuntime) {
        self.missing.insert(runtime_name.into(), why);
    }

    /// Adds the backends.
    #[must_use]
    pub fn with_backends(self, backends: InstalledBackends) -> Self {
        Self { backends, ..self }
    }

    /// Returns the backends.
    #[must_use]
    pub fn backends(&self) -> &InstalledBackends {
        &self.backends
    }

    /// Returns the installation of a runtime.
    #[must_use]
    pub fn get(&self, runtime_name: &str) -> Option<&InstalledRuntime> {
        self.found.get(runtime_name)
    }

    /// Returns the reason why a runtime cannot be used, if more is known than its absence.
    #[must_use]
    pub fn missing(&self, runtime_name: &str) -> Option<&MissingRuntime> {
        self.missing.get(runtime_name)
    }

    /// Returns every installed runtime.
    pub fn found(&self) -> impl Iterator<Item = &InstalledRuntime> {
        self.found.values()
    }
}

impl<N: Into<String>, P: Into<PathBuf>> FromIterator<(N, P)> for InstalledRuntimes {
    fn from_iter<I: IntoIterator<Item = (N, P)>>(found: I) -> Self {
        let mut binaries = Self::new();
        found
            .into_iter()
            .for_each(|(name, path)| binaries.insert(name, InstalledRuntime::binary(path)));
        binaries
    }
}

/// The environment that a request names, as the store of this host has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EnvironmentEvidence {
    /// The request names none.
    Unnamed,
    /// The store has it, and it is as it was stored.
    Opened(Box<OpenedEnvironment>),
    /// It cannot be used here. Holds the reason, for messages.
    Unavailable(String),
}

/// A stored environment. The fields are public because plain data proves nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenedEnvironment {
    /// The name and the digest.
    pub reference: EnvironmentReference,
    /// True if the tree replaces the host's programs; otherwise it is shown at `/cache/env`.
    pub is_root: bool,
    /// The first words of commands that it offers, each with the program's path in the tree.
    pub programs: BTreeMap<String, String>,
    /// The variables that it sets.
    pub variables: BTreeMap<String, String>,
    /// The runtimes of the policy that it needs, each with its version.
    pub needs: BTreeMap<String, String>,
    /// The directory of the tree on this host.
    pub tree: PathBuf,
    /// The device and the inode of this directory.
    pub identity: (u64, u64),
    /// The key that signed the record of its build.
    pub builder: BuilderEvidence,
}

/// The signed record of an environment's build, as the store of this host has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BuilderEvidence {
    /// The build is not signed.
    Unsigned,
    /// The record cannot be read or does not verify. Holds the reason, for messages.
    Unverified(String),
    /// This key signed the record, whose subject is the environment. The key may be anyone's.
    Signed(SignerKey),
}

/// All evidence of a decision besides request and policy.
#[derive(Debug)]
pub struct DecisionEvidence<'a> {
    /// The way of submission, with the user who counts as the submitter.
    pub submission: SubmissionOrigin,
    /// The signature files next to it.
    pub signatures: &'a [SignatureFile],
    /// Each signature file that exists but was not read, as a message that names it. Any of them
    /// may be the rejection, so no request is approved while this list is not empty.
    pub unread_signatures: &'a [String],
    /// The keys whose signatures count, if any are configured.
    pub signers: Option<&'a AllowedSigners>,
    /// The names of this host, one of which `x-audience` must equal.
    pub host: HostAudience<'a>,
    /// The use of these bytes according to the ledger.
    pub ledger: LedgerEvidence,
    /// The standing approval that the request names.
    pub standing: StandingEvidence<'a>,
    /// The state of the host's permissions for the run, if policy covers it.
    pub permission: PermissionEvidence,
    /// The evidence for the AIS guard, unused if policy requires no bundle.
    pub ais: AisEvidence<'a>,
    /// The runtimes found on this host.
    pub binaries: &'a InstalledRuntimes,
    /// The environment that the request names.
    pub environment: &'a EnvironmentEvidence,
    /// The time of the decision.
    pub now: UtcTime,
}

/// The answers about this agent and this tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PermissionEvidence {
    /// The caller did not query the store. A preview can do without it, and so can requests that
    /// policy does not cover. No other request is approved.
    NotQueried,
    /// The state in the store.
    Queried(ToolFinding),
}

/// The earlier use of a request. An approval is good for one start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LedgerEvidence {
    /// The caller did not query the ledger. A preview can do without it; an approval cannot.
    NotQueried,
    /// Never started.
    Unused,
    /// Started before.
    Used {
        /// The record of that start.
        record: String,
    },
}

/// The standing approval that a request names, as stored on this host.
#[derive(Debug)]
pub enum StandingEvidence<'a> {
    /// The caller did not look it up. A preview can do without it; an approval cannot.
    NotQueried,
    /// This host has not admitted it, or the request names none.
    Missing,
    /// It was admitted here.
    Found(FoundStanding<'a>),
}

/// A stored standing approval with its signatures and earlier uses.
#[derive(Debug)]
pub struct FoundStanding<'a> {
    /// The document.
    pub approval: &'a Arc<StandingApproval>,
    /// The signature files next to it.
    pub signatures: &'a [SignatureFile],
    /// Each signature file that was not read, as a message. Any may be a rejection.
    pub unread: &'a [String],
    /// The earlier uses. The start of the run checks them again.
    pub uses: StandingUses,
}

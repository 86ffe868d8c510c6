//! What a decision may look at beside request and policy: plain facts that callers bring, from the
//! host, the clock and the ledger. Nothing here proves anything, and nothing here decides.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use model::UtcTime;
use validator::OwnerUid;

use crate::ais::{Supply, TrustStore};
use crate::approval::{SignatureFile, Signers};
use crate::permissions::Finding;

/// The AIS bundle beside a request, `<stem>.ais.json`: an allegation until it verifies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AisFile {
    /// There is none.
    Missing,
    /// There is one.
    Read {
        /// Its name, for messages.
        name: String,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// There is something that was not read, as a message that names it.
    Unread(String),
}

/// What the AIS guard looks at beside the request. The parts that are not asked for may be empty.
#[derive(Clone, Copy, Debug)]
pub struct AisEvidence<'a> {
    /// The bundle.
    pub file: &'a AisFile,
    /// Whose signatures count, where a trust store was configured.
    pub trust: Option<&'a TrustStore>,
    /// Digests of what a run would use.
    pub supply: &'a Supply,
    /// Every nonce that a start used up; none where nobody asked the ledger, which is good for an
    /// outlook, and nothing is approved so.
    pub nonces_used: Option<&'a HashSet<String>>,
}

/// How the request came here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Submission {
    /// A person ran `toolexec run`.
    Invoked {
        /// That person's user id.
        uid: u32,
        /// The name that goes with it, where the host knows one.
        name: Option<String>,
    },
    /// A file appeared in the spool.
    Dropped {
        /// The user who owns the file.
        owner: OwnerUid,
        /// The name that goes with it, where the host knows one.
        owner_name: Option<String>,
    },
}

/// What a host has of one runtime. Plain places that prove nothing, so the fields are open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Installed {
    /// The program, as the cell sees it.
    pub binary: PathBuf,
    /// The directory of the interpreter and its library, where that is in none of the policy's
    /// mounts.
    pub prefix: Option<PathBuf>,
    /// The caches that are there: where on the host, by their place in the cell.
    pub caches: BTreeMap<PathBuf, PathBuf>,
}

impl Installed {
    /// A program that needs nothing else.
    #[must_use]
    pub fn binary(path: impl Into<PathBuf>) -> Self {
        Self { binary: path.into(), prefix: None, caches: BTreeMap::new() }
    }
}

/// The programs that were looked for on this host, by the policy's name of the runtime.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Binaries {
    found: BTreeMap<String, Installed>,
    missing: BTreeMap<String, String>,
}

impl Binaries {
    /// None found yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes what was found of a runtime. A path that is not absolute is as good as none, for it
    /// would mean another file in another directory.
    pub fn insert(&mut self, runtime_name: impl Into<String>, found: Installed) {
        if found.binary.is_absolute() {
            self.found.insert(runtime_name.into(), found);
        }
    }

    /// Notes why a runtime cannot be used here.
    pub fn insert_missing(&mut self, runtime_name: impl Into<String>, why: String) {
        self.missing.insert(runtime_name.into(), why);
    }

    /// What was found of a runtime.
    #[must_use]
    pub fn get(&self, runtime_name: &str) -> Option<&Installed> {
        self.found.get(runtime_name)
    }

    /// Why a runtime cannot be used, where more is known than that it was not found.
    #[must_use]
    pub fn why_not(&self, runtime_name: &str) -> Option<&str> {
        self.missing.get(runtime_name).map(String::as_str)
    }

    /// Everything that was found.
    pub fn found(&self) -> impl Iterator<Item = &Installed> {
        self.found.values()
    }
}

impl<N: Into<String>, P: Into<PathBuf>> FromIterator<(N, P)> for Binaries {
    fn from_iter<I: IntoIterator<Item = (N, P)>>(found: I) -> Self {
        let mut binaries = Self::new();
        found.into_iter().for_each(|(name, path)| binaries.insert(name, Installed::binary(path)));
        binaries
    }
}

/// Everything beside request and policy that the decision may look at.
#[derive(Debug)]
pub struct Evidence<'a> {
    /// How the request came here.
    pub submission: Submission,
    /// The signature files beside it.
    pub signatures: &'a [SignatureFile],
    /// Each signature file that is there and was not read, as a message that names it. Any one of
    /// them may be the rejection, so nothing is approved while there is one.
    pub unread_signatures: &'a [String],
    /// The keys whose signatures count, where any were configured.
    pub signers: Option<&'a Signers>,
    /// The name of this host, the origin of its log, which `x-audience` must be; nothing where it
    /// has none, and then it is nobody's audience.
    pub origin: Option<&'a str>,
    /// What the ledger says of these bytes.
    pub ledger: Ledger,
    /// What the host's permissions say of the run, where policy covers it.
    pub permission: Permission,
    /// What is known of the AIS bundle beside it.
    pub ais: AisEvidence<'a>,
    /// The programs that this host has.
    pub binaries: &'a Binaries,
    /// The present time.
    pub now: UtcTime,
}

/// What people answered about this agent and this tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permission {
    /// Nobody asked the store: good for an outlook and for what policy does not cover; nothing that it
    /// covers is approved so.
    NotAsked,
    /// The store's answer.
    Found(Finding),
}

/// Whether a request was used up: an approval is good for one start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ledger {
    /// Nobody asked it: good for an outlook, and nothing is approved so.
    NotAsked,
    /// Never started.
    Unused,
    /// Started before.
    Used {
        /// The record of that start.
        record: String,
    },
}

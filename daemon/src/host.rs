//! Everything that one daemon, or one embedded run, works with.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use egress::client::Egress;
use policies::{Binaries, Policy};
use records::log::{LogError, ProofFault};
use records::{KeyError, ResultKey, SignError};
use sandbox::client::{Launcher, Reach};
use spool::{Spool, SpoolError, StoreError};
use validator::{Sha256, UtcTime};

use crate::config::ConfigError;
use crate::permissions::Permissions;
use crate::ready::ReadyCells;
use crate::record_log::RecordLog;
use crate::runtimes;
use crate::supply::Digests;
use crate::trust_store::TrustStore;

/// What a [`Host`] is made of.
pub struct HostParts {
    pub spool: Spool,
    pub policy: Policy,
    /// Whose signatures count.
    pub trust: TrustStore,
    pub key: ResultKey,
    /// Its name is this host's in `x-audience`.
    pub log: RecordLog,
    pub launcher: Reach,
    /// The proxy of runs that name hosts; without one they are refused.
    pub egress: Option<Egress>,
    /// What people answered about agents; nothing where policy asks for no permission.
    pub permissions: Option<Permissions>,
    /// The directory with the caches that were made once for all runs, by the name of the runtime.
    pub caches: PathBuf,
}

/// One place where requests are run.
pub struct Host {
    pub(crate) spool: Spool,
    pub(crate) policy: Policy,
    pub(crate) trust: TrustStore,
    pub(crate) key: ResultKey,
    pub(crate) log: RecordLog,
    /// Before the launcher, so that its cells are given up before it is waited for.
    pub(crate) ready: ReadyCells,
    pub(crate) launcher: Launcher,
    pub(crate) egress: Option<Egress>,
    pub(crate) binaries: Binaries,
    pub(crate) permissions: Option<Permissions>,
    pub(crate) digests: Digests,
}

impl Host {
    #[must_use]
    pub fn new(parts: HostParts) -> Self {
        let HostParts { spool, policy, trust, key, log, launcher, egress, permissions, caches } =
            parts;
        let binaries = runtimes::find(&policy, &caches);
        let program = match &launcher {
            Reach::Spawn { program, .. } => Some(program.as_path()),
            Reach::Socket(_) => None,
        };
        let digests = Digests::of_host(program, egress.as_ref().and_then(Egress::program));
        let launcher = Launcher::new(runtimes::allow(launcher, &policy, &binaries));
        let ready = ReadyCells::new(0);
        Self {
            spool,
            policy,
            trust,
            key,
            log,
            ready,
            launcher,
            egress,
            binaries,
            permissions,
            digests,
        }
    }

    /// Keeps at most so many cells ready for runs to come. The service that
    /// this host is given to ends them.
    #[must_use]
    pub fn with_ready_cells(mut self, cells_max: usize) -> Self {
        self.ready = ReadyCells::new(cells_max);
        self
    }

    /// What decisions hang on beside the request and its files, and may change while one waits.
    pub(crate) fn standing(&mut self) -> Result<Vec<Sha256>, Halt> {
        let permissions = self.permissions.as_mut().map(Permissions::standing).transpose()?;
        let fixed = [self.policy.sha256(), self.trust.standing()];
        Ok(fixed.into_iter().chain(permissions).collect())
    }

    /// How long a request that was dropped then may wait for an answer.
    pub(crate) fn held_until(&self, since: UtcTime) -> UtcTime {
        let sec = i64::try_from(self.policy.held_sec_max()).unwrap_or(i64::MAX);
        UtcTime::from_unix(since.unix().saturating_add(sec))
    }

    /// Between runs: has a cell made for the next run of the last one's kind.
    pub(crate) fn make_ready(&mut self) {
        self.ready.refill(&self.spool, &self.launcher);
    }

    /// While nothing is to do: replaces ready cells that are too old.
    pub(crate) fn renew_ready(&mut self) {
        self.ready.renew(&self.spool, &self.launcher);
    }

    /// Ends the ready cells.
    pub(crate) fn give_up_ready(&mut self) {
        self.ready.empty(&self.spool);
    }

    #[must_use]
    pub fn spool(&self) -> &Spool {
        &self.spool
    }

    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    #[must_use]
    pub fn key(&self) -> &ResultKey {
        &self.key
    }

    #[must_use]
    pub fn log(&self) -> &RecordLog {
        &self.log
    }
}

/// Why no further request may be admitted: our own disk or key, never a request.
#[derive(Debug)]
pub enum Halt {
    Spool(SpoolError),
    Key(KeyError),
    Sign(SignError),
    Log(LogError),
    Permissions(StoreError),
    /// What the host itself uses cannot be read.
    Supply(ConfigError),
    /// A record's request is not the one that it was: nothing is run in its name.
    OtherRequest(PathBuf),
    /// A request was held where nobody would ask about it again.
    NobodyHolds,
    /// The log gave a proof that is none of the record.
    Proof(ProofFault),
    /// Random numbers or signals: the kernel gives them to everybody.
    Kernel(&'static str, io::Error),
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spool(error) => error.fmt(f),
            Self::Key(error) => error.fmt(f),
            Self::Sign(error) => write!(f, "the record cannot be signed: {error}"),
            Self::OtherRequest(path) => {
                write!(f, "{}: was changed since its record was verified", path.display())
            }
            Self::Supply(error) => error.fmt(f),
            Self::Permissions(error) => write!(f, "permissions: {error}"),
            Self::Log(error) => write!(f, "the record cannot be logged: {error}"),
            Self::NobodyHolds => {
                f.write_str("the request waits for an answer, and nobody waits for it")
            }
            Self::Proof(fault) => write!(f, "the record cannot be proved to be logged: {fault}"),
            Self::Kernel(what, error) => write!(f, "{what}: {error}"),
        }
    }
}

impl std::error::Error for Halt {}

impl From<SpoolError> for Halt {
    fn from(error: SpoolError) -> Self {
        Self::Spool(error)
    }
}

impl From<KeyError> for Halt {
    fn from(error: KeyError) -> Self {
        Self::Key(error)
    }
}

impl From<LogError> for Halt {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

impl From<ConfigError> for Halt {
    fn from(error: ConfigError) -> Self {
        Self::Supply(error)
    }
}

impl From<StoreError> for Halt {
    fn from(error: StoreError) -> Self {
        Self::Permissions(error)
    }
}

impl From<ProofFault> for Halt {
    fn from(fault: ProofFault) -> Self {
        Self::Proof(fault)
    }
}

impl From<SignError> for Halt {
    fn from(error: SignError) -> Self {
        Self::Sign(error)
    }
}

/// The launcher beside the running program, then in its packaged place; never along PATH, which
/// belongs to whoever set it.
///
/// # Errors
/// The places that were looked at, for a message.
pub fn find_launcher() -> Result<PathBuf, String> {
    find_program("toolexec-launch")
}

pub(crate) fn find_program(name: &str) -> Result<PathBuf, String> {
    let packaged = Path::new("/usr/libexec/toolexec").join(name);
    let beside = std::env::current_exe().ok().and_then(|exe| {
        let exe = std::fs::canonicalize(exe).ok()?;
        Some(exe.parent()?.join(name))
    });
    let places: Vec<PathBuf> = beside.into_iter().chain([packaged]).collect();
    match places.iter().find(|place| place.is_file()) {
        Some(found) => Ok(found.clone()),
        None => {
            let looked: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
            Err(format!("{name} is not there; looked at {}", looked.join(", ")))
        }
    }
}

//! Permissions on the disk (`policies::permissions`): an append-only trail, which holds both the
//! current permissions and their history. Any number of processes may open it. A change is durable
//! before it is reported, and a change that is not on the disk is never an approval.

mod drafts;
mod dropped;
mod error;
mod journal;
mod line;
mod trail_head;
mod written;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use policies::permissions::{
    Accepted, AskFile, CONTRACT, Calls, Change, Contract, Domains, Finding, GrantId, Lodged,
    Lodging, Moment, PermissionManager, Refused, Register, Source, Terms, ToolName, Traceparent,
};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::SpoolError;
pub use dropped::{AnswerFate, DroppedAnswer};
pub use error::StoreError;
use journal::Journal;

/// Permissions that survive restarts and crashes.
pub struct Durable {
    journal: Journal,
    terms: Terms,
}

/// A permission request that was filed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Filed {
    /// Filed now.
    New(Lodged, Vec<PathBuf>),
    /// Filed before: the same request is still waiting for its answer.
    Waiting(Lodged, Vec<PathBuf>),
}

impl Filed {
    /// Returns the permission request and its files.
    #[must_use]
    pub fn parts(&self) -> (&Lodged, &[PathBuf]) {
        match self {
            Self::New(lodged, paths) | Self::Waiting(lodged, paths) => (lodged, paths),
        }
    }
}

impl Durable {
    /// Opens the permissions of a directory. Creates the directory if it does not exist.
    ///
    /// # Errors
    /// An I/O error, or a damaged trail. Nothing is permitted then.
    pub fn open(directory: &Path, terms: Terms) -> Result<Self, StoreError> {
        Ok(Self { journal: Journal::open(directory)?, terms })
    }

    /// Returns the current permissions.
    ///
    /// # Errors
    /// Changes since the last read cannot be read.
    pub fn register(&mut self) -> Result<&Register, StoreError> {
        self.journal.look()?;
        self.journal.insist_on_place()?;
        Ok(self.journal.register())
    }

    /// Returns the state of one request's calls, for the daemon's decision.
    ///
    /// # Errors
    /// The trail cannot be read.
    pub fn look_up(
        &mut self,
        source: &Source,
        calls: &Calls,
        moment: &Moment,
    ) -> Result<Finding, StoreError> {
        let found = self.explain(source, calls, moment)?;
        // A single denied call denies them all. A request without any tool is not approved either.
        let blocked = found.values().find(|found| !matches!(found, Finding::Granted(_)));
        let found = blocked.or(found.values().next()).copied();
        Ok(found.unwrap_or(Finding::Missing))
    }

    /// Files a permission request below `drafts`. An open request is not filed twice, unless its
    /// files were deleted and cannot be answered.
    ///
    /// # Errors
    /// None of it can be requested, or an I/O error.
    pub fn file_request(
        &mut self,
        source: &Source,
        calls: &Calls,
        moment: &Moment,
        drafts: &Path,
    ) -> Result<Filed, StoreError> {
        let (nonce, terms) = (random_nonce()?, self.terms.clone());
        self.journal.alone(|journal| {
            let mut gone = None;
            let asked = match journal.register().plan_lodging(source, calls, moment.now)? {
                Lodging::Asked(ask) => {
                    let paths = drafts::paths(drafts, ask);
                    if drafts::are_there(&paths) {
                        return Ok(Filed::Waiting(Lodged { ask: ask.clone(), file: None }, paths));
                    }
                    gone = Some(ask.id.clone());
                    calls.only(|tool| ask.tools.iter().any(|it| it.tool == *tool))
                }
                Lodging::New(calls) => calls,
            };
            if let Some(request) = gone {
                journal.keep(Change::Withdrawn { request }, moment, moment.by.clone())?;
            }
            let (ask, bytes) = AskFile::build(source, &asked, &terms, moment, nonce);
            let paths = drafts::paths(drafts, &ask);
            journal.keep(Change::Lodged(ask.clone()), moment, moment.by.clone())?;
            if let Err(error) = drafts::place(drafts, &paths, &bytes) {
                // The request cannot be answered without its file, so it is withdrawn.
                let withdrawn = Change::Withdrawn { request: ask.id };
                journal.keep(withdrawn, moment, moment.by.clone())?;
                return Err(error);
            }
            Ok(Filed::New(Lodged { ask, file: Some(bytes) }, paths))
        })
    }

    /// Revokes one grant by its id.
    ///
    /// # Errors
    /// The grant does not exist, or an I/O error.
    pub fn revoke_grant(&mut self, id: GrantId, moment: &Moment) -> Result<Change, StoreError> {
        self.change(moment, |register| {
            let (source, tool) = register.holder_of(id)?;
            register.plan_revocation(&source, &tool, Some(id))
        })
    }

    /// Uses these calls up, as [`PermissionManager::spend`] does, but adds an entry even if no
    /// grant counts uses, so that the workflow is not idle.
    ///
    /// # Errors
    /// A call is not permitted, or an I/O error. Nothing may be begun then.
    pub fn spend_with_entry(
        &mut self,
        source: &Source,
        calls: &Calls,
        moment: &Moment,
    ) -> Result<Change, StoreError> {
        self.change(moment, |register| {
            let spent = register.plan_spending(source, calls, moment.now)?;
            Ok(spent.unwrap_or_else(|| Change::Spent { source: source.clone(), uses: Vec::new() }))
        })
    }

    /// Removes the workflows without activity for `idle_sec` seconds, and returns the changes.
    ///
    /// # Errors
    /// The trail cannot be read, or an I/O error.
    pub fn cleanup_idle(
        &mut self,
        idle_sec: u64,
        moment: &Moment,
    ) -> Result<Vec<Change>, StoreError> {
        // Check without the lock first: there is rarely an idle workflow.
        if self.register()?.plan_idle_cleanup(idle_sec, moment.now).is_empty() {
            return Ok(Vec::new());
        }
        self.journal.alone(|journal| {
            let changes = journal.register().plan_idle_cleanup(idle_sec, moment.now);
            for change in &changes {
                journal.keep(change.clone(), moment, moment.by.clone())?;
            }
            Ok(changes)
        })
    }

    /// Starts a new trail file with the current permissions. This also happens automatically when
    /// the trail has grown.
    ///
    /// # Errors
    /// An I/O error. The permissions stay as they were.
    pub fn begin_anew(&mut self, moment: &Moment) -> Result<(), StoreError> {
        self.journal.alone(|journal| journal.begin_anew(moment))
    }

    /// Passes the JSON of every line of the current trail file to `take`, the oldest first.
    ///
    /// # Errors
    /// The trail cannot be read, or `take` returns an error.
    pub fn trail(
        &mut self,
        mut take: impl FnMut(&str) -> std::io::Result<()>,
    ) -> Result<(), StoreError> {
        self.journal.look()?;
        let path = self.journal.path();
        let failed = |error| StoreError::Disk(SpoolError::io(path, "read")(error));
        let file = std::fs::File::open(path).map_err(failed)?;
        let whole = file.take(self.journal.whole_bytes());
        for line in BufReader::new(whole).lines() {
            let line = line.map_err(failed)?;
            let json = line.split_once(' ').map_or(line.as_str(), |(_, json)| json);
            take(json).map_err(failed)?;
        }
        Ok(())
    }

    fn change(
        &mut self,
        moment: &Moment,
        plan: impl FnOnce(&Register) -> Result<Change, Refused>,
    ) -> Result<Change, StoreError> {
        self.journal.alone(|journal| {
            let change = plan(journal.register())?;
            journal.keep(change.clone(), moment, moment.by.clone())?;
            Ok(change)
        })
    }

    fn change_if_any(
        &mut self,
        moment: &Moment,
        plan: impl FnOnce(&Register) -> Result<Option<Change>, Refused>,
    ) -> Result<Option<Change>, StoreError> {
        self.journal.alone(|journal| {
            let change = plan(journal.register())?;
            if let Some(change) = change.clone() {
                journal.keep(change, moment, moment.by.clone())?;
            }
            Ok(change)
        })
    }
}

impl PermissionManager for Durable {
    type Error = StoreError;

    fn contract(&self) -> &'static Contract {
        &CONTRACT
    }

    fn domains(&self) -> Option<&Domains> {
        self.terms.domains.as_ref()
    }

    fn terms(&self) -> &Terms {
        &self.terms
    }

    fn explain<'c>(
        &mut self,
        source: &Source,
        calls: &'c Calls,
        moment: &Moment,
    ) -> Result<BTreeMap<&'c ToolName, Finding>, StoreError> {
        let register = self.journal.look()?;
        let find = |tool, asked| register.find(source, tool, asked, moment.now);
        Ok(calls.iter().map(|(tool, asked)| (tool, find(tool, asked))).collect())
    }

    fn set(
        &mut self,
        source: &Source,
        answer: &Accepted,
        moment: &Moment,
    ) -> Result<Change, StoreError> {
        self.journal.alone(|journal| {
            let change = journal.register().plan_answer(source, answer, moment.now)?;
            journal.keep(change.clone(), moment, answer.by().clone())?;
            Ok(change)
        })
    }

    fn cleanup(&mut self, source: &Source, moment: &Moment) -> Result<Option<Change>, StoreError> {
        self.change_if_any(moment, |register| Ok(register.plan_cleanup(source)))
    }

    fn lodge(
        &mut self,
        source: &Source,
        calls: &Calls,
        moment: &Moment,
        nonce: u64,
    ) -> Result<Lodged, StoreError> {
        let terms = self.terms.clone();
        self.journal.alone(|journal| {
            match journal.register().plan_lodging(source, calls, moment.now)? {
                Lodging::Asked(ask) => Ok(Lodged { ask: ask.clone(), file: None }),
                Lodging::New(calls) => {
                    let (ask, file) = AskFile::build(source, &calls, &terms, moment, nonce);
                    journal.keep(Change::Lodged(ask.clone()), moment, moment.by.clone())?;
                    Ok(Lodged { ask, file: Some(file) })
                }
            }
        })
    }

    fn spend(
        &mut self,
        source: &Source,
        calls: &Calls,
        moment: &Moment,
    ) -> Result<Option<Change>, StoreError> {
        self.change_if_any(moment, |register| register.plan_spending(source, calls, moment.now))
    }

    fn revoke(
        &mut self,
        source: &Source,
        tool: &ToolName,
        one: Option<GrantId>,
        moment: &Moment,
    ) -> Result<Change, StoreError> {
        self.change(moment, |register| register.plan_revocation(source, tool, one))
    }

    fn lift(
        &mut self,
        source: &Source,
        tool: &ToolName,
        moment: &Moment,
    ) -> Result<Change, StoreError> {
        self.change(moment, |register| register.plan_lifting(source, tool))
    }
}

/// Creates a new trace context, for callers without one.
///
/// # Errors
/// The kernel cannot provide random bytes.
pub fn new_traceparent() -> Result<Traceparent, StoreError> {
    random_bytes().map(Traceparent::from_random)
}

/// Returns an unpredictable number for the name of a permission request.
fn random_nonce() -> Result<u64, StoreError> {
    random_bytes().map(u64::from_be_bytes)
}

fn random_bytes<const N: usize>() -> Result<[u8; N], StoreError> {
    let mut bytes = [0; N];
    // So few bytes are returned whole or not at all (getrandom(2)).
    let drawn = getrandom(&mut bytes, GetRandomFlags::empty());
    drawn.map_err(StoreError::errno(Path::new("getrandom"), "read random bytes"))?;
    Ok(bytes)
}

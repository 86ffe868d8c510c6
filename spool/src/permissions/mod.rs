//! Permissions on the disk (`policies::permissions`): a trail that only grows, which is what stands and
//! the account of how it came to stand in one. Any number of processes may have it open; a change is on
//! the disk before anybody hears of it, and nothing that is not on the disk is ever an approval.

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

/// Permissions that outlive programs and their crashes.
pub struct Durable {
    journal: Journal,
    terms: Terms,
}

/// A question that was put where people look for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Filed {
    /// Now.
    New(Lodged, Vec<PathBuf>),
    /// Before: the same waits for its answer still.
    Waiting(Lodged, Vec<PathBuf>),
}

impl Filed {
    /// The question and its files.
    #[must_use]
    pub fn parts(&self) -> (&Lodged, &[PathBuf]) {
        match self {
            Self::New(lodged, paths) | Self::Waiting(lodged, paths) => (lodged, paths),
        }
    }
}

impl Durable {
    /// Opens the permissions of a directory, which is made if it is not there.
    ///
    /// # Errors
    /// The disk, or a trail that was meddled with: nothing is permitted then.
    pub fn open(directory: &Path, terms: Terms) -> Result<Self, StoreError> {
        Ok(Self { journal: Journal::open(directory)?, terms })
    }

    /// What stands now.
    ///
    /// # Errors
    /// What was written since cannot be read.
    pub fn register(&mut self) -> Result<&Register, StoreError> {
        self.journal.look()?;
        self.journal.insist_on_place()?;
        Ok(self.journal.register())
    }

    /// The state of one request's run and why it is that one, for the daemon.
    ///
    /// # Errors
    /// What is kept cannot be read.
    pub fn look_up(
        &mut self,
        source: &Source,
        calls: &Calls,
        moment: &Moment,
    ) -> Result<Finding, StoreError> {
        let found = self.explain(source, calls, moment)?;
        // The one that says no stands for all; no tool at all is no approval either.
        let blocked = found.values().find(|found| !matches!(found, Finding::Granted(_)));
        let found = blocked.or(found.values().next()).copied();
        Ok(found.unwrap_or(Finding::Missing))
    }

    /// Asks people for what can be asked for, in files below `drafts`. What is asked already is not asked
    /// twice, unless its files are gone: then nobody could answer it.
    ///
    /// # Errors
    /// Nothing of it can be asked for, or the disk.
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
                // Nobody could answer it: it is to be asked again.
                let withdrawn = Change::Withdrawn { request: ask.id };
                journal.keep(withdrawn, moment, moment.by.clone())?;
                return Err(error);
            }
            Ok(Filed::New(Lodged { ask, file: Some(bytes) }, paths))
        })
    }

    /// Takes back one grant by its name alone.
    ///
    /// # Errors
    /// It does not stand, or the disk.
    pub fn revoke_grant(&mut self, id: GrantId, moment: &Moment) -> Result<Change, StoreError> {
        self.change(moment, |register| {
            let (source, tool) = register.holder_of(id)?;
            register.plan_revocation(&source, &tool, Some(id))
        })
    }

    /// Begins these calls, as [`PermissionManager::spend`] does, with an entry also where no grant is for
    /// a number of uses: the workflow is not idle.
    ///
    /// # Errors
    /// One is not permitted, or the disk; nothing may be begun then.
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

    /// Lets go of the workflows in which nothing happened for so many seconds, and says which.
    ///
    /// # Errors
    /// What is kept cannot be read, or the disk.
    pub fn cleanup_idle(
        &mut self,
        idle_sec: u64,
        moment: &Moment,
    ) -> Result<Vec<Change>, StoreError> {
        // Looked at first without the lock: there is seldom one.
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

    /// Begins the trail anew with what stands; it does so by itself when it has grown much.
    ///
    /// # Errors
    /// The disk. What stood stands still.
    pub fn begin_anew(&mut self, moment: &Moment) -> Result<(), StoreError> {
        self.journal.alone(|journal| journal.begin_anew(moment))
    }

    /// Hands over every line of the trail, each JSON behind its checksum, the oldest of this file first.
    ///
    /// # Errors
    /// It cannot be read, or whoever takes the lines has enough.
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

/// A trace of our own, for callers that are in none.
///
/// # Errors
/// The kernel has no randomness to give.
pub fn new_traceparent() -> Result<Traceparent, StoreError> {
    random_bytes().map(Traceparent::from_random)
}

/// A number for a question's name that nobody can know beforehand.
fn random_nonce() -> Result<u64, StoreError> {
    random_bytes().map(u64::from_be_bytes)
}

fn random_bytes<const N: usize>() -> Result<[u8; N], StoreError> {
    let mut bytes = [0; N];
    // So few bytes come whole, or not at all (getrandom(2)).
    let drawn = getrandom(&mut bytes, GetRandomFlags::empty());
    drawn.map_err(StoreError::errno(Path::new("getrandom"), "draw"))?;
    Ok(bytes)
}

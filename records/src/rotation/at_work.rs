//! A change of keys while their host is at work: the key that comes lies in the place of the other one,
//! beside it, or at the agent, and the host still holds the one that goes. Nothing may be written
//! before everything was checked that can be.
//!
//! A file in the place of the key in force becomes `<key>.new`: the key in force is written there, and the
//! two change places. A death in between leaves both, and the next start exchanges them.
//! From there on it is the change that `toolexec keys rotate` makes, step by step, so either can
//! finish it.

use std::path::Path;
use std::sync::Arc;

use model::UtcTime;

use crate::custody;
use crate::key_error::KeyError;
use crate::key_files::{Custody, KeyDirectory};
use crate::key_model::KeyFingerprint;
use crate::key_source::{KeySource, Keys};
use crate::keys::ResultKey;
use crate::log::{KeyChange, KeyRole, Log, LogError, LogKey, LogPlace};
use crate::rotation::{HostKey, Rotated, Rotation, RotationError, Successor, name_of_new, rotate};

/// The keys that a host signs with.
#[derive(Clone, Debug)]
pub struct KeysAtWork {
    pub result: Arc<ResultKey>,
    pub log: Arc<LogKey>,
}

/// One key that waits to take the place of another.
#[derive(Debug)]
pub struct Takeover {
    source: KeySource,
    old: HostKey,
    new: HostKey,
}

/// A change that was not done.
#[derive(Debug)]
pub enum TakeoverError {
    /// Nothing was changed; the old key is in force.
    NotBegun(RotationError),
    /// Both keys signed the change. No key of this role may sign before it is finished.
    Unfinished(RotationError),
}

impl From<LogError> for TakeoverError {
    fn from(error: LogError) -> Self {
        Self::NotBegun(error.into())
    }
}

/// The keys of a source that are others than those at work, checked as far as that can be done without
/// writing. The result key comes first.
///
/// # Errors
/// Any [`RotationError`]: a key that cannot be used, or cannot take the other's place.
pub fn takeovers(
    source: &KeySource,
    at_work: &KeysAtWork,
    now: UtcTime,
) -> Result<Vec<Takeover>, RotationError> {
    custody::keep_memory_private().map_err(KeyError::Custody)?;
    if matches!(source, KeySource::Credentials { .. }) {
        return unchanged_credentials(source, at_work);
    }
    let mut found = Vec::new();
    for old in [HostKey::Result(at_work.result.clone()), HostKey::Log(at_work.log.clone())] {
        let rotation = Rotation::open(source, old.role())?;
        if old.is_in_agent() != matches!(source, KeySource::Agent { .. }) {
            return Err(RotationError::Source(
                "keys: move between files and an agent while the daemon is stopped",
            ));
        }
        rotation.is_in_force(&old.public())?;
        let Some(new) = rotation.waiting(&old)? else { continue };
        rotation.may_follow(&new, now)?;
        found.push(Takeover { source: source.clone(), old, new });
    }
    Ok(found)
}

fn unchanged_credentials(
    source: &KeySource,
    at_work: &KeysAtWork,
) -> Result<Vec<Takeover>, RotationError> {
    let keys = Keys::open(source, at_work.log.public().origin())?;
    let same = keys.result.public() == at_work.result.public()
        && keys.log.public() == at_work.log.public();
    if same { Ok(Vec::new()) } else { Err(RotationError::Lent) }
}

impl Takeover {
    /// The role of the key that changes.
    #[must_use]
    pub fn role(&self) -> KeyRole {
        self.old.role()
    }

    /// The key that is to sign from then on.
    #[must_use]
    pub fn successor(&self) -> &HostKey {
        &self.new
    }

    /// Saves the key in force, which the file of the new one may have overwritten. Before the first of
    /// several keys is changed, all are saved.
    ///
    /// # Errors
    /// [`RotationError`]: the files are not as they were found, or cannot be written.
    pub fn save(&self) -> Result<(), RotationError> {
        Rotation::open(&self.source, self.old.role())?.save(&self.old, &self.new)
    }

    /// Changes the key. `log` is this host's, open under the key of it that is in force.
    ///
    /// # Errors
    /// [`TakeoverError`], which says whether the old key may go on.
    pub fn carry_out(&self, log: &mut Log, now: UtcTime) -> Result<Rotated, TakeoverError> {
        let Self { source, old, new } = self;
        let rotation = Rotation::open(source, old.role()).map_err(TakeoverError::NotBegun)?;
        rotation.save(old, new).map_err(TakeoverError::NotBegun)?;
        let change = rotation.change(old, new, now).map_err(|error| {
            match rotation.keys.refuse_unfinished(rotation.change) {
                Ok(()) => TakeoverError::NotBegun(error),
                Err(_) => TakeoverError::Unfinished(error),
            }
        })?;
        rotation.carry_out(&change, old, new, log).map_err(TakeoverError::Unfinished)?;
        Ok(Rotated::by(&change))
    }
}

impl Rotation<'_> {
    /// The key in the place of this one, or the one beside it.
    fn waiting(&self, old: &HostKey) -> Result<Option<HostKey>, RotationError> {
        if matches!(self.source, KeySource::Agent { .. }) {
            return Ok(Some(self.key(self.role)?).filter(|found| !found.is(old)));
        }
        let in_place = self.load(self.role.as_str())?;
        let beside = self.load(&name_of_new(self.role))?;
        let [in_place_new, beside] = [in_place, beside].map(|it| it.filter(|found| !found.is(old)));
        match (in_place_new, beside) {
            (Some(_), Some(_)) => Err(RotationError::Two(self.keys.path(&name_of_new(self.role)))),
            (Some(new), None) | (None, Some(new)) => Ok(Some(new)),
            (None, None) if self.load(self.role.as_str())?.is_none() => {
                Err(self.keys.missing(self.role.as_str()).into())
            }
            (None, None) => Ok(None),
        }
    }

    /// The key in force gets its place back, and the one that was there lies beside it.
    fn save(&self, old: &HostKey, new: &HostKey) -> Result<(), RotationError> {
        if matches!(self.source, KeySource::Agent { .. }) {
            return Ok(());
        }
        let (place, beside) = (self.role.as_str(), name_of_new(self.role));
        if self.load(place)?.is_some_and(|found| found.is(new)) {
            old.write_to(&self.keys, &beside)?;
            self.keys.exchange(place, &beside)?;
        }
        for (name, key) in [(place, old), (beside.as_str(), new)] {
            if !self.load(name)?.is_some_and(|found| found.is(key)) {
                return Err(RotationError::Strange(self.keys.path(name)));
            }
        }
        Ok(())
    }
}

/// Finishes the changes of keys that were interrupted, and gives a key in force its place back. Credentials
/// are left as they are. `log` is the log's place, which no other process may have open. An agent must still hold the
/// key that goes.
///
/// # Errors
/// Any [`RotationError`]; then the same call finishes what was begun.
pub fn finish_rotations(
    source: &KeySource,
    log: &LogPlace,
    now: UtcTime,
) -> Result<Vec<Rotated>, RotationError> {
    if matches!(source, KeySource::Credentials { .. }) || !source.public().is_dir() {
        return Ok(Vec::new());
    }
    let keys = KeyDirectory::open(source.public(), Custody::Ours)?;
    let mut finished = Vec::new();
    for &role in KeyRole::ALL {
        let Some(change) = Rotation::pending_in(&keys, role)? else { continue };
        let (source, successor) = match source {
            KeySource::Agent { .. } => of_agent(source, &change)?,
            _ => (source.clone(), Successor::Made),
        };
        finished.push(rotate(&source, role, successor, log.clone(), now)?);
    }
    if let KeySource::Directory(directory) = source {
        for &role in KeyRole::ALL {
            put_back(source, directory, role)?;
        }
    }
    Ok(finished)
}

/// Exchanges the key in force, which was saved beside the one that was put in its place, with that one.
fn put_back(source: &KeySource, directory: &Path, role: KeyRole) -> Result<(), RotationError> {
    if !directory.join(name_of_new(role)).exists() {
        return Ok(());
    }
    let rotation = Rotation::open(source, role)?;
    // A key beside it that cannot be used is judged when it is to be taken over.
    let Ok(Some(beside)) = rotation.load(&name_of_new(role)) else { return Ok(()) };
    if rotation.is_in_force(&beside.public()).is_ok() {
        rotation.keys.exchange(role.as_str(), &name_of_new(role))?;
    }
    Ok(())
}

/// The keys as the agent had them before the change, and the one that comes.
fn of_agent(
    source: &KeySource,
    change: &KeyChange,
) -> Result<(KeySource, Successor), RotationError> {
    let [old, new] = change.fingerprints().map(|text| text.parse::<KeyFingerprint>());
    let (Ok(old), Ok(new)) = (old, new) else {
        return Err(RotationError::Source("the change of keys: its keys have no fingerprint"));
    };
    let mut before = source.clone();
    if let KeySource::Agent { result, log, .. } = &mut before {
        match change.role() {
            KeyRole::Result => *result = old,
            KeyRole::Log => *log = old,
        }
    }
    Ok((before, Successor::InAgent(new)))
}

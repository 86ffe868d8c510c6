//! Key rotation while the host runs: the new key is in the place of the old one, next to it, or at
//! the agent, and the host still holds the old key. Nothing may be written before every possible
//! check.
//!
//! A new key in the place of the active key becomes `<key>.new`: the active key is written to that
//! name, and the two files are exchanged. A crash in between leaves both, and the next start
//! exchanges them. The other steps are those of `toolexec keys rotate`, so either can finish.

use std::path::Path;
use std::sync::Arc;

use model::UtcTime;

use crate::key_error::HostKeyError;
use crate::key_files::{KeyDirectory, KeyFileOwner};
use crate::key_model::KeyFingerprint;
use crate::key_protection;
use crate::key_source::{HostKeys, KeySource};
use crate::log::{KeyChange, KeyRole, Log, LogError, LogKey, LogLocation};
use crate::result_key::ResultKey;
use crate::rotation::{
    CompletedRotation, HostKey, Rotation, RotationError, Successor, new_key_file, rotate,
};

/// The keys that a host signs with.
#[derive(Clone, Debug)]
pub struct ActiveKeys {
    /// The active result key.
    pub result: Arc<ResultKey>,
    /// The active log key.
    pub log: Arc<LogKey>,
}

/// A new key that waits to replace the active one.
#[derive(Debug)]
pub struct Takeover {
    source: KeySource,
    old: HostKey,
    new: HostKey,
}

/// The reason why a rotation was not completed.
#[derive(Debug)]
pub enum TakeoverError {
    /// Nothing was changed; the old key is active.
    NotBegun(RotationError),
    /// Both keys signed the rotation. No key of this role may sign before it is finished.
    Unfinished(RotationError),
}

impl From<LogError> for TakeoverError {
    fn from(error: LogError) -> Self {
        Self::NotBegun(error.into())
    }
}

/// Returns the keys of a source that differ from the active ones, checked as far as possible
/// without writing. The result key comes first.
///
/// # Errors
/// Any [`RotationError`]: a key that cannot be used or cannot replace the other.
pub fn takeovers(
    source: &KeySource,
    at_work: &ActiveKeys,
    now: UtcTime,
) -> Result<Vec<Takeover>, RotationError> {
    key_protection::keep_memory_private().map_err(HostKeyError::Protection)?;
    if matches!(source, KeySource::Credentials { .. }) {
        return unchanged_credentials(source, at_work);
    }
    let mut found = Vec::new();
    for old in [HostKey::Result(at_work.result.clone()), HostKey::Log(at_work.log.clone())] {
        let rotation = Rotation::open(source, old.role())?;
        if old.is_in_agent() != matches!(source, KeySource::Agent { .. }) {
            return Err(RotationError::Source(
                "keys: cannot move between files and an agent at run time; help: stop the daemon \
                 first",
            ));
        }
        rotation.check_active(&old.public())?;
        let Some(new) = rotation.new_key(&old)? else { continue };
        rotation.check_successor(&new, now)?;
        found.push(Takeover { source: source.clone(), old, new });
    }
    Ok(found)
}

fn unchanged_credentials(
    source: &KeySource,
    at_work: &ActiveKeys,
) -> Result<Vec<Takeover>, RotationError> {
    let keys = HostKeys::open(source, at_work.log.public().origin())?;
    let same = keys.result.public() == at_work.result.public()
        && keys.log.public() == at_work.log.public();
    if same { Ok(Vec::new()) } else { Err(RotationError::CredentialsChanged) }
}

impl Takeover {
    /// Returns the role of the rotated key.
    #[must_use]
    pub fn role(&self) -> KeyRole {
        self.old.role()
    }

    /// Returns the new key.
    #[must_use]
    pub fn successor(&self) -> &HostKey {
        &self.new
    }

    /// Saves the active key, which the new key may have overwritten. Must precede every rotation.
    ///
    /// # Errors
    /// [`RotationError`]: the files changed since they were read, or cannot be written.
    pub fn save(&self) -> Result<(), RotationError> {
        Rotation::open(&self.source, self.old.role())?.save(&self.old, &self.new)
    }

    /// Rotates the key. `log` is this host's log, opened with its active key.
    ///
    /// # Errors
    /// [`TakeoverError`], which says whether the old key is still active.
    pub fn carry_out(
        &self,
        log: &mut Log,
        now: UtcTime,
    ) -> Result<CompletedRotation, TakeoverError> {
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
        Ok(CompletedRotation::by(&change))
    }
}

impl Rotation<'_> {
    /// Returns the new key, in the place of this one or next to it.
    fn new_key(&self, old: &HostKey) -> Result<Option<HostKey>, RotationError> {
        if matches!(self.source, KeySource::Agent { .. }) {
            return Ok(Some(self.key(self.role)?).filter(|found| !found.is(old)));
        }
        let in_place = self.load(self.role.as_str())?;
        let beside = self.load(&new_key_file(self.role))?;
        let [in_place_new, beside] = [in_place, beside].map(|it| it.filter(|found| !found.is(old)));
        match (in_place_new, beside) {
            (Some(_), Some(_)) => {
                Err(RotationError::TwoNewKeys(self.keys.path(&new_key_file(self.role))))
            }
            (Some(new), None) | (None, Some(new)) => Ok(Some(new)),
            (None, None) if self.load(self.role.as_str())?.is_none() => {
                Err(self.keys.missing(self.role.as_str()).into())
            }
            (None, None) => Ok(None),
        }
    }

    /// Puts the active key back in its place, and the key that was there next to it.
    fn save(&self, old: &HostKey, new: &HostKey) -> Result<(), RotationError> {
        if matches!(self.source, KeySource::Agent { .. }) {
            return Ok(());
        }
        let (place, beside) = (self.role.as_str(), new_key_file(self.role));
        if self.load(place)?.is_some_and(|found| found.is(new)) {
            old.write_to(&self.keys, &beside)?;
            self.keys.exchange(place, &beside)?;
        }
        for (name, key) in [(place, old), (beside.as_str(), new)] {
            if !self.load(name)?.is_some_and(|found| found.is(key)) {
                return Err(RotationError::OtherKey(self.keys.path(name)));
            }
        }
        Ok(())
    }
}

/// Finishes interrupted rotations, and puts an active key back in its place. Leaves credentials as
/// they are. `log` must not be open in another process. An agent must still hold the old key.
///
/// # Errors
/// Any [`RotationError`]. The same call then finishes what was begun.
pub fn finish_rotations(
    source: &KeySource,
    log: &LogLocation,
    now: UtcTime,
) -> Result<Vec<CompletedRotation>, RotationError> {
    if matches!(source, KeySource::Credentials { .. }) || !source.public().is_dir() {
        return Ok(Vec::new());
    }
    let keys = KeyDirectory::open(source.public(), KeyFileOwner::ThisUser)?;
    let mut finished = Vec::new();
    for &role in KeyRole::ALL {
        let Some(change) = Rotation::pending_in(&keys, role)? else { continue };
        let (source, successor) = match source {
            KeySource::Agent { .. } => agent_before(source, &change)?,
            _ => (source.clone(), Successor::Generated),
        };
        finished.push(rotate(&source, role, successor, log.clone(), now)?);
    }
    if let KeySource::Directory(directory) = source {
        for &role in KeyRole::ALL {
            restore_active(source, directory, role)?;
        }
    }
    Ok(finished)
}

/// Exchanges a saved active key with the key in its place.
fn restore_active(
    source: &KeySource,
    directory: &Path,
    role: KeyRole,
) -> Result<(), RotationError> {
    if !directory.join(new_key_file(role)).exists() {
        return Ok(());
    }
    let rotation = Rotation::open(source, role)?;
    // An unusable key next to it is reported when it is taken over.
    let Ok(Some(beside)) = rotation.load(&new_key_file(role)) else { return Ok(()) };
    if rotation.check_active(&beside.public()).is_ok() {
        rotation.keys.exchange(role.as_str(), &new_key_file(role))?;
    }
    Ok(())
}

/// Returns the agent's keys before the rotation, and the new key.
fn agent_before(
    source: &KeySource,
    change: &KeyChange,
) -> Result<(KeySource, Successor), RotationError> {
    let [old, new] = change.fingerprints().map(|text| text.parse::<KeyFingerprint>());
    let (Ok(old), Ok(new)) = (old, new) else {
        return Err(RotationError::Source(
            "key rotation: its keys have no fingerprint; help: report this as a bug",
        ));
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

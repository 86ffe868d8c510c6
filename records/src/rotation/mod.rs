//! Key rotation: one at a time, logged before it takes effect. After an interruption, the same call
//! finishes it. The old private key must never be deleted before the log contains the rotation. No
//! key may sign while it is undecided which one is active. The order of writes:
//!
//! 1. `<key>.new`: the private half of the new key (not for a key of an agent). The old key is
//!    active. After an interruption here, the next rotation uses the file.
//! 2. `<key>.change`: the entry, signed by both keys. From here on no other call opens either key.
//! 3. The entry is appended to the log. If the log's key is rotated, both keys sign the checkpoint.
//! 4. `retired` gets the end of the old key's validity.
//! 5. `<key>.new` is renamed to `<key>`: **the new key is active.**
//! 6. The public files are replaced by those of the new key.
//! 7. `<key>.change` is removed.

mod error;
mod host_key;
mod takeover;

use model::UtcTime;

use crate::key_error::HostKeyError;
use crate::key_files::{KeyDirectory, KeyFileOwner, PUBLIC_BYTES_MAX};
use crate::key_model::DatedKey;
use crate::key_model::KeyFingerprint;
use crate::key_protection;
use crate::key_source::{KeySource, agent_log_key, agent_result_key};
use crate::log::{
    ENTRY_BYTES_MAX, KeyChange, KeyRole, Log, LogKey, LogLocation, LogOrigin, PublicLogKey,
};
use crate::public_keys::{PublicHostKey, RETIRED, RetiredKeys, log_line, result_line};
use crate::result_key::PublicResultKey;
use crate::{log_key_files, result_key_files};

pub use error::RotationError;
pub use host_key::HostKey;
pub use takeover::{ActiveKeys, Takeover, TakeoverError, finish_rotations, takeovers};

/// The origin of the new key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Successor {
    /// It is generated in the directory of the old one.
    Generated,
    /// It is in the agent that holds the old one.
    InAgent(KeyFingerprint),
}

/// A completed rotation.
#[derive(Debug)]
pub struct CompletedRotation {
    /// The role of the key.
    pub role: KeyRole,
    /// The fingerprint of the old key.
    pub old: String,
    /// The fingerprint of the new key.
    pub new: String,
    /// The time at which the new key's validity begins.
    pub time: UtcTime,
}

struct Rotation<'a> {
    source: &'a KeySource,
    role: KeyRole,
    keys: KeyDirectory,
    origin: LogOrigin,
    retired: RetiredKeys,
    change: &'static str,
}

/// Rotates one key, or finishes its interrupted rotation. `log` must not be open elsewhere. `now`
/// is the end of the old key's validity, unless an interrupted rotation already states it.
///
/// # Errors
/// Any [`RotationError`]. The same call then finishes what was begun.
pub fn rotate(
    source: &KeySource,
    role: KeyRole,
    successor: Successor,
    log: impl Into<LogLocation>,
    now: UtcTime,
) -> Result<CompletedRotation, RotationError> {
    key_protection::keep_memory_private().map_err(HostKeyError::Protection)?;
    let rotation = Rotation::open(source, role)?;
    let log_key = rotation.log_key()?;
    let key = rotation.key(role)?;
    // Only the process that has the log open may rotate keys.
    let mut log = Log::open_or_create(log, log_key)?;
    let successor = rotation.successor(successor, &key)?;
    let change = rotation.change(&key, &successor, now)?;
    rotation.carry_out(&change, &key, &successor, &mut log)?;
    Ok(CompletedRotation::by(&change))
}

impl CompletedRotation {
    fn by(change: &KeyChange) -> Self {
        let [old, new] = change.fingerprints();
        Self { role: change.role(), old, new, time: change.time() }
    }
}

impl<'a> Rotation<'a> {
    fn open(source: &'a KeySource, role: KeyRole) -> Result<Self, RotationError> {
        if matches!(source, KeySource::Credentials { .. }) {
            return Err(RotationError::Source(
                "systemd credentials: keys cannot be rotated in place; help: rotate the key in a \
                 directory, then encrypt it again (docs/keys.md)",
            ));
        }
        let keys = KeyDirectory::open(source.public(), KeyFileOwner::ThisUser)?;
        let another = match role {
            KeyRole::Result => KeyRole::Log,
            KeyRole::Log => KeyRole::Result,
        };
        match keys.refuse_unfinished(change_file(another)) {
            Err(HostKeyError::Unfinished { .. }) => {
                return Err(RotationError::OtherUnfinished(another));
            }
            settled => settled?,
        }
        let public = PublicLogKey::open_in(&keys)?;
        let public = public.ok_or_else(|| keys.missing(log_key_files::PUBLIC))?;
        let (origin, retired) = (public.origin().clone(), RetiredKeys::open(&keys)?);
        Ok(Self { source, role, keys, origin, retired, change: change_file(role) })
    }

    /// Loads the key that is in its place now, even during a rotation.
    fn key(&self, role: KeyRole) -> Result<HostKey, HostKeyError> {
        match (self.source, role) {
            (KeySource::Agent { socket, result, .. }, KeyRole::Result) => {
                Ok(agent_result_key(socket, *result)?.into())
            }
            (KeySource::Agent { .. }, KeyRole::Log) => Ok(self.log_key()?.into()),
            (_, KeyRole::Result) => {
                self.load(role.as_str())?.ok_or_else(|| self.keys.missing(role.as_str()))
            }
            (_, KeyRole::Log) => Ok(self.log_key()?.into()),
        }
    }

    fn load(&self, name: &str) -> Result<Option<HostKey>, HostKeyError> {
        Ok(match self.role {
            KeyRole::Result => result_key_files::load(&self.keys, name)?.map(HostKey::from),
            KeyRole::Log => log_key_files::load(&self.keys, name, &self.origin)?.map(HostKey::from),
        })
    }

    fn log_key(&self) -> Result<LogKey, HostKeyError> {
        if let KeySource::Agent { socket, log, .. } = self.source {
            return agent_log_key(socket, *log, &self.origin);
        }
        let key = log_key_files::load(&self.keys, log_key_files::PRIVATE, &self.origin)?;
        key.ok_or_else(|| self.keys.missing(log_key_files::PRIVATE))
    }

    /// Returns the new key, also if it has already replaced the old one.
    fn successor(&self, successor: Successor, key: &HostKey) -> Result<HostKey, RotationError> {
        let found = match (self.source, successor, self.role) {
            (KeySource::Agent { socket, .. }, Successor::InAgent(new), KeyRole::Result) => {
                agent_result_key(socket, new)?.into()
            }
            (KeySource::Agent { socket, .. }, Successor::InAgent(new), KeyRole::Log) => {
                agent_log_key(socket, new, &self.origin)?.into()
            }
            (KeySource::Agent { .. }, Successor::Generated, _) => {
                return Err(RotationError::Source(
                    "an agent holds this key; help: add the new key with `ssh-add` and pass its \
                     fingerprint",
                ));
            }
            (_, Successor::InAgent(_), _) => {
                return Err(RotationError::Source(
                    "no agent holds this key; help: omit the fingerprint to generate a new key",
                ));
            }
            (_, Successor::Generated, role) => return self.generated(role, key),
        };
        Ok(found)
    }

    fn generated(&self, role: KeyRole, key: &HostKey) -> Result<HostKey, RotationError> {
        let name = new_key_file(self.role);
        if let Some(new) = self.load(&name)? {
            return Ok(new);
        }
        if let Some(change) = self.pending()? {
            // The new key has already been renamed.
            if change.new_spki() == key.rotation_key().spki() {
                return Ok(self.key(role)?);
            }
            return Err(RotationError::OtherKey(self.keys.path(self.change)));
        }
        Ok(match role {
            KeyRole::Result => result_key_files::create(&self.keys, &name)?.into(),
            KeyRole::Log => log_key_files::create(&self.keys, &name, &self.origin)?.into(),
        })
    }

    fn pending(&self) -> Result<Option<KeyChange>, RotationError> {
        Self::pending_in(&self.keys, self.role)
    }

    /// Reads the unfinished rotation of this role, if any.
    fn pending_in(keys: &KeyDirectory, role: KeyRole) -> Result<Option<KeyChange>, RotationError> {
        let name = change_file(role);
        let Some(entry) = keys.read(name, ENTRY_BYTES_MAX)? else { return Ok(None) };
        let change = KeyChange::verify(&entry);
        change.map(Some).map_err(|fault| RotationError::Change(keys.path(name), fault))
    }

    /// Returns the rotation, signed by both keys and durably written.
    fn change(
        &self,
        key: &HostKey,
        successor: &HostKey,
        now: UtcTime,
    ) -> Result<KeyChange, RotationError> {
        let (old, new) = (key.rotation_key(), successor.rotation_key());
        let change = match self.pending()? {
            Some(change) => change,
            None => self.begin(key, successor, now)?,
        };
        let ours = change.role() == self.role
            && change.new_spki() == new.spki()
            && [change.old_spki(), change.new_spki()].contains(&old.spki().as_slice());
        if ours { Ok(change) } else { Err(RotationError::OtherKey(self.keys.path(self.change))) }
    }

    /// Step 2: both keys sign.
    fn begin(
        &self,
        key: &HostKey,
        successor: &HostKey,
        now: UtcTime,
    ) -> Result<KeyChange, RotationError> {
        self.check_active(&key.public())?;
        self.check_successor(successor, now)?;
        let change = KeyChange::sign(key.rotation_key(), successor.rotation_key(), now)
            .map_err(RotationError::Signing)?;
        // Verify the entry exactly as every reader will.
        let change = KeyChange::verify(change.entry())
            .map_err(|fault| RotationError::Change(self.keys.path(self.change), fault))?;
        self.keys.create_file(self.change, 0o644, change.entry())?;
        Ok(change)
    }

    /// Checks that this key may become active at this time.
    fn check_successor(&self, successor: &HostKey, now: UtcTime) -> Result<(), RotationError> {
        if self.retired.has(&successor.public()) {
            return Err(RotationError::RetiredKey(successor.public().fingerprint()));
        }
        if let Some(last) = self.active_since().filter(|last| now < *last) {
            return Err(RotationError::Clock(last));
        }
        Ok(())
    }

    /// Checks that this key is active: a stale configuration may still name a retired one.
    fn check_active(&self, key: &PublicHostKey) -> Result<(), RotationError> {
        let (same, file) = match key {
            PublicHostKey::Result(key) => {
                (PublicResultKey::open_in(&self.keys)? == *key, result_key_files::PUBLIC)
            }
            PublicHostKey::Log(key) => {
                (PublicLogKey::open_in(&self.keys)?.as_ref() == Some(key), log_key_files::PUBLIC)
            }
        };
        if same { Ok(()) } else { Err(RotationError::OtherKey(self.keys.path(file))) }
    }

    /// Performs those of steps 3 to 7 that are not done yet.
    fn carry_out(
        &self,
        change: &KeyChange,
        key: &HostKey,
        successor: &HostKey,
        log: &mut Log,
    ) -> Result<(), RotationError> {
        if change.old_spki() == key.rotation_key().spki() {
            match successor {
                HostKey::Log(successor) => log.append_rotation(change.entry(), successor)?,
                HostKey::Result(_) => log.append(change.entry())?,
            };
            self.retire(change.time(), key.public())?;
        }
        self.activate(successor.public())
    }

    /// Performs steps 4 and 5.
    fn retire(&self, time: UtcTime, key: PublicHostKey) -> Result<(), RotationError> {
        if !self.retired.has(&key) {
            let (last, valid_before) = (self.active_since(), Some(time));
            let line = match key {
                PublicHostKey::Result(key) => {
                    result_line(&DatedKey { key, valid_after: last, valid_before })
                }
                PublicHostKey::Log(key) => {
                    log_line(&DatedKey { key, valid_after: last, valid_before })
                }
            };
            let before = self.keys.read(RETIRED, PUBLIC_BYTES_MAX)?.unwrap_or_default();
            let lines = [line.as_bytes(), b"\n", &before].concat();
            self.keys.replace(RETIRED, &lines)?;
        }
        if !matches!(self.source, KeySource::Agent { .. }) {
            self.keys.rename(&new_key_file(self.role), self.role.as_str())?;
        }
        Ok(())
    }

    /// Performs steps 6 and 7.
    fn activate(&self, key: PublicHostKey) -> Result<(), RotationError> {
        let retired = RetiredKeys::open(&self.keys)?;
        match key {
            PublicHostKey::Result(key) => {
                let public = format!("{}\n", key.openssh_line());
                self.keys.replace(result_key_files::PUBLIC, public.as_bytes())?;
                let signers = retired.with_result(key).allowed_signers();
                self.keys.replace(result_key_files::ALLOWED_SIGNERS, signers.as_bytes())?;
            }
            PublicHostKey::Log(key) => {
                let lines = retired.with_log(key).verifier_lines();
                self.keys.replace(log_key_files::PUBLIC, lines.as_bytes())?;
            }
        }
        Ok(self.keys.remove(self.change)?)
    }

    /// Returns the start of the active key's validity, if it has a predecessor.
    fn active_since(&self) -> Option<UtcTime> {
        self.retired.last_end(self.role)
    }
}

fn new_key_file(role: KeyRole) -> String {
    format!("{role}.new")
}

fn change_file(role: KeyRole) -> &'static str {
    match role {
        KeyRole::Result => result_key_files::CHANGE,
        KeyRole::Log => log_key_files::CHANGE,
    }
}

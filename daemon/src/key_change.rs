//! Takes over new keys during a reload, each after its log entry. A key that cannot be used refuses
//! the reload, and the present key stays in use.

use records::log::LogLocation;
use records::{
    ActiveKeys, CompletedRotation, HostKey, KeySource, RotationError, Takeover, TakeoverError,
    finish_rotations, takeovers,
};

use crate::log_event::{self, LogEvent, LogEventFields};
use crate::model::DaemonError;
use crate::state::Daemon;
use crate::system;

impl Daemon {
    /// Takes over the keys that are not yet in use. Returns the reason if a key is refused.
    ///
    /// # Errors
    /// [`DaemonError`]: a change that both keys signed is unfinished; the next start finishes it.
    pub(crate) fn take_over_keys(
        &self,
        source: &KeySource,
    ) -> Result<Result<(), String>, DaemonError> {
        let at_work = ActiveKeys { result: self.key(), log: self.log.signing_key() };
        let waiting = match takeovers(source, &at_work, system::now()) {
            Ok(waiting) => waiting,
            Err(error) => return Ok(Err(error.to_string())),
        };
        for one in &waiting {
            if let Err(error) = one.save() {
                return Ok(Err(format!("{} key: {error}", one.role())));
            }
        }
        for one in waiting {
            // A change that was started must be finished, even on a full disk.
            let _reserve = self.spool.use_reserve();
            match self.take_over_key(&one) {
                Ok(done) => log_rotated(&done),
                Err(TakeoverError::NotBegun(error)) => {
                    return Ok(Err(format!("{} key: {error}", one.role())));
                }
                Err(TakeoverError::Unfinished(error)) => return Err(DaemonError::KeyChange(error)),
            }
        }
        Ok(Ok(()))
    }

    fn take_over_key(&self, takeover: &Takeover) -> Result<CompletedRotation, TakeoverError> {
        match takeover.successor() {
            HostKey::Result(key) => self
                .signer
                .change(key, |now| self.log.change_key(None, |log| takeover.carry_out(log, now))),
            HostKey::Log(key) => {
                let now = system::now();
                self.log.change_key(Some(key), |log| takeover.carry_out(log, now))
            }
        }
    }
}

/// Finishes an interrupted key change. Must run before the keys are opened.
///
/// # Errors
/// [`RotationError`]; the keys cannot be opened before the change is finished.
pub fn finish_key_changes(source: &KeySource, log: &LogLocation) -> Result<(), RotationError> {
    finish_rotations(source, log, system::now())?.iter().for_each(log_rotated);
    Ok(())
}

fn log_rotated(done: &CompletedRotation) {
    let CompletedRotation { role, old, new, time } = done;
    let why = format!("{role} key: {new} replaces {old} at {time}");
    let fields = LogEventFields { reason: Some(&why), ..LogEventFields::default() };
    log_event::log(LogEvent::KeyChanged, &fields);
}

//! The event loop during a shortage: it admits nothing, checks for the end of the shortage, and
//! settles unfinished claims before it admits anything. It must never block here, because readers
//! and the service manager still get updates.

use std::time::{Duration, Instant};

use super::at_work::AtWork;
use crate::metrics::StoppedBy;
use crate::model::Halt;
use crate::transition::{self, Fields, Transition};

/// The interval of the checks during a shortage.
const ROOM_INTERVAL: Duration = Duration::from_secs(1);

impl AtWork<'_, '_> {
    /// Recovers the claims of an earlier daemon, or those that a shortage interrupted. If a
    /// shortage prevents that, nothing is admitted.
    pub(super) fn settle(&mut self) -> Result<(), Halt> {
        // No worker is active, and this thread must not wait.
        self.host.room_wanted.stop();
        let recovered = self.host.recover();
        self.host.room_wanted.look();
        let settled = match recovered {
            Err(halt) => {
                let Some(want) = halt.want() else { return Err(halt) };
                self.host.room_wanted.unsettle();
                self.host.room_wanted.note(want, &halt);
                return Ok(());
            }
            Ok(settled) => settled,
        };
        for id in settled.told {
            let result = Some(id.as_str());
            transition::log(Transition::Recovered, &Fields { result, ..Fields::default() });
        }
        for name in settled.left {
            let identity = self.dropbox.identity(&name);
            self.left_alone.extend(identity.map(|identity| (name, identity)));
        }
        self.host.room_wanted.settled();
        Ok(())
    }

    /// Notes a shortage, which does not end the daemon. Returns any other error.
    pub(super) fn without_room(&mut self, halt: Halt) -> Result<(), Halt> {
        let Some(want) = halt.want() else { return Err(halt) };
        self.host.room_wanted.note(want, &halt);
        self.look_wanted = true;
        Ok(())
    }

    /// Returns whether the shortage has ended. Interrupted claims are settled before anything is
    /// admitted.
    pub(super) fn is_there_room(&mut self, now: Instant) -> Result<bool, Halt> {
        let Some((want, why)) = self.host.room_wanted.why() else { return Ok(true) };
        self.stop_admission(StoppedBy::lacking(want), why);
        if now < self.next_room_look {
            return Ok(false);
        }
        self.next_room_look = now + ROOM_INTERVAL;
        match self.host.try_room() {
            Err(error) if error.want().is_some() => return Ok(false),
            tried => tried?,
        }
        if self.host.room_wanted.is_unsettled() {
            if !self.in_flight.is_empty() {
                return Ok(false);
            }
            // Recovery removes slots without a claim, and those of prewarmed sandboxes have none.
            self.host.give_up_ready();
            self.settle()?;
            if self.host.room_wanted.is_unsettled() {
                return Ok(false);
            }
        }
        self.host.room_wanted.found();
        self.look_wanted = true;
        if self.admission_stopped()?.is_none() {
            self.resume_admission();
        }
        Ok(true)
    }
}

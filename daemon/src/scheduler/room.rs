//! The loop without room on a disk: it admits nothing, tries whether there is room again, and settles what was left
//! before it admits anything. It must never wait here: readers and the manager are told meanwhile.

use std::time::{Duration, Instant};

use super::at_work::AtWork;
use crate::metrics::StoppedBy;
use crate::model::Halt;
use crate::transition::{self, Fields, Transition};

/// While there is no room, it is tried this often whether there is.
const ROOM_INTERVAL: Duration = Duration::from_secs(1);

impl AtWork<'_, '_> {
    /// Takes what an earlier daemon left, or a want of room did, to its end. Without room for that nothing is
    /// admitted.
    pub(super) fn settle(&mut self) -> Result<(), Halt> {
        // Nobody is at work, and this thread must not wait.
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

    /// A want of room ends nothing: it is waited for.
    pub(super) fn without_room(&mut self, halt: Halt) -> Result<(), Halt> {
        let Some(want) = halt.want() else { return Err(halt) };
        self.host.room_wanted.note(want, &halt);
        self.look_wanted = true;
        Ok(())
    }

    /// Whether there is room, or is again. What was left meanwhile is settled before anything is admitted.
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
            // Recovery takes slots of no claim away, and those of ready cells are such.
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

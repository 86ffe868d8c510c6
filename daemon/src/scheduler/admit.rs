//! Admission: whether anything may be taken now, and whether this request may. A held request is
//! decided again only after one of its inputs has changed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use model::UtcTime;
use records::split_reason;
use spool::{Waiting, Want};

use super::at_work::{AssignedRequest, AtWork};
use super::model::{FileIdentity, WorkerControl};
use super::worker::{self, Assignment};
use crate::held::{self, DroppedFile};
use crate::host::Renewed;
use crate::metrics::StoppedBy;
use crate::model::ConfigError;
use crate::model::Halt;
use crate::room_wanted::told;
use crate::system;

impl<'env> AtWork<'_, 'env> {
    /// Assigns the next requests to workers, up to the limit.
    pub(super) fn admit(&mut self) -> Result<(), Halt> {
        while self.in_flight.len() < self.pace.in_flight_max {
            if self.window.len() == 0 {
                // More requests wait behind a window that was full.
                self.look_wanted |= self.window.is_cut();
                return Ok(());
            }
            if let Some((by, why)) = self.admission_stopped()? {
                self.stop_admission(by, why);
                return Ok(());
            }
            self.resume_admission();
            let Some((waiting, identity)) = self.window.next() else { return Ok(()) };
            self.publisher.waiting = self.publisher.waiting.saturating_sub(1);
            self.take(waiting, identity)?;
        }
        Ok(())
    }

    /// Reads the trust store again. If it has changed, requests that are not started are decided
    /// again.
    pub(super) fn renew_trust(&self) -> Result<(), ConfigError> {
        if self.host.renew_trust()? == Renewed::Changed {
            self.decide_anew();
        }
        Ok(())
    }

    /// Releases every request that is in progress and not started.
    pub(super) fn decide_anew(&self) {
        for AssignedRequest { word, .. } in self.in_flight.values() {
            word.leave.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the reason why nothing may be taken: no sandbox can be started, the trust store
    /// cannot be read, the clock is wrong, or no record could be written.
    pub(super) fn admission_stopped(&self) -> Result<Option<(StoppedBy, String)>, Halt> {
        if let Some(stopped) = self.fitness.stopped() {
            return Ok(Some(stopped));
        }
        if let Err(error) = self.renew_trust() {
            let error = error.to_string();
            let (what, help) = split_reason(&error);
            let help = help.unwrap_or("fix the file; admission resumes by itself");
            let why = format!("{what}; nothing is admitted until this is fixed; help: {help}");
            return Ok(Some((StoppedBy::Trust, why)));
        }
        if let Err(behind) = self.host.floor.check() {
            return Ok(Some((StoppedBy::Clock, behind.to_string())));
        }
        match self.host.keep_room() {
            Ok(()) => Ok(None),
            Err(error) => {
                let Some(want) = error.want() else { return Err(error.into()) };
                self.host.room_wanted.note(want, &error);
                let by = match want {
                    Want::Room => StoppedBy::NoRoom,
                    Want::Descriptors => StoppedBy::Descriptors,
                };
                Ok(Some((by, told(want, &error))))
            }
        }
    }

    fn take(&mut self, waiting: Waiting, identity: FileIdentity) -> Result<(), Halt> {
        let name = waiting.name().to_owned();
        if self.in_flight.contains_key(&name) {
            return Ok(());
        }
        let companions = self.companions.remove(&name).unwrap_or_default();
        let files = self.dropbox.digest(&name, &companions);
        let ordered = match self.dropbox.order(&name, &companions) {
            Ok(ordered) => ordered,
            Err(error) => {
                tracing::warn!("the request waits until this is fixed: {error}");
                return Ok(());
            }
        };
        let standing = held::standing(Some(&files), &self.host.standing()?);
        if self.held.rests(&name, standing, system::now()) {
            return Ok(());
        }
        if self.held.contains(&name) {
            // The request is being decided; a new hold publishes it again.
            held::told_or_warned(self.host.spool.forget_held(&name));
        }
        let (inode, changed_sec, _) = identity;
        let now = DroppedFile { inode, at: UtcTime::from_unix(changed_sec) };
        let dropped = self.held.dropped(&name, inode).unwrap_or(now);
        let until = self.host.held_until(dropped.at);
        let word = Arc::new(WorkerControl::default());
        let ticket = self.host.room.ticket();
        let work =
            Assignment { ticket, waiting, companions, ordered, until, word: Arc::clone(&word) };
        self.spawn(work)?;
        self.in_flight.insert(name, AssignedRequest { identity, standing, dropped, until, word });
        Ok(())
    }

    fn spawn(&self, work: Assignment<'env>) -> Result<(), Halt> {
        let (host, orders) = (self.host, self.orders);
        let (dropbox, send) = (Arc::clone(&self.dropbox), self.send.clone());
        let at_work = move || worker::work(host, &dropbox, orders, work, send);
        let spawned =
            thread::Builder::new().name("request".to_owned()).spawn_scoped(self.scope, at_work);
        spawned.map(drop).map_err(|error| Halt::Kernel("start a thread", error))
    }
}

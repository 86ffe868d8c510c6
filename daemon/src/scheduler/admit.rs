//! Admission: whether anything may be taken now, and whether this request may. A held request is
//! decided again only after one of its inputs has changed.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use model::UtcTime;
use records::split_reason;
use spool::{Shortage, SubmissionName};

use super::loop_state::{AssignedRequest, EventLoop};
use super::model::{FileIdentity, WorkerControl};
use super::worker::{self, Assignment};
use crate::held_requests::{self, SubmissionStamp};
use crate::metrics::AdmissionStopReason;
use crate::model::ConfigError;
use crate::model::DaemonError;
use crate::shortage::stop_reason;
use crate::state::TrustRenewal;
use crate::system;

impl<'env> EventLoop<'_, 'env> {
    pub(super) fn admit(&mut self) -> Result<(), DaemonError> {
        while self.in_flight.len() < self.loop_config.in_flight_max {
            if self.window.len() == 0 {
                // More requests wait behind a window that was full.
                self.scan_wanted |= self.window.is_cut();
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

    /// After a change of the trust store, requests that are not started are decided again.
    pub(super) fn renew_trust(&self) -> Result<(), ConfigError> {
        if self.host.renew_trust()? == TrustRenewal::Changed {
            self.release_unstarted();
        }
        Ok(())
    }

    pub(super) fn release_unstarted(&self) {
        for AssignedRequest { control: word, .. } in self.in_flight.values() {
            word.release.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the reason why nothing may be taken.
    pub(super) fn admission_stopped(
        &self,
    ) -> Result<Option<(AdmissionStopReason, String)>, DaemonError> {
        if let Some(stopped) = self.fitness.stopped() {
            return Ok(Some(stopped));
        }
        if let Err(error) = self.renew_trust() {
            let error = error.to_string();
            let (what, help) = split_reason(&error);
            let help = help.unwrap_or("fix the file; admission resumes by itself");
            let why = format!("{what}; nothing is admitted until this is fixed; help: {help}");
            return Ok(Some((AdmissionStopReason::Trust, why)));
        }
        if let Err(behind) = self.host.clock_floor.check() {
            return Ok(Some((AdmissionStopReason::Clock, behind.to_string())));
        }
        if let Some(why) = self.host.fleet_stopped() {
            return Ok(Some((AdmissionStopReason::Fleet, why)));
        }
        match self.host.check_space() {
            Ok(()) => Ok(None),
            Err(error) => {
                let Some(want) = error.shortage() else { return Err(error.into()) };
                self.host.shortage.note(want, &error);
                let by = match want {
                    Shortage::DiskSpace => AdmissionStopReason::NoSpace,
                    Shortage::Descriptors => AdmissionStopReason::Descriptors,
                };
                Ok(Some((by, stop_reason(want, &error))))
            }
        }
    }

    fn take(&mut self, waiting: SubmissionName, identity: FileIdentity) -> Result<(), DaemonError> {
        let name = waiting.name().to_owned();
        if self.in_flight.contains_key(&name) {
            return Ok(());
        }
        let sidecars = self.sidecars.remove(&name).unwrap_or_default();
        let files = self.dropbox.digest(&name, &sidecars);
        let ordered = match self.dropbox.order(&name, &sidecars) {
            Ok(ordered) => ordered,
            Err(error) => {
                tracing::warn!("the request waits until this is fixed: {error}");
                return Ok(());
            }
        };
        let digest = held_requests::decision_digest(Some(&files), &self.host.decision_digests()?);
        if self.held.is_unchanged(&name, digest, system::now()) {
            return Ok(());
        }
        if self.held.contains(&name) {
            // The request is being decided; a new hold publishes it again.
            held_requests::warn_if_failed(self.host.spool.remove_held(&name));
        }
        let (inode, changed_sec, _) = identity;
        let now = SubmissionStamp { inode, at: UtcTime::from_unix(changed_sec) };
        let dropped = self.held.submission_stamp(&name, inode).unwrap_or(now);
        let until = self.host.held_until(dropped.at);
        let word = Arc::new(WorkerControl::default());
        let ticket = self.host.capacity.ticket();
        let work = Assignment {
            ticket,
            waiting,
            sidecars,
            order: ordered,
            until,
            control: Arc::clone(&word),
        };
        self.spawn(work)?;
        self.in_flight.insert(
            name,
            AssignedRequest {
                identity,
                decision_digest: digest,
                stamp: dropped,
                until,
                control: word,
            },
        );
        Ok(())
    }

    fn spawn(&self, work: Assignment<'env>) -> Result<(), DaemonError> {
        let (host, orders) = (self.host, self.stop_state);
        let (dropbox, send) = (Arc::clone(&self.dropbox), self.send.clone());
        let at_work = move || worker::work(host, &dropbox, orders, work, send);
        let spawned =
            thread::Builder::new().name("request".to_owned()).spawn_scoped(self.scope, at_work);
        spawned.map(drop).map_err(|error| DaemonError::System("start a thread", error))
    }
}

//! A look at `approved/`: the submissions, their sidecar files, and the identity of the directory.
//! The time of a look grows with the number of files; the memory that it keeps does not.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use spool::{Inbox, OperatorOrder, SubmissionEntry};

use super::loop_state::EventLoop;
use super::model::EmptyListing;
use super::watch;
use crate::held_requests;
use crate::model::DaemonError;
use crate::system;

/// Coarse file times have a resolution of two seconds: a file may change twice within that time and
/// keep its time of change.
const SETTLED_SEC: i64 = 3;
/// Some file systems do not update the time of a directory; changes are found after this time.
const EMPTY_LISTING_TIME_MAX: Duration = Duration::from_secs(600);

/// An empty file may still be written during this time.
const EMPTY_FILE_TIME_MAX: Duration = Duration::from_secs(3);

fn has_settled((changed_sec, _): (i64, i64)) -> bool {
    let now_sec = system::now().unix();
    (SETTLED_SEC..).contains(&now_sec.saturating_sub(changed_sec))
}

fn may_be_incomplete(changed_sec: i64) -> bool {
    let age_sec = system::now().unix().saturating_sub(changed_sec);
    u64::try_from(age_sec).is_ok_and(|age_sec| age_sec < EMPTY_FILE_TIME_MAX.as_secs())
}

impl EventLoop<'_, '_> {
    /// Fills the window, and passes operators' orders to the requests in progress.
    pub(super) fn scan(&mut self) -> Result<(), DaemonError> {
        self.window.clear();
        if !self.is_in_place()? {
            // The next rescan tries again.
            return Ok(());
        }
        self.draft_signals.wake();
        let dropbox = Arc::clone(&self.dropbox);
        let changed_at = dropbox.changed_at()?;
        if self.is_still_empty(changed_at) {
            return Ok(());
        }
        self.forget_missing();
        self.accept_answers()?;
        let (mut waiting, mut held, mut is_being_written) = (0, Vec::new(), false);
        let listed = dropbox.each_submission(|submitted| {
            let name = submitted.submission.name();
            let left = self.ignored.get(name) == Some(&submitted.identity);
            if left || self.in_flight.contains_key(name) {
                return;
            }
            // `cp` creates a file first and fills it then.
            if submitted.is_empty && may_be_incomplete(submitted.identity.1) {
                is_being_written = true;
                return;
            }
            if self.held.contains(name) {
                held.push(submitted);
                return;
            }
            waiting += 1;
            self.window.offer(submitted);
        })?;
        if is_being_written {
            // Writing the file causes an event; a file that stays empty is refused.
            self.next_rescan = self.next_rescan.min(Instant::now() + EMPTY_FILE_TIME_MAX);
        }
        self.publisher.waiting = waiting;
        self.publisher.log_unnamable(dropbox.path(), listed.non_utf8_names);
        self.empty_listing = (listed.is_empty && has_settled(changed_at))
            .then(|| EmptyListing { changed_at, listed: Instant::now() });
        let in_flight = self.in_flight.keys().map(String::as_str);
        let of_held = held.iter().map(|one| one.submission.name());
        let wanted: BTreeSet<String> =
            self.window.names().chain(in_flight).chain(of_held).map(str::to_owned).collect();
        self.sidecars = match wanted.is_empty() {
            true => Default::default(),
            false => dropbox.sidecars_of(&wanted)?,
        };
        self.offer_changed(held)?;
        for (name, sidecars) in &self.sidecars {
            self.apply_orders(name, |file| sidecars.contains(OsStr::new(file)));
        }
        Ok(())
    }

    /// Passes orders to the requests in progress without a look at all submissions, which needs
    /// disk space and descriptors.
    pub(super) fn apply_orders_in_flight(&self) {
        for name in self.in_flight.keys() {
            self.apply_orders(name, |file| self.dropbox.identity(file).is_some());
        }
    }

    fn apply_orders(&self, name: &str, exists: impl Fn(&str) -> bool) {
        let has_order = |order: OperatorOrder| exists(&order.file_name(name));
        if has_order(OperatorOrder::Cancel) {
            self.apply_order(name, OperatorOrder::Cancel);
        } else if has_order(OperatorOrder::Hold) && !has_order(OperatorOrder::Release) {
            self.apply_order(name, OperatorOrder::Hold);
        }
    }

    /// Opening the directory would wake the inotify thread, so it is not listed while it is empty.
    fn is_still_empty(&self, changed_at: (i64, i64)) -> bool {
        self.empty_listing.as_ref().is_some_and(|empty| {
            empty.changed_at == changed_at && empty.listed.elapsed() < EMPTY_LISTING_TIME_MAX
        })
    }

    /// The unchanged ones take no place in the window.
    fn offer_changed(&mut self, held: Vec<SubmissionEntry>) -> Result<(), DaemonError> {
        if held.is_empty() {
            return Ok(());
        }
        let (host, nothing) = (self.host.decision_digests()?, BTreeSet::new());
        for submitted in held {
            let name = submitted.submission.name();
            let sidecars = self.sidecars.get(name).unwrap_or(&nothing);
            let files = self.dropbox.digest(name, sidecars);
            let digest = held_requests::decision_digest(Some(&files), &host);
            if !self.held.is_unchanged(name, digest, system::now()) {
                self.window.add(submitted);
            }
        }
        Ok(())
    }

    fn forget_missing(&mut self) {
        let dropbox = &self.dropbox;
        self.ignored.retain(|name, _| dropbox.identity(name).is_some());
        for gone in self.held.remove_missing(|name| dropbox.identity(name).is_some()) {
            held_requests::warn_if_failed(self.host.spool.remove_held(&gone));
        }
    }

    /// Accepts answers, before the requests that may wait for them.
    fn accept_answers(&mut self) -> Result<(), DaemonError> {
        // An unreadable trust store is reported at admission.
        if self.renew_trust().is_err() {
            return Ok(());
        }
        let rules = self.host.rules();
        if let Some(permissions) = &mut *self.host.permissions() {
            let places = (&self.host.spool, &*self.dropbox);
            permissions.accept_answers(places, &rules.policy, rules.trust.signers())?;
            permissions.publish(&self.host.spool)?;
        }
        Ok(())
    }

    /// If the directory was replaced or mounted over, opens it again and watches the new one.
    fn is_in_place(&mut self) -> Result<bool, DaemonError> {
        if self.dropbox.is_in_place() {
            return Ok(true);
        }
        let path = self.dropbox.path().to_owned();
        let dropbox = match Inbox::open(&path) {
            Ok(dropbox) => dropbox,
            Err(error) => {
                tracing::error!("nothing can be submitted until this directory is back: {error}");
                return Ok(false);
            }
        };
        dropbox.check_removable()?;
        tracing::warn!("{}: replaced by another directory, which is watched now", path.display());
        self.watcher =
            watch::watch(dropbox.path(), self.send.clone(), Arc::clone(&self.has_queued_event));
        self.dropbox = Arc::new(dropbox);
        self.empty_listing = None;
        Ok(true)
    }
}

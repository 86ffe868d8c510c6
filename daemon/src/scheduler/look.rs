//! Looking at the directory: what there is to take, what lies beside it, and whether it is still the
//! directory. The work of one look grows with what lies there; what is kept of it does not.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use spool::{Dropbox, Order, Submitted};

use super::at_work::AtWork;
use super::model::Empty;
use super::watch;
use crate::held;
use crate::model::Halt;
use crate::system;

/// The coarsest times of files are of two seconds: what changed since then may have changed again without
/// another time.
const SETTLED_SEC: i64 = 3;
/// Where a file system does not tell that something was put into a directory, it is seen by then.
const EMPTY_TIME_MAX: Duration = Duration::from_secs(600);

/// A file that has nothing in it may be filled for so long.
const FRESH: Duration = Duration::from_secs(3);

fn has_settled((changed_sec, _): (i64, i64)) -> bool {
    let now_sec = system::now().unix();
    (SETTLED_SEC..).contains(&now_sec.saturating_sub(changed_sec))
}

fn is_fresh(changed_sec: i64) -> bool {
    let age_sec = system::now().unix().saturating_sub(changed_sec);
    u64::try_from(age_sec).is_ok_and(|age_sec| age_sec < FRESH.as_secs())
}

impl AtWork<'_, '_> {
    /// Fills the window, and notices orders for what is on its way already.
    pub(super) fn look(&mut self) -> Result<(), Halt> {
        self.window.clear();
        if !self.is_in_place()? {
            // The next rescan looks for it.
            return Ok(());
        }
        let dropbox = Arc::clone(&self.dropbox);
        let changed_at = dropbox.changed_at()?;
        if self.is_still_empty(changed_at) {
            return Ok(());
        }
        self.forget_gone();
        self.take_answers()?;
        let (mut waiting, mut held, mut is_being_written) = (0, Vec::new(), false);
        let listed = dropbox.each_submission(|submitted| {
            let name = submitted.waiting.name();
            let left = self.left_alone.get(name).is_some_and(|it| it.0 == submitted.identity.0);
            if left || self.in_flight.contains_key(name) {
                return;
            }
            // `cp` makes a file first and fills it then: what has nothing in it yet is no request yet.
            if submitted.is_empty && is_fresh(submitted.identity.1) {
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
            // Filled, it is a hint; if nobody fills it, it is refused.
            self.next_rescan = self.next_rescan.min(Instant::now() + FRESH);
        }
        self.said.waiting = waiting;
        self.said.nameless(dropbox.path(), listed.nameless);
        self.empty = (listed.is_empty && has_settled(changed_at))
            .then(|| Empty { changed_at, listed: Instant::now() });
        let in_flight = self.in_flight.keys().map(String::as_str);
        let of_held = held.iter().map(|one| one.waiting.name());
        let wanted: BTreeSet<String> =
            self.window.names().chain(in_flight).chain(of_held).map(str::to_owned).collect();
        self.companions = match wanted.is_empty() {
            true => Default::default(),
            false => dropbox.companions_of(&wanted)?,
        };
        self.offer_woken(held)?;
        for (name, companions) in &self.companions {
            let lies_there = |order: Order| companions.contains(OsStr::new(&order.file_name(name)));
            if lies_there(Order::Cancel) {
                self.pass_on(name, Order::Cancel);
            } else if lies_there(Order::Hold) && !lies_there(Order::Release) {
                self.pass_on(name, Order::Hold);
            }
        }
        Ok(())
    }

    /// Whether there is no reason to list the directory: whoever opens it to do so wakes up the thread that
    /// hears of what is opened.
    fn is_still_empty(&self, changed_at: (i64, i64)) -> bool {
        self.empty.as_ref().is_some_and(|empty| {
            empty.changed_at == changed_at && empty.listed.elapsed() < EMPTY_TIME_MAX
        })
    }

    /// Of those that are held, the ones about which something has changed. The others keep nobody from
    /// the window.
    fn offer_woken(&mut self, held: Vec<Submitted>) -> Result<(), Halt> {
        if held.is_empty() {
            return Ok(());
        }
        let (host, nothing) = (self.host.standing()?, BTreeSet::new());
        for submitted in held {
            let name = submitted.waiting.name();
            let companions = self.companions.get(name).unwrap_or(&nothing);
            let files = self.dropbox.digest(name, companions);
            let standing = held::standing(Some(&files), &host);
            if !self.held.rests(name, standing, system::now()) {
                self.window.insist(submitted);
            }
        }
        Ok(())
    }

    /// What was remembered of files that are not there any more.
    fn forget_gone(&mut self) {
        let dropbox = &self.dropbox;
        self.left_alone.retain(|name, _| dropbox.identity(name).is_some());
        for gone in self.held.forget_others(|name| dropbox.identity(name).is_some()) {
            held::told_or_warned(self.host.spool.forget_held(&gone));
        }
    }

    /// Before the requests: one of them may wait for such an answer.
    fn take_answers(&mut self) -> Result<(), Halt> {
        // A trust store that cannot be read is told with the requests.
        if self.renew_trust().is_err() {
            return Ok(());
        }
        let rules = self.host.rules();
        if let Some(permissions) = &mut *self.host.permissions() {
            let places = (&self.host.spool, &*self.dropbox);
            permissions.take_answers(places, &rules.policy, rules.trust.signers())?;
            permissions.tell(&self.host.spool)?;
        }
        Ok(())
    }

    /// Whether there is a directory to look at. One that was mounted over or replaced is another one, and
    /// has another watch.
    fn is_in_place(&mut self) -> Result<bool, Halt> {
        if self.dropbox.is_in_place() {
            return Ok(true);
        }
        let path = self.dropbox.path().to_owned();
        let dropbox = match Dropbox::open(&path) {
            Ok(dropbox) => dropbox,
            Err(error) => {
                tracing::error!("{error}; nothing can be dropped until it is back");
                return Ok(false);
            }
        };
        dropbox.insist_on_ours()?;
        tracing::warn!("{}: is another directory by now; going on there", path.display());
        self.watcher = watch::watch(dropbox.path(), self.send.clone(), Arc::clone(&self.hinted));
        self.dropbox = Arc::new(dropbox);
        self.empty = None;
        Ok(true)
    }
}

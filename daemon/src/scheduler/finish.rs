//! The end of a worker: its result is noted, logged and published.

use spool::Originals;
use validator::Violation;

use super::at_work::{AssignedRequest, AtWork};
use super::event::{Pickup, WorkerEnd};
use crate::held;
use crate::model::{Halt, PermissionFiled};
use crate::pipeline::ReleaseReason;
use crate::transition::{self, Fields, Transition};

impl AtWork<'_, '_> {
    /// Handles the result of a worker.
    pub(super) fn hear_ended(&mut self, ended: WorkerEnd) {
        let WorkerEnd { name, taken } = ended;
        let Some(in_flight) = self.in_flight.remove(&name) else { return };
        match taken {
            Some(Ok(Pickup::Answered(originals))) => self.answered(name, &in_flight, originals),
            Some(Ok(Pickup::Held(waits_for, filed))) => {
                self.hold(&name, &in_flight, &waits_for, filed);
            }
            Some(Ok(Pickup::Left(why))) => {
                self.look_wanted = true;
                if let ReleaseReason::Wanting(want) = why {
                    self.host.room_wanted.note(want, &"a request could not continue");
                }
            }
            Some(Err(halt)) => self.halt(halt),
            None => self.halt(Halt::WorkerDied),
        }
    }

    /// Handles a published record.
    fn answered(&mut self, name: String, in_flight: &AssignedRequest, originals: Originals) {
        self.forget_held(&name);
        // The same name was submitted again meanwhile.
        self.look_wanted |= self.dropbox.identity(&name).is_some();
        let request = Some(spool::stem_of(&name).unwrap_or(&name));
        let Originals::Left(error) = originals else {
            transition::log(Transition::Departed, &Fields { request, ..Fields::default() });
            return;
        };
        if let Some(want) = error.want() {
            self.host.room_wanted.note(want, &error);
            self.host.room_wanted.unsettle();
        }
        let why = format!("recorded; its file is ignored until it changes: {error}");
        let fields = Fields { request, reason: Some(&why), ..Fields::default() };
        transition::log(Transition::LeftAlone, &fields);
        self.left_alone.insert(name, in_flight.identity);
    }

    /// Handles a request that waits for an approval, a permission or an operator.
    fn hold(
        &mut self,
        name: &str,
        in_flight: &AssignedRequest,
        waits_for: &[Violation],
        filed: PermissionFiled,
    ) {
        let &AssignedRequest { standing, dropped, until, .. } = in_flight;
        let known = self.held.release(name);
        // If the permission request was not filed, the next look retries.
        let standing = match filed {
            PermissionFiled::Yes => standing,
            PermissionFiled::NotYet => held::never(),
        };
        self.held.hold(name, (standing, until), dropped);
        // An approval may have arrived meanwhile.
        self.look_wanted |= filed == PermissionFiled::Yes;
        let told = held::told(dropped.at, until, waits_for);
        held::told_or_warned(self.host.spool.tell_held(name, &told));
        for one in waits_for.iter().filter(|_| !known) {
            let (code, why) = (one.code.as_str(), format!("until {until}: {}", one.message));
            let fields = Fields {
                request: Some(spool::stem_of(name).unwrap_or(name)),
                code: Some(&code),
                reason: Some(&why),
                ..Fields::default()
            };
            transition::log(Transition::Held, &fields);
        }
    }

    fn forget_held(&mut self, name: &str) {
        if self.held.release(name) {
            held::told_or_warned(self.host.spool.forget_held(name));
        }
    }
}

//! Drafts that use a standing approval: if policy allows it, they are taken out of `drafts/`
//! without an operator. They are then judged like any other submission. A look at `drafts/` is
//! limited, and the next one goes on where it ended.

use std::sync::Arc;

use spool::{Inbox, SpoolError};

use super::loop_state::EventLoop;
use super::model::StandingDrafts;
use super::watch;

impl EventLoop<'_, '_> {
    /// Moves the drafts to `approved/`. An error leaves them in place and stops nothing else.
    pub(super) fn take_standing_drafts(&mut self) {
        if !self.host.rules().policy.takes_standing_drafts() {
            self.drafts = StandingDrafts::default();
            return;
        }
        match self.move_drafts() {
            Ok(0) => self.drafts.reported = None,
            Ok(_) => {
                self.drafts.reported = None;
                self.empty_listing = None;
            }
            Err(error) => self.drafts.report(&error),
        }
        self.scan_wanted |= self.drafts.need_look();
    }

    fn move_drafts(&mut self) -> Result<usize, SpoolError> {
        let is_open = self.drafts.directory.as_ref().is_some_and(Inbox::is_in_place);
        if !is_open {
            // Everything that is known is about another directory.
            let reported = self.drafts.reported.take();
            self.drafts = StandingDrafts { reported, ..StandingDrafts::default() };
            let path = self.host.spool.roots()[1].join("drafts");
            let directory = Inbox::open(&path)?;
            directory.check_removable()?;
            let events = (self.send.clone(), Arc::clone(&self.has_queued_event));
            self.drafts.watcher = watch::watch(directory.path(), events.0, events.1);
            self.drafts.directory = Some(directory);
        }
        let StandingDrafts { directory, seen, has_changed, .. } = &mut self.drafts;
        let Some(directory) = directory else { return Ok(0) };
        if seen.is_pass_over() {
            *has_changed = false;
        }
        self.dropbox.take_standing_drafts(directory, seen)
    }
}

impl StandingDrafts {
    /// Returns whether the next look must not wait for an event. A file that changed during a pass
    /// may have been read before.
    fn need_look(&self) -> bool {
        !self.seen.is_pass_over() || self.has_changed
    }

    fn report(&mut self, error: &SpoolError) {
        let text = error.to_string();
        if self.reported.as_ref() != Some(&text) {
            tracing::error!("drafts that use a standing approval are not taken: {text}");
            self.reported = Some(text);
        }
    }
}

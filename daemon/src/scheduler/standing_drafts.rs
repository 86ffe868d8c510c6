//! Drafts that use a standing approval: if policy allows it, they are taken out of `drafts/`
//! without an operator. They are then judged like any other submission. A look at `drafts/` is
//! limited, and the next one goes on where it ended.

use std::time::Duration;

use spool::{Inbox, SpoolError};

use super::draft_thread::DraftThread;
use super::event::LoopEvent;
use super::model::StandingDrafts;
use super::watch;

impl DraftThread {
    /// Places the drafts in `approved/` as new files, then removes them. An error leaves them in
    /// place and stops nothing else.
    pub(super) fn take_standing_drafts(&mut self) {
        let policy = self.host.policy();
        if !policy.takes_standing_drafts() {
            self.drafts = StandingDrafts::default();
            return;
        }
        match self.move_drafts(policy.ceilings().input_bytes) {
            Ok(0) => self.drafts.reported = None,
            Ok(_) => {
                self.drafts.reported = None;
                self.send(LoopEvent::DraftsTaken);
            }
            Err(error) => self.drafts.report(&error),
        }
        if self.drafts.need_look() {
            self.look_again_in(Duration::ZERO);
        }
    }

    fn move_drafts(&mut self, input_bytes_max: u64) -> Result<usize, SpoolError> {
        let path = self.host.spool.roots()[1].join("drafts");
        self.begin_step(&path);
        let is_open = self.drafts.directory.as_ref().is_some_and(Inbox::is_in_place);
        if !is_open {
            // Everything that is known is about another directory.
            let reported = self.drafts.reported.take();
            self.drafts = StandingDrafts { reported, ..StandingDrafts::default() };
            let directory = Inbox::open(&path)?;
            directory.check_removable()?;
            let (events, has_queued_event) = self.watch_ends();
            self.drafts.watcher = watch::watch(directory.path(), events, has_queued_event);
            self.drafts.directory = Some(directory);
        }
        let StandingDrafts { directory, seen, has_changed, .. } = &mut self.drafts;
        let Some(directory) = directory else { return Ok(0) };
        if seen.is_pass_over() {
            *has_changed = false;
        }
        self.approved.take_standing_drafts(directory, seen, input_bytes_max)
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

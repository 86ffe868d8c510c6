//! Takes drafts that use a standing approval from `drafts/` to `approved/`, where they are requests
//! like any other. All files there are new ones of the daemon. Agents write in `drafts/`: nothing
//! there is followed, and nothing is decided here. A look must never do more than its limits allow.

mod draft_front;
pub(crate) mod input_tree;

use std::collections::BTreeMap;

use policies::ActionTarget;
use rustix::fs::Dir;

use crate::draft_inputs::CopiedInputs;
use crate::error::SpoolError;
use crate::inbox::Inbox;
use crate::signed_drafts::DraftRemoval;
use draft_front::{DraftIdentity, draft_at, is_other_request, uses_standing_approval};
use input_tree::{InputTreeBounds, InputTreeWork};

/// The most names that a look reads. With the next limit, a look takes a few milliseconds. The next
/// look goes on behind the last name, so other drafts delay a draft but never prevent it.
const NAMES_MAX: usize = 1024;
/// The most drafts and directories that a look opens. The inputs of its last draft may exceed it.
/// With copies of inputs, a look takes longer.
const OPENED_MAX: usize = 64;
/// The most drafts that are remembered; more are read again.
const SEEN_MAX: usize = 16_384;

/// The place where the next look goes on, and the drafts that it need not read again: those that
/// use no standing approval or cannot be taken, by name and identity.
#[derive(Default)]
pub struct SeenDrafts {
    /// The rest of the directory, until a pass over it has ended.
    rest: Option<Dir>,
    present_pass: BTreeMap<String, DraftIdentity>,
    last_pass: BTreeMap<String, DraftIdentity>,
}

/// The work that one look may still do, and its results.
struct DraftLook {
    names_left: usize,
    opens_left: usize,
    input_bytes_max: u64,
    taken: usize,
    failure: Option<SpoolError>,
}

/// The result for one draft.
enum StandingDraftFate {
    Taken,
    /// It may be taken later.
    Waits,
    /// It uses no standing approval.
    Other,
}

impl SeenDrafts {
    /// Returns whether the last look has reached the end of the directory. If not, the next look
    /// must not wait for a change.
    #[must_use]
    pub fn is_pass_over(&self) -> bool {
        self.rest.is_none()
    }

    fn end_pass(&mut self) {
        // A draft that this pass did not find has left the directory.
        self.last_pass = std::mem::take(&mut self.present_pass);
    }

    fn is_known(&mut self, name: &str, identity: DraftIdentity) -> bool {
        let passes = [&self.present_pass, &self.last_pass];
        let is_known = passes.iter().any(|pass| pass.get(name) == Some(&identity));
        if is_known {
            self.remember(name, identity);
        }
        is_known
    }

    fn remember(&mut self, name: &str, identity: DraftIdentity) {
        if self.present_pass.len() < SEEN_MAX {
            self.present_pass.insert(name.to_owned(), identity);
        }
    }
}

impl Inbox {
    /// Takes drafts that use a standing approval, with their inputs of at most so many bytes each.
    /// Returns their number. [`SeenDrafts::is_pass_over`] returns whether the look has reached the
    /// last draft.
    ///
    /// # Errors
    /// `drafts` cannot be listed, or a file of it cannot be taken. The others were taken.
    pub fn take_standing_drafts(
        &self,
        drafts: &Self,
        seen: &mut SeenDrafts,
        input_bytes_max: u64,
    ) -> Result<usize, SpoolError> {
        let mut look = DraftLook::new(input_bytes_max);
        let failed = || SpoolError::errno(drafts.path(), "list");
        let mut rest = match seen.rest.take() {
            Some(rest) => rest,
            None => Dir::read_from(drafts.handle()).map_err(failed())?,
        };
        while look.names_left > 0 && look.opens_left > 0 {
            let Some(entry) = rest.read() else {
                seen.end_pass();
                return look.end();
            };
            look.names_left = look.names_left.saturating_sub(1);
            let entry = entry.map_err(failed())?;
            let Some((name, identity)) = draft_at(drafts, entry.file_name()) else { continue };
            if !seen.is_known(&name, identity) && self.try_draft(drafts, &name, &mut look) {
                seen.remember(&name, identity);
            }
        }
        seen.rest = Some(rest);
        look.end()
    }

    /// Takes a draft if it uses a standing approval. Returns whether it need not be read again
    /// until it changes.
    fn try_draft(&self, drafts: &Self, name: &str, look: &mut DraftLook) -> bool {
        look.opens_left = look.opens_left.saturating_sub(1);
        let taken = uses_standing_approval(drafts, name).and_then(|uses| match uses {
            true => self.take_draft(drafts, name, look),
            false => Ok(StandingDraftFate::Other),
        });
        match taken {
            Ok(StandingDraftFate::Other) => true,
            Ok(StandingDraftFate::Waits) => false,
            Ok(StandingDraftFate::Taken) => {
                look.taken = look.taken.saturating_add(1);
                false
            }
            // One draft that cannot be taken must not stop the others.
            Err(error) => {
                // The error may be that of a directory that was replaced meanwhile.
                let is_lasting = !error.is_momentary() && self.is_in_place();
                look.failure.get_or_insert(error);
                is_lasting
            }
        }
    }

    /// Places the inputs first: a request is claimed as soon as it has its name.
    fn take_draft(
        &self,
        drafts: &Self,
        name: &str,
        look: &mut DraftLook,
    ) -> Result<StandingDraftFate, SpoolError> {
        let stem = name.strip_suffix(".md").unwrap_or(name);
        let inputs = format!("{stem}.inputs");
        let Ok(target) = stem.parse::<ActionTarget>() else { return Ok(StandingDraftFate::Other) };
        // Inputs beside another request of this name would have it refused.
        if self.identity(name).is_some() || self.identity(&inputs).is_some() {
            return Ok(StandingDraftFate::Waits);
        }
        let mut work = InputTreeWork::default();
        let bounds = InputTreeBounds::standing(look.input_bytes_max);
        let checked = input_tree::check_inputs(drafts, &inputs, bounds, &mut work);
        look.names_left = look.names_left.saturating_sub(work.names);
        look.opens_left = look.opens_left.saturating_sub(work.directories);
        checked?;
        let Some(draft) = drafts.read_draft(&target)? else { return Ok(StandingDraftFate::Waits) };
        if is_other_request(draft.bytes.clone(), name) {
            return Ok(StandingDraftFate::Other);
        }
        let mut copied = CopiedInputs::of(drafts, self, &inputs, bounds)?;
        copied.place(self, &inputs)?;
        self.place_document(name, &draft.bytes)?;
        let original = copied.keep();
        // From here on the draft is taken: it may already be claimed.
        let removed = self.sync_names().and_then(|()| match drafts.remove_draft(name, &draft)? {
            DraftRemoval::Removed => drafts.remove_inputs(&inputs, original),
            DraftRemoval::Changed => Ok(()),
        });
        if let Err(error) = removed {
            tracing::warn!("a draft was taken, but then: {error}");
        }
        Ok(StandingDraftFate::Taken)
    }
}

impl DraftLook {
    fn new(input_bytes_max: u64) -> Self {
        let (names_left, opens_left) = (NAMES_MAX, OPENED_MAX);
        Self { names_left, opens_left, input_bytes_max, taken: 0, failure: None }
    }

    fn end(self) -> Result<usize, SpoolError> {
        self.failure.map_or(Ok(self.taken), Err)
    }
}

#[cfg(test)]
mod tests;

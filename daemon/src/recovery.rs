//! After a crash: what was begun and never published is told as `indeterminate`, and never run again.

use records::{NetworkUse, Subject, Unaccounted};
use sandbox::outcome::Outcome;
use spool::{Spool, Unfinished};
use validator::{Draft, OwnerUid, Place, Request, ResultId};

use crate::host::{Halt, Host};
use crate::tell::{Decided, Story};

const REASON: &str =
    "the host or the daemon stopped during the run; what the tool did is not known";

impl Host {
    /// Settles every claim that an earlier process left. Returns the ids of the records written.
    ///
    /// # Errors
    /// [`Halt`]: our own disk or key. Doing it again later is safe.
    pub fn recover(&self) -> Result<Vec<ResultId>, Halt> {
        let mut told = Vec::new();
        for unfinished in self.spool.recover()? {
            told.extend(self.tell_indeterminate(unfinished)?);
        }
        Ok(told)
    }

    fn tell_indeterminate(&self, unfinished: Unfinished) -> Result<Option<ResultId>, Halt> {
        let id = unfinished.result_id().clone();
        let Some(result) = Spool::draft_result_in(unfinished.results(), &id)? else {
            tracing::warn!(result = %id, "somebody else is telling this run");
            return Ok(None);
        };
        let (name, sha256) = unfinished.policy();
        let decided = Decided {
            approval: unfinished.approval().to_owned(),
            policy: Some((name.to_owned(), sha256)),
            // The gate and the others were asked before the crash.
            grounds: None,
            ..Decided::nothing()
        };
        // As it was read when it was begun: the same bytes at the same time are the same request.
        let place = if unfinished.was_dropped() { Place::Spool } else { Place::Elsewhere };
        let owner = OwnerUid::new(unfinished.owner());
        let draft = Draft::new(unfinished.bytes().to_vec(), unfinished.file_name(), owner);
        let checked = draft.ok().map(|draft| draft.check(place, unfinished.begun()));
        let request = checked.and_then(|checked| checked.verdict.ok());
        let subject = match &request {
            Some(request) => Subject::Request(request),
            None => Subject::Unusable {
                file_name: unfinished.file_name(),
                bytes: unfinished.bytes(),
                request_id: Some(unfinished.request_id()),
            },
        };
        let network = perhaps_used(unfinished.hosts(), request.as_ref());
        let story = Story {
            outcome: Outcome::Indeterminate,
            replays: unfinished.replays(),
            reason: Some(REASON),
            network: &network,
            decided: &decided,
            ais: unfinished.ais(),
            ..Story::of(subject, unfinished.signatures())
        };
        self.spool.cover(unfinished.results())?;
        let published = self.passage().tell(&story, result)?;
        tracing::warn!(result = %id, "begun and its end is not known; told as indeterminate");
        self.spool.finish_unfinished(unfinished, &published.receipt)?;
        Ok(Some(id))
    }
}

/// What it may have reached. The intent says what it was granted; one of a time when intents did not
/// is of a run that was granted all it asked for. Where neither can be read, nobody knows.
fn perhaps_used(granted: Option<&[String]>, request: Option<&Request>) -> NetworkUse {
    let asked = |request: &Request| {
        request.network().hosts().iter().map(|asked| asked.host().to_owned()).collect()
    };
    let granted = granted.map(<[String]>::to_vec).or_else(|| request.map(asked));
    match granted {
        Some(granted) if granted.is_empty() => NetworkUse::Nothing,
        granted => NetworkUse::Unknown {
            granted: granted.unwrap_or_default(),
            why: Unaccounted::NeverAsked,
        },
    }
}

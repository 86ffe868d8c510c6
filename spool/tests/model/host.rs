//! A host in memory that follows the design one operation at a time and may be stopped before each.
//! Recovery takes its next step from the spool's own table.

use spool::state::{
    ClaimFiles, ClaimState, Destination, HiddenState, OriginalState, PathPresence, PromiseState,
    RecoveryAction, next_action,
};

use super::disk::{ModelDisk, NameLoss};

/// The files that make a result complete.
const PARTS: [&str; 3] = ["stdout", "record", "proof"];
const WHOLE: &str = "whole";

/// A rule that is broken on purpose, to check that the model notices it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BrokenRule {
    Nothing,
    PublishedBeforeTheBarrier,
    RunBeforeTheLineIsDurable,
    TakenAwayBeforeTheResultIsDurable,
    RefusalNotNoted,
    DraftOfTheLogForgotten,
    DraftOfTheLogBelieved,
    /// Only if names may be lost in any order.
    TidiedWithoutABarrier,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelRequest {
    Runs,
    Refused,
    Object,
}

/// The process was killed, or the power failed.
#[derive(Debug)]
pub(crate) struct ModelStopped;

pub(crate) struct ModelHost {
    pub(crate) disk: ModelDisk,
    names: NameLoss,
    broken: BrokenRule,
    kinds: Vec<ModelRequest>,
    /// The number of runs of each request. No crash undoes these.
    pub(crate) ran: Vec<usize>,
    /// The operations until it is stopped.
    left: Option<usize>,
    /// The last id. Ids are never reused, because they contain the time.
    ids: usize,
}

fn at(path: &str) -> String {
    format!("spool/{path}")
}

fn original(request: usize) -> String {
    at(&format!("approved/{request}"))
}

impl ModelHost {
    pub(crate) fn new(kinds: &[ModelRequest], names: NameLoss, broken: BrokenRule) -> Self {
        let mut disk = ModelDisk::new(names);
        disk.create(&at("ledger"), "");
        for request in 0..kinds.len() {
            disk.create(&original(request), "request");
        }
        disk.barrier();
        let ran = vec![0; kinds.len()];
        Self { disk, names, broken, kinds: kinds.to_vec(), ran, left: None, ids: 0 }
    }

    pub(crate) fn stop_after(&mut self, acts: Option<usize>) {
        self.left = acts;
    }

    /// Counts an operation. Called before each one.
    fn act(&mut self) -> Result<(), ModelStopped> {
        match &mut self.left {
            Some(0) => Err(ModelStopped),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Syncs names during tidying, which is only needed if they may be lost in any order.
    fn settle_names(&mut self) -> Result<(), ModelStopped> {
        if self.names == NameLoss::Any && self.broken != BrokenRule::TidiedWithoutABarrier {
            self.act()?;
            self.disk.barrier();
        }
        Ok(())
    }

    fn new_id(&mut self) -> usize {
        self.ids += 1;
        self.ids
    }

    pub(crate) fn serve(&mut self) -> Result<(), ModelStopped> {
        self.recover()?;
        for request in 0..self.kinds.len() {
            if self.disk.is_there(&original(request)) {
                self.process(request)?;
            }
        }
        Ok(())
    }

    fn process(&mut self, request: usize) -> Result<(), ModelStopped> {
        let claim = self.claim(request)?;
        match self.kinds[request] {
            // If it has a ledger line, this is a second run, which is refused.
            ModelRequest::Runs if self.line_of(|line| line[0] == request).is_none() => {
                self.run(request, &claim)
            }
            _ => self.refuse(request, &claim),
        }
    }

    fn claim(&mut self, request: usize) -> Result<String, ModelStopped> {
        let id = self.new_id();
        let (hidden, claim) = (at(&format!("work/.new-{id}")), at(&format!("work/{id}")));
        let inode = self.disk.file(&original(request)).unwrap();
        let kind = self.kinds[request];
        self.act()?;
        self.disk.create(&format!("{hidden}/claim"), &format!("{request} {inode} {kind:?};"));
        if kind != ModelRequest::Object {
            self.act()?;
            self.disk.create(&format!("{hidden}/request"), WHOLE);
        }
        self.act()?;
        self.disk.rename(&hidden, &claim);
        Ok(claim)
    }

    fn run(&mut self, request: usize, claim: &str) -> Result<(), ModelStopped> {
        let id = self.new_id();
        let name = claim.rsplit('/').next().unwrap();
        self.act()?;
        self.disk.barrier();
        self.act()?;
        self.disk.append(&at("ledger"), &format!("{request} {name} {id}\n"));
        if self.broken != BrokenRule::RunBeforeTheLineIsDurable {
            self.act()?;
            self.disk.sync_content(&at("ledger"));
        }
        self.act()?;
        self.ran[request] += 1;
        let durable = self.disk.read_synced(&at("ledger")).unwrap();
        assert!(
            durable.lines().any(|it| it.starts_with(&format!("{request} "))),
            "no durable line"
        );
        self.record(request, id)?;
        self.finish(claim, id, Destination::Archive)
    }

    fn refuse(&mut self, request: usize, claim: &str) -> Result<(), ModelStopped> {
        let id = self.new_id();
        if self.broken != BrokenRule::RefusalNotNoted {
            self.act()?;
            self.disk.create(&format!("{claim}/result"), &format!("{id};"));
        }
        self.record(request, id)?;
        self.finish(claim, id, Destination::Quarantine)
    }

    fn record(&mut self, request: usize, id: usize) -> Result<(), ModelStopped> {
        let hidden = format!("results/.new-{id}");
        for part in PARTS {
            self.act()?;
            self.disk.create(&format!("{hidden}/{part}"), WHOLE);
        }
        self.act()?;
        self.disk.create(&format!("{hidden}/of"), &format!("{request};"));
        self.act()?;
        self.disk.create(&format!("log/draft-{id}"), WHOLE);
        if self.broken != BrokenRule::PublishedBeforeTheBarrier {
            self.act()?;
            self.disk.barrier();
        }
        self.act()?;
        self.disk.rename(&format!("log/draft-{id}"), &format!("log/{id}"));
        self.act()?;
        self.disk.rename(&hidden, &format!("results/{id}"));
        if self.broken != BrokenRule::TakenAwayBeforeTheResultIsDurable {
            self.act()?;
            self.disk.barrier();
        }
        Ok(())
    }

    fn finish(&mut self, claim: &str, id: usize, place: Destination) -> Result<(), ModelStopped> {
        let (request, inode) =
            self.note(claim).map(|(request, inode, _)| (request, inode)).unwrap();
        let aside = format!("{claim}/original");
        if !self.disk.is_there(&aside) && self.disk.file(&original(request)) == Some(inode) {
            self.act()?;
            self.disk.rename(&original(request), &aside);
        }
        if self.kinds[request] != ModelRequest::Object {
            self.act()?;
            self.disk.remove(&aside);
        }
        self.settle_names()?;
        self.act()?;
        let place = match place {
            Destination::Archive => "archive",
            Destination::Quarantine => "quarantine",
        };
        self.disk.rename(claim, &at(&format!("{place}/{id}")));
        Ok(())
    }

    /// Returns the request, inode and kind of a claim, or `None` if the note is torn.
    fn note(&self, claim: &str) -> Option<(usize, usize, ModelRequest)> {
        let note = self.disk.read(&format!("{claim}/claim"))?.strip_suffix(';')?;
        let mut words = note.split(' ');
        let request = words.next()?.parse().ok()?;
        Some((request, words.next()?.parse().ok()?, self.kinds[request]))
    }

    fn noted(&self, claim: &str) -> Option<usize> {
        self.disk.read(&format!("{claim}/result"))?.strip_suffix(';')?.parse().ok()
    }

    fn line_of(&self, is: impl Fn(&[usize]) -> bool) -> Option<Vec<usize>> {
        let ledger = self.disk.read(&at("ledger")).unwrap();
        let number = |word: &str| word.parse::<usize>().unwrap();
        let mut lines = ledger.lines().map(|line| line.split(' ').map(number).collect::<Vec<_>>());
        lines.find(|line| is(line))
    }

    pub(crate) fn is_whole(&self, result: &str) -> bool {
        let parts =
            PARTS.iter().all(|part| self.disk.read(&format!("{result}/{part}")) == Some(WHOLE));
        parts && self.request_of(result).is_some()
    }

    pub(crate) fn request_of(&self, result: &str) -> Option<usize> {
        self.disk.read(&format!("{result}/of"))?.strip_suffix(';')?.parse().ok()
    }

    fn recover(&mut self) -> Result<(), ModelStopped> {
        self.act()?;
        self.disk.cut_unfinished_line(&at("ledger"));
        self.disk.sync_content(&at("ledger"));
        self.open_log()?;
        for name in self.disk.list(&at("work")) {
            let claim = at(&format!("work/{name}"));
            match name.starts_with('.') {
                true => self.remove_tree(&claim)?,
                false => self.recover_claim(&claim, &name)?,
            }
        }
        for name in self.disk.list("results") {
            if name.starts_with('.') {
                self.remove_tree(&format!("results/{name}"))?;
            }
        }
        Ok(())
    }

    /// Adopts a draft of the log if its result exists under either name. A complete draft alone
    /// proves nothing: its result may be lost.
    fn open_log(&mut self) -> Result<(), ModelStopped> {
        // The files may exist in memory only.
        self.act()?;
        self.disk.barrier();
        for name in self.disk.list("log") {
            let Some(id) = name.strip_prefix("draft-") else { continue };
            let draft = format!("log/{name}");
            let result_is_there = ["results/", "results/.new-"]
                .iter()
                .any(|place| self.is_whole(&format!("{place}{id}")));
            let adopted = match self.broken {
                BrokenRule::DraftOfTheLogForgotten => false,
                BrokenRule::DraftOfTheLogBelieved => self.disk.read(&draft) == Some(WHOLE),
                _ => self.disk.read(&draft) == Some(WHOLE) && result_is_there,
            };
            self.act()?;
            match adopted {
                true => self.disk.rename(&draft, &format!("log/{id}")),
                false => self.disk.remove(&draft),
            }
        }
        self.act()?;
        self.disk.barrier();
        Ok(())
    }

    fn remove_tree(&mut self, directory: &str) -> Result<(), ModelStopped> {
        for path in self.disk.below(directory) {
            self.act()?;
            self.disk.remove(&path);
        }
        Ok(())
    }

    fn recover_claim(&mut self, claim: &str, name: &str) -> Result<(), ModelStopped> {
        loop {
            let (state, id) = self.gather(claim, name);
            let hidden = format!("results/.new-{}", id.unwrap_or(0));
            match next_action(&state) {
                RecoveryAction::RemoveClaim => {
                    let gone = at(&format!("work/.gone-{name}"));
                    self.act()?;
                    self.disk.rename(claim, &gone);
                    return self.remove_tree(&gone);
                }
                RecoveryAction::RemoveHidden => self.remove_tree(&hidden)?,
                RecoveryAction::Publish => {
                    self.act()?;
                    self.disk.barrier();
                    self.act()?;
                    self.disk.rename(&hidden, &format!("results/{}", id.unwrap()));
                }
                RecoveryAction::Record => {
                    let request = self.note(claim).unwrap().0;
                    let log = format!("log/{}", id.unwrap());
                    assert!(!self.disk.is_there(&log), "{log}: is logged and its result is lost");
                    self.record(request, id.unwrap())?;
                }
                RecoveryAction::Finish(place) => {
                    self.act()?;
                    self.disk.barrier();
                    return self.finish(claim, id.unwrap(), place);
                }
                other => panic!("{other:?} of {state:?}"),
            }
        }
    }

    fn gather(&self, claim: &str, name: &str) -> (ClaimFiles, Option<usize>) {
        let name: usize = name.parse().unwrap();
        let begun = self.line_of(|line| line[1] == name).map(|line| line[2]);
        let noted = self.noted(claim);
        let id = begun.or(noted);
        let there = |path: String| match self.disk.is_there(&path) {
            true => PathPresence::Present,
            false => PathPresence::Absent,
        };
        let of_id =
            |place: String| id.map_or(PathPresence::Absent, |id| there(format!("{place}{id}")));
        let hidden = match id.map(|id| (format!("results/.new-{id}"), format!("log/{id}"))) {
            Some((hidden, log)) if self.disk.is_there(&hidden) => {
                match self.is_whole(&hidden) && self.disk.read(&log) == Some(WHOLE) {
                    true => HiddenState::Whole,
                    false => HiddenState::Partial,
                }
            }
            _ => HiddenState::Absent,
        };
        let state = ClaimFiles {
            claim: self.claim_state(claim),
            promise: match (begun, noted) {
                (Some(begun), Some(noted)) if begun != noted => PromiseState::Contradicted,
                (Some(_), _) => PromiseState::Begun,
                (None, Some(_)) => PromiseState::Noted,
                (None, None) => PromiseState::None,
            },
            hidden,
            published: of_id("results/".to_owned()),
            archived: of_id(at("archive/")),
            quarantined: of_id(at("quarantine/")),
            original: self.original_of(claim),
            ..ClaimFiles::NOTHING
        };
        (state, id)
    }

    fn claim_state(&self, claim: &str) -> ClaimState {
        match self.note(claim) {
            Some((_, _, ModelRequest::Object)) => ClaimState::Object,
            Some(_) if self.disk.read(&format!("{claim}/request")) == Some(WHOLE) => {
                ClaimState::Request
            }
            _ => ClaimState::Torn,
        }
    }

    fn original_of(&self, claim: &str) -> OriginalState {
        let aside = self.disk.file(&format!("{claim}/original"));
        let Some((request, inode, _)) = self.note(claim) else {
            return aside.map_or(OriginalState::Unknown, |_| OriginalState::Aside);
        };
        match (aside, self.disk.file(&original(request))) {
            (Some(found), _) if found == inode => OriginalState::Aside,
            (Some(_), _) => OriginalState::AnotherAside,
            (None, Some(found)) if found == inode => OriginalState::InPlace,
            (None, Some(_)) => OriginalState::Another,
            (None, None) => OriginalState::Gone,
        }
    }
}

//! A host in memory that follows the design one operation at a time and may be stopped before each.
//! Recovery takes its next step from the spool's own table.

use spool::state::{Claim, Hidden, Original, Place, Promise, State, Step, There, step};

use super::disk::{Disk, Names};

/// The files that make a result complete.
const PARTS: [&str; 3] = ["stdout", "record", "proof"];
const WHOLE: &str = "whole";

/// A rule that is broken on purpose, to check that the model notices it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
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
pub(crate) enum Kind {
    Runs,
    Refused,
    Object,
}

/// The process was killed, or the power failed.
#[derive(Debug)]
pub(crate) struct Stopped;

pub(crate) struct Host {
    pub(crate) disk: Disk,
    names: Names,
    broken: Broken,
    kinds: Vec<Kind>,
    /// The number of runs of each request. No crash undoes these.
    pub(crate) ran: Vec<usize>,
    /// The operations until it is stopped.
    left: Option<usize>,
    /// The last id. Ids are never reused, because they contain the time.
    ids: usize,
}

/// Returns a path on the spool's file system.
fn at(path: &str) -> String {
    format!("spool/{path}")
}

fn original(request: usize) -> String {
    at(&format!("approved/{request}"))
}

impl Host {
    pub(crate) fn new(kinds: &[Kind], names: Names, broken: Broken) -> Self {
        let mut disk = Disk::new(names);
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
    fn act(&mut self) -> Result<(), Stopped> {
        match &mut self.left {
            Some(0) => Err(Stopped),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Syncs names during tidying, which is only needed if they may be lost in any order.
    fn settle_names(&mut self) -> Result<(), Stopped> {
        if self.names == Names::Any && self.broken != Broken::TidiedWithoutABarrier {
            self.act()?;
            self.disk.barrier();
        }
        Ok(())
    }

    fn new_id(&mut self) -> usize {
        self.ids += 1;
        self.ids
    }

    pub(crate) fn serve(&mut self) -> Result<(), Stopped> {
        self.recover()?;
        for request in 0..self.kinds.len() {
            if self.disk.is_there(&original(request)) {
                self.take(request)?;
            }
        }
        Ok(())
    }

    fn take(&mut self, request: usize) -> Result<(), Stopped> {
        let claim = self.claim(request)?;
        match self.kinds[request] {
            // If it has a ledger line, this is a second run, which is refused.
            Kind::Runs if self.line_of(|line| line[0] == request).is_none() => {
                self.run(request, &claim)
            }
            _ => self.refuse(request, &claim),
        }
    }

    fn claim(&mut self, request: usize) -> Result<String, Stopped> {
        let id = self.new_id();
        let (hidden, claim) = (at(&format!("work/.new-{id}")), at(&format!("work/{id}")));
        let inode = self.disk.file(&original(request)).unwrap();
        let kind = self.kinds[request];
        self.act()?;
        self.disk.create(&format!("{hidden}/claim"), &format!("{request} {inode} {kind:?};"));
        if kind != Kind::Object {
            self.act()?;
            self.disk.create(&format!("{hidden}/request"), WHOLE);
        }
        self.act()?;
        self.disk.rename(&hidden, &claim);
        Ok(claim)
    }

    fn run(&mut self, request: usize, claim: &str) -> Result<(), Stopped> {
        let id = self.new_id();
        let name = claim.rsplit('/').next().unwrap();
        self.act()?;
        self.disk.barrier();
        self.act()?;
        self.disk.append(&at("ledger"), &format!("{request} {name} {id}\n"));
        if self.broken != Broken::RunBeforeTheLineIsDurable {
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
        self.tell(request, id)?;
        self.tidy(claim, id, Place::Archive)
    }

    fn refuse(&mut self, request: usize, claim: &str) -> Result<(), Stopped> {
        let id = self.new_id();
        if self.broken != Broken::RefusalNotNoted {
            self.act()?;
            self.disk.create(&format!("{claim}/result"), &format!("{id};"));
        }
        self.tell(request, id)?;
        self.tidy(claim, id, Place::Quarantine)
    }

    /// Records and publishes a result durably.
    fn tell(&mut self, request: usize, id: usize) -> Result<(), Stopped> {
        let hidden = format!("results/.new-{id}");
        for part in PARTS {
            self.act()?;
            self.disk.create(&format!("{hidden}/{part}"), WHOLE);
        }
        self.act()?;
        self.disk.create(&format!("{hidden}/of"), &format!("{request};"));
        self.act()?;
        self.disk.create(&format!("log/draft-{id}"), WHOLE);
        if self.broken != Broken::PublishedBeforeTheBarrier {
            self.act()?;
            self.disk.barrier();
        }
        self.act()?;
        self.disk.rename(&format!("log/draft-{id}"), &format!("log/{id}"));
        self.act()?;
        self.disk.rename(&hidden, &format!("results/{id}"));
        if self.broken != Broken::TakenAwayBeforeTheResultIsDurable {
            self.act()?;
            self.disk.barrier();
        }
        Ok(())
    }

    fn tidy(&mut self, claim: &str, id: usize, place: Place) -> Result<(), Stopped> {
        let (request, inode) =
            self.note(claim).map(|(request, inode, _)| (request, inode)).unwrap();
        let aside = format!("{claim}/original");
        if !self.disk.is_there(&aside) && self.disk.file(&original(request)) == Some(inode) {
            self.act()?;
            self.disk.rename(&original(request), &aside);
        }
        if self.kinds[request] != Kind::Object {
            self.act()?;
            self.disk.remove(&aside);
        }
        self.settle_names()?;
        self.act()?;
        let place = match place {
            Place::Archive => "archive",
            Place::Quarantine => "quarantine",
        };
        self.disk.rename(claim, &at(&format!("{place}/{id}")));
        Ok(())
    }

    /// Returns the request, inode and kind of a claim, or `None` if the note is torn.
    fn note(&self, claim: &str) -> Option<(usize, usize, Kind)> {
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
        parts && self.told_of(result).is_some()
    }

    /// Returns the request of a result.
    pub(crate) fn told_of(&self, result: &str) -> Option<usize> {
        self.disk.read(&format!("{result}/of"))?.strip_suffix(';')?.parse().ok()
    }

    fn recover(&mut self) -> Result<(), Stopped> {
        self.act()?;
        self.disk.cut_unfinished_line(&at("ledger"));
        self.disk.sync_content(&at("ledger"));
        self.open_log()?;
        for name in self.disk.list(&at("work")) {
            let claim = at(&format!("work/{name}"));
            match name.starts_with('.') {
                true => self.remove_tree(&claim)?,
                false => self.settle(&claim, &name)?,
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
    fn open_log(&mut self) -> Result<(), Stopped> {
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
                Broken::DraftOfTheLogForgotten => false,
                Broken::DraftOfTheLogBelieved => self.disk.read(&draft) == Some(WHOLE),
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

    fn remove_tree(&mut self, directory: &str) -> Result<(), Stopped> {
        for path in self.disk.below(directory) {
            self.act()?;
            self.disk.remove(&path);
        }
        Ok(())
    }

    fn settle(&mut self, claim: &str, name: &str) -> Result<(), Stopped> {
        loop {
            let (state, id) = self.gather(claim, name);
            let hidden = format!("results/.new-{}", id.unwrap_or(0));
            match step(&state) {
                Step::Forget => {
                    let gone = at(&format!("work/.gone-{name}"));
                    self.act()?;
                    self.disk.rename(claim, &gone);
                    return self.remove_tree(&gone);
                }
                Step::RemoveHidden => self.remove_tree(&hidden)?,
                Step::Publish => {
                    self.act()?;
                    self.disk.barrier();
                    self.act()?;
                    self.disk.rename(&hidden, &format!("results/{}", id.unwrap()));
                }
                Step::Tell => {
                    let request = self.note(claim).unwrap().0;
                    let log = format!("log/{}", id.unwrap());
                    assert!(!self.disk.is_there(&log), "{log}: is logged and its result is lost");
                    self.tell(request, id.unwrap())?;
                }
                Step::Tidy(place) => {
                    self.act()?;
                    self.disk.barrier();
                    return self.tidy(claim, id.unwrap(), place);
                }
                other => panic!("{other:?} of {state:?}"),
            }
        }
    }

    fn gather(&self, claim: &str, name: &str) -> (State, Option<usize>) {
        let name: usize = name.parse().unwrap();
        let begun = self.line_of(|line| line[1] == name).map(|line| line[2]);
        let noted = self.noted(claim);
        let id = begun.or(noted);
        let there = |path: String| match self.disk.is_there(&path) {
            true => There::Present,
            false => There::Absent,
        };
        let of_id = |place: String| id.map_or(There::Absent, |id| there(format!("{place}{id}")));
        let hidden = match id.map(|id| (format!("results/.new-{id}"), format!("log/{id}"))) {
            Some((hidden, log)) if self.disk.is_there(&hidden) => {
                match self.is_whole(&hidden) && self.disk.read(&log) == Some(WHOLE) {
                    true => Hidden::Whole,
                    false => Hidden::Partial,
                }
            }
            _ => Hidden::Absent,
        };
        let state = State {
            claim: self.claim_state(claim),
            promise: match (begun, noted) {
                (Some(begun), Some(noted)) if begun != noted => Promise::Contradicted,
                (Some(_), _) => Promise::Begun,
                (None, Some(_)) => Promise::Noted,
                (None, None) => Promise::Nothing,
            },
            hidden,
            published: of_id("results/".to_owned()),
            archived: of_id(at("archive/")),
            quarantined: of_id(at("quarantine/")),
            original: self.original_of(claim),
            ..State::NOTHING
        };
        (state, id)
    }

    fn claim_state(&self, claim: &str) -> Claim {
        match self.note(claim) {
            Some((_, _, Kind::Object)) => Claim::Object,
            Some(_) if self.disk.read(&format!("{claim}/request")) == Some(WHOLE) => Claim::Request,
            _ => Claim::Torn,
        }
    }

    fn original_of(&self, claim: &str) -> Original {
        let aside = self.disk.file(&format!("{claim}/original"));
        let Some((request, inode, _)) = self.note(claim) else {
            return aside.map_or(Original::Unknown, |_| Original::Aside);
        };
        match (aside, self.disk.file(&original(request))) {
            (Some(found), _) if found == inode => Original::Aside,
            (Some(_), _) => Original::AnotherAside,
            (None, Some(found)) if found == inode => Original::InPlace,
            (None, Some(_)) => Original::Another,
            (None, None) => Original::Gone,
        }
    }
}

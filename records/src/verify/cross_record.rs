//! Checks across verified records: no request runs twice, no id, log index or use of a standing
//! approval is used twice, and no log shows two histories. They must never use a record that did
//! not verify, nor keep more of one than digests.

use std::collections::HashMap;

use model::{ResultId, Sha256};

use crate::verify::model::Conflict;
use crate::verify::verdict::VerifiedRecord;

/// All records so far, by their unique properties.
#[derive(Default)]
pub struct CrossRecordCheck {
    first: HashMap<Sha256, usize>,
    /// The roots of logs by name and size, and the record that contained each.
    roots: HashMap<Sha256, (Sha256, usize)>,
    /// The digests of each record and of its request by the result id, for replays.
    records: HashMap<Sha256, KnownRecord>,
    /// The first record of each use of a standing approval.
    uses: HashMap<Sha256, KnownUse>,
}

#[derive(Clone, Copy)]
struct KnownRecord {
    number: usize,
    record: Option<Sha256>,
    ran: Option<Sha256>,
}

#[derive(Clone, Copy)]
struct KnownUse {
    number: usize,
    result_id: Sha256,
    record: Option<Sha256>,
}

impl CrossRecordCheck {
    /// Adds the next record under this number. Returns each conflict and the other record's number.
    pub fn add(&mut self, number: usize, record: &VerifiedRecord) -> Vec<(Conflict, usize)> {
        let mut clashes = Vec::from_iter(self.add_use(number, record));
        // A fleet runs each request once, on any of its hosts.
        let is_of_fleet = record.host().is_some();
        let origin = record.log().map_or("", |place| place.origin.as_str());
        let mut once = |clash, key: String| {
            let first = *self.first.entry(Sha256::of(key.as_bytes())).or_insert(number);
            if first != number {
                clashes.push((clash, first));
            }
        };
        if let Some(request) = record.used_request() {
            // Outside a fleet, one request may be meant for two hosts, each with its own log.
            let runner = if is_of_fleet { "fleet" } else { origin };
            once(Conflict::Request, format!("request {runner} {request}"));
        }
        once(Conflict::ResultId, format!("result {}", record.result_id()));
        let known = KnownRecord { number, record: record.record(), ran: record.request_run() };
        self.records.entry(key_of(record.result_id())).or_insert(known);
        let Some(place) = record.log() else { return clashes };
        once(Conflict::LogIndex(place.index), format!("index {origin} {}", place.index));
        once(Conflict::LogLeaf, format!("leaf {origin} {}", place.leaf));
        let size = Sha256::of(format!("size {origin} {}", place.size).as_bytes());
        let (root, first) = *self.roots.entry(size).or_insert((place.root, number));
        if root != place.root {
            clashes.push((Conflict::LogFork(place.size), first));
        }
        clashes
    }

    /// Adds the use of a standing approval. Returns a conflict if another record states this use; a
    /// copy is the same record.
    fn add_use(&mut self, number: usize, record: &VerifiedRecord) -> Option<(Conflict, usize)> {
        let (standing, used) = record.standing_use()?;
        let result_id = key_of(record.result_id());
        let this = KnownUse { number, result_id, record: record.record() };
        // Without the log: the standing approval names the only host that counts its uses. Hosts of
        // a fleet that share a label number their uses each.
        let host = record.host().unwrap_or_default();
        let key = Sha256::of(format!("use {host} {standing} {used}").as_bytes());
        let first = *self.uses.entry(key).or_insert(this);
        let is_same = first.result_id == this.result_id && first.record == this.record;
        (!is_same).then_some((Conflict::Use(used), first.number))
    }

    /// Returns whether this is a replay of a record that was not added yet.
    #[must_use]
    pub fn awaits_original(&self, record: &VerifiedRecord) -> bool {
        record.replay().is_some_and(|of| !self.records.contains_key(&key_of(&of.result_id)))
    }

    /// Compares a replay with the record that it names, if that was added. Returns a conflict and
    /// that record's number; `None` if the record is not a replay.
    pub fn check_replay(&self, record: &mut VerifiedRecord) -> Option<(Conflict, usize)> {
        let of = record.replay()?;
        let known = self.records.get(&key_of(&of.result_id))?;
        let same_run = record.request_run().is_none() || known.ran == record.request_run();
        let itself = of.result_id == *record.result_id();
        let fits = known.record == Some(of.record) && same_run && !itself;
        record.mark_replayed_found();
        (!fits).then_some((Conflict::Replay, known.number))
    }
}

fn key_of(id: &ResultId) -> Sha256 {
    Sha256::of(id.as_str().as_bytes())
}

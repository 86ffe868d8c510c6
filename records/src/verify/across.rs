//! What can only be seen across records: that no request ran twice, no id or place in a log is used
//! twice, and no log showed two faces. It must never look at a record that did not verify, or keep
//! more of one than digests.

use std::collections::HashMap;

use model::{ResultId, Sha256};

use crate::verify::model::Clash;
use crate::verify::verdict::Verified;

/// Every record until now, by what there may be only one of.
#[derive(Default)]
pub struct Across {
    first: HashMap<Sha256, usize>,
    /// Roots of logs by name and size, and who showed them.
    roots: HashMap<Sha256, (Sha256, usize)>,
    /// What a replay may name: the digest of each record and of what it ran, by its id.
    records: HashMap<Sha256, Known>,
}

#[derive(Clone, Copy)]
struct Known {
    number: usize,
    record: Option<Sha256>,
    ran: Option<Sha256>,
}

impl Across {
    /// Takes the next record, which the caller knows by this number, and gives what it contradicts
    /// and the number of the record that it does.
    pub fn add(&mut self, number: usize, record: &Verified) -> Vec<(Clash, usize)> {
        let mut clashes = Vec::new();
        let origin = record.log().map_or("", |place| place.origin.as_str());
        let mut once = |clash, key: String| {
            let first = *self.first.entry(Sha256::of(key.as_bytes())).or_insert(number);
            if first != number {
                clashes.push((clash, first));
            }
        };
        if let Some(request) = record.used() {
            // One request may be meant for two hosts, each with a log of its own.
            once(Clash::Request, format!("request {origin} {request}"));
        }
        once(Clash::ResultId, format!("result {}", record.result_id()));
        let known = Known { number, record: record.record(), ran: record.ran() };
        self.records.entry(key_of(record.result_id())).or_insert(known);
        let Some(place) = record.log() else { return clashes };
        once(Clash::LogIndex(place.index), format!("index {origin} {}", place.index));
        once(Clash::LogLeaf, format!("leaf {origin} {}", place.leaf));
        let size = Sha256::of(format!("size {origin} {}", place.size).as_bytes());
        let (root, first) = *self.roots.entry(size).or_insert((place.root, number));
        if root != place.root {
            clashes.push((Clash::LogFork(place.size), first));
        }
        clashes
    }

    /// Whether this is a replay of a record that was not there until now.
    #[must_use]
    pub fn awaits(&self, record: &Verified) -> bool {
        record.replay().is_some_and(|of| !self.records.contains_key(&key_of(&of.result_id)))
    }

    /// Holds a replay against the record that it names, if that one was there, and gives the number of
    /// that one if they contradict each other. Of what is no replay there is nothing to say.
    pub fn replay(&self, record: &mut Verified) -> Option<(Clash, usize)> {
        let of = record.replay()?;
        let known = self.records.get(&key_of(&of.result_id))?;
        let same_run = record.ran().is_none() || known.ran == record.ran();
        let itself = of.result_id == *record.result_id();
        let fits = known.record == Some(of.record) && same_run && !itself;
        record.replayed_was_found();
        (!fits).then_some((Clash::Replay, known.number))
    }
}

fn key_of(id: &ResultId) -> Sha256 {
    Sha256::of(id.as_str().as_bytes())
}

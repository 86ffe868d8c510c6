//! What can only be seen across records: that no request ran twice, no id or place in a log is used
//! twice, and no log showed two faces. It must never look at a record that did not verify, or keep
//! more of one than digests.

use std::collections::HashMap;
use std::fmt;

use validator::Sha256;

use crate::verify::verdict::Verified;

/// Every record until now, by what there may be only one of.
#[derive(Default)]
pub struct Across {
    first: HashMap<Sha256, usize>,
    /// Roots of logs by name and size, and who showed them.
    roots: HashMap<Sha256, (Sha256, usize)>,
}

/// Two records that cannot both be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clash {
    ResultId,
    /// One request used up by two runs.
    Request,
    /// Two entries with one number.
    LogIndex(u64),
    /// One entry with two numbers, or twice.
    LogLeaf,
    /// Two roots of one size.
    LogFork(u64),
}

impl fmt::Display for Clash {
    /// Ends where the other record is to be named.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ResultId => f.write_str("a second record with this result id; the other is"),
            Self::Request => f.write_str("its request had run already: see"),
            Self::LogIndex(index) => write!(f, "log entry {index} is also that of"),
            Self::LogLeaf => f.write_str("its log entry is also that of"),
            Self::LogFork(size) => {
                write!(f, "the log has another root at {size} entries than it showed to")
            }
        }
    }
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
}

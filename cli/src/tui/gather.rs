//! Reads the present state of a spool for the screen. Never writes, and escapes untrusted names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use model::{RequestId, escape_line};

use super::view::{Item, ItemKind, SpoolView};
use crate::clock;
use crate::commands::inspect::daemon::DaemonView;
use crate::commands::inspect::reason;
use crate::commands::inspect::results::result_names;
use crate::commands::inspect::rows::{QueueRow, QueueState, queue, row_of_result};

/// Limit of shown outcomes. `toolexec list` shows all.
const OUTCOMES_MAX: usize = 100;
const DRAFTS_MAX: usize = 1000;
const MIB: u64 = 1 << 20;

pub(super) struct Gatherer {
    place: PathBuf,
    /// Records never change, so each is read once.
    records: BTreeMap<String, Item>,
}

impl Gatherer {
    pub(super) fn new(place: &Path) -> Self {
        Self { place: place.to_owned(), records: BTreeMap::new() }
    }

    pub(super) fn read(&mut self) -> SpoolView {
        let daemon = DaemonView::of(&self.place);
        let found = queue(&self.place, &daemon);
        let disk = rustix::fs::statvfs(&self.place).ok();
        let (mut waiting, mut running) = (Vec::new(), Vec::new());
        for row in found.rows {
            let item = item_of(row);
            if matches!(item.kind, ItemKind::InFlight(_)) {
                running.push(item)
            } else {
                waiting.push(item)
            }
        }
        let mut unseen: Vec<String> =
            found.unreadable.iter().map(|it| escape_line(&it.problem())).collect();
        let (drafts, older) = last_drafts(draft_ids(&self.place));
        waiting.extend(drafts.into_iter().map(|id| draft(&self.place, id)));
        unseen.extend((older > 0).then(|| format!("{older} older drafts")));
        let stopped = daemon.admission_stopped().map(|why| format!("admits nothing: {why}"));
        SpoolView {
            spool: escape_line(&self.place.to_string_lossy()),
            at: clock::now(),
            daemon: daemon.as_str(),
            sentence: stopped.map_or_else(|| short(&daemon), |why| escape_line(&why)),
            admits: daemon.admits(),
            policy: daemon.policy().map(|(name, _)| escape_line(name)),
            free_mib: disk.map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) / MIB),
            unseen,
            queue: waiting,
            running,
            outcomes: self.outcomes(),
        }
    }

    fn outcomes(&mut self) -> Vec<Item> {
        // A caller who may not list results sees that note in the queue pane.
        let names = result_names(&self.place).unwrap_or_default();
        let mut known = std::mem::take(&mut self.records);
        let last: Vec<&String> = names.iter().rev().take(OUTCOMES_MAX).collect();
        for name in &last {
            let item = known.remove(*name);
            let read = || item_of(row_of_result(&self.place, name));
            self.records.insert((*name).clone(), item.unwrap_or_else(read));
        }
        last.iter().filter_map(|name| self.records.get(*name).cloned()).collect()
    }
}

/// Returns the sentence without the process id.
fn short(daemon: &DaemonView) -> String {
    let sentence = daemon.sentence();
    let end = sentence.find(", process").unwrap_or(sentence.len());
    sentence[..end].to_owned()
}

fn item_of(row: QueueRow) -> Item {
    let state = escape_line(row.state.as_str());
    let created = row.created_utc.unwrap_or_default();
    let (note, is) = match row.state {
        QueueState::Held(held) => {
            let codes: Vec<&str> = held.waits_for.iter().map(|it| it.code.as_str()).collect();
            (codes.join(", "), ItemKind::Waiting(row.path))
        }
        QueueState::Waiting | QueueState::Recorded => (String::new(), ItemKind::Waiting(row.path)),
        QueueState::InFlight(running) | QueueState::Interrupted(running) => {
            let of = running.submitter.as_ref().map(|who| format!("of {who}"));
            (of.unwrap_or_default(), ItemKind::InFlight(Box::new(running)))
        }
        QueueState::Done(_) | QueueState::Unreadable => {
            let why = row.reason.as_deref().map(|reason| format!("  {}", reason::short(reason)));
            (format!("{created}{}", why.unwrap_or_default()), ItemKind::Record(row.path))
        }
    };
    let key = row.result_id.unwrap_or_else(|| row.request_id.clone());
    Item { id: escape_line(&row.request_id), key, state, note: escape_line(&note), kind: is }
}

fn draft_ids(place: &Path) -> Vec<String> {
    // Most users of `watch` may not read this directory, and need not.
    let names = fs::read_dir(place.join("drafts")).into_iter().flatten().flatten();
    names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".md").map(str::to_owned))
        .filter(|id| id.parse::<RequestId>().is_ok())
        .collect()
}

/// Returns the newest drafts in order, and the number of older ones. An id begins with its time.
fn last_drafts(mut ids: Vec<String>) -> (Vec<String>, usize) {
    ids.sort();
    let older = ids.len().saturating_sub(DRAFTS_MAX);
    ids.drain(..older);
    (ids, older)
}

fn draft(place: &Path, id: String) -> Item {
    Item {
        key: format!("drafts/{id}"),
        state: "draft".to_owned(),
        note: String::new(),
        kind: ItemKind::Draft(place.join("drafts").join(format!("{id}.md"))),
        id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_drafts_are_listed_and_older_ones_counted() {
        let id = |n: usize| format!("TR-20260209-160501Z-{n:04}");
        let (shown, older) = last_drafts((0..DRAFTS_MAX + 7).rev().map(id).collect());
        assert_eq!((shown.len(), older), (DRAFTS_MAX, 7));
        assert_eq!((shown.first(), shown.last()), (Some(&id(7)), Some(&id(DRAFTS_MAX + 6))));
        assert_eq!(last_drafts(vec![id(1)]), (vec![id(1)], 0));
    }
}

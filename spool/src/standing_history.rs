//! Standing approvals for inspection: the stored documents, and the lines of the ledger about them.
//! No lock is taken, and nothing is decided here: a run counts its use under the ledger's lock.

use std::collections::BTreeMap;
use std::path::Path;

use model::{ResultId, StandingReference, UtcTime};

use crate::error::SpoolError;
use crate::ledger::{Intent, LedgerEntry, LedgerNote, each_line};
use crate::standing::{STANDING_DIR, standing_in};
use crate::stored_standing::StoredStanding;

/// The lines of the ledger about one standing approval.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StandingHistory {
    /// The time of its admission, in UTC; none if it was not admitted.
    pub admitted: Option<String>,
    /// Its revocation.
    pub revoked: Option<StandingRevocation>,
    /// Its uses, in the order of the ledger.
    pub uses: Vec<StandingUseEntry>,
}

/// The revocation of a standing approval.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StandingRevocation {
    /// The time, in UTC.
    pub at: String,
    /// The person and the key.
    pub by: String,
}

/// A use of a standing approval by a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StandingUseEntry {
    /// The number of the use, from 1.
    pub number: u64,
    /// The time when the run was begun, in UTC; none if the ledger was rebuilt without it.
    pub begun: Option<String>,
    /// The id of the request.
    pub request_id: String,
    /// The id of the result.
    pub result_id: String,
}

/// Returns the history of each standing approval of the ledger, by the digest of its file.
///
/// # Errors
/// An I/O error, or the first problem of the ledger.
pub fn standing_histories(state: &Path) -> Result<BTreeMap<String, StandingHistory>, SpoolError> {
    let (mut found, mut wrong) = (BTreeMap::new(), None);
    each_line(state, &mut |_, read| match read {
        Ok(LedgerEntry::Begun(intent)) => add_run(&mut found, *intent),
        Ok(LedgerEntry::Noted(note)) => add_note(&mut found, note),
        Err(error) => wrong = wrong.take().or(Some(error)),
    })?;
    wrong.map_or(Ok(found), Err)
}

fn add_run(found: &mut BTreeMap<String, StandingHistory>, intent: Intent) {
    let Intent { standing, begun, request_id, result_id, .. } = intent;
    if let Some(used) = standing {
        let (number, begun) = (used.number, Some(begun));
        let entry = StandingUseEntry { number, begun, request_id, result_id };
        found.entry(used.sha256).or_default().uses.push(entry);
    }
}

fn add_note(found: &mut BTreeMap<String, StandingHistory>, note: LedgerNote) {
    match note {
        LedgerNote::StandingAdmitted(note) => {
            found.entry(note.sha256).or_default().admitted.get_or_insert(note.at);
        }
        LedgerNote::StandingRevoked(note) => {
            let revocation = StandingRevocation { at: note.at, by: note.by.unwrap_or_default() };
            found.entry(note.sha256).or_default().revoked.get_or_insert(revocation);
        }
        LedgerNote::Adopted(run) => {
            let Some(sha256) = run.standing_sha256 else { return };
            let uses = &mut found.entry(sha256).or_default().uses;
            let number = u64::try_from(uses.len()).unwrap_or(u64::MAX).saturating_add(1);
            let begun = run.result_id.parse::<ResultId>().ok().map(|id| id.at().to_string());
            let (request_id, result_id) = (run.request_id, run.result_id);
            uses.push(StandingUseEntry { number, begun, request_id, result_id });
        }
        LedgerNote::StandingUsed(note) => {
            let id = note.result_id.parse::<ResultId>().ok().and_then(|id| id.request_id());
            let request_id = id.map_or_else(String::new, |id| id.to_string());
            let (number, begun, result_id) = (note.number, Some(note.at), note.result_id);
            let entry = StandingUseEntry { number, begun, request_id, result_id };
            found.entry(note.sha256).or_default().uses.push(entry);
        }
        LedgerNote::NotStarted { .. } | LedgerNote::Ordered(_) => {}
    }
}

/// Returns the stored standing approval of this reference, admitted or not.
///
/// # Errors
/// The store cannot be read.
pub fn read_stored_standing(
    state: &Path,
    reference: &StandingReference,
    now: UtcTime,
) -> Result<Option<StoredStanding>, SpoolError> {
    let directory = state.join(STANDING_DIR).join(reference.sha256.to_string());
    standing_in(&directory, reference, now)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write;

    use super::*;

    fn note(name: &str, more: &str) -> String {
        let id = "SA-20260209-160501Z-a";
        format!("{{\"{name}\":{{\"standing_id\":\"{id}\",\"sha256\":\"aa\",{more}}}}}\n")
    }

    fn run(number: u32, more: &str) -> String {
        format!(
            "{{\"request_sha256\":\"{number}\",\"request_id\":\"TR-{number}\",\
             \"result_id\":\"TS-{number}\",\"claim\":\"c{number}\",\
             \"begun\":\"2026-02-09T16:13:0{number}Z\",\"results\":\"/r\",\"policy_name\":\"p\",\
             \"policy_sha256\":\"22\",\"approval\":\"x\"{more}}}\n"
        )
    }

    fn adopted() -> String {
        let id = "TR-20260209-161500Z-b";
        format!(
            "{{\"adopted\":{{\"request_id\":\"{id}\",\"result_id\":\"TS-20260209-161501Z-{id}\",\
             \"results\":\"/r\",\"standing_sha256\":\"aa\"}}}}\n"
        )
    }

    fn used() -> String {
        let result_id = "TS-20260209-161602Z-TR-20260209-161600Z-c";
        let at = "2026-02-09T16:16:02Z";
        format!(
            "{{\"standing_used\":{{\"sha256\":\"aa\",\"use\":3,\"at\":\"{at}\",\
             \"result_id\":\"{result_id}\"}}}}\n"
        )
    }

    #[test]
    fn a_history_has_the_lines_of_its_digest() {
        let state = std::env::temp_dir().join(format!("toolexec-history-{}", std::process::id()));
        fs::create_dir_all(&state).unwrap();
        assert_eq!(standing_histories(&state).unwrap(), BTreeMap::new());
        let lines = [
            note("standing_admitted", "\"at\":\"2026-02-09T16:12:00Z\""),
            run(1, ",\"standing\":{\"sha256\":\"aa\",\"use\":1}"),
            run(2, ""),
            adopted(),
            used(),
            note("standing_revoked", "\"at\":\"2026-02-09T16:16:00Z\",\"by\":\"alice\""),
        ];
        let mut ledger = File::create(state.join("ledger")).unwrap();
        ledger.write_all(lines.concat().as_bytes()).unwrap();
        let found = standing_histories(&state).unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), ["aa"]);
        let history = &found["aa"];
        assert_eq!(history.admitted.as_deref(), Some("2026-02-09T16:12:00Z"));
        assert_eq!(history.revoked.as_ref().map(|it| it.by.as_str()), Some("alice"));
        let uses: Vec<_> = history.uses.iter().map(|it| (it.number, it.begun.as_deref())).collect();
        let wanted = [
            (1, Some("2026-02-09T16:13:01Z")),
            (2, Some("2026-02-09T16:15:01Z")),
            (3, Some("2026-02-09T16:16:02Z")),
        ];
        assert_eq!(uses, wanted);
        assert_eq!(history.uses[2].request_id, "TR-20260209-161600Z-c");
        ledger.write_all(b"{}\n").unwrap();
        assert!(standing_histories(&state).is_err());
        fs::remove_dir_all(state).unwrap();
    }
}

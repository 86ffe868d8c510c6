//! Stored standing approvals with their lines of the ledger, and the search for one. Nothing is
//! guessed: an id must be complete, or begin only one of the stored ids.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{StandingReference, UtcTime, escape_line};
use serde_json::{Value, json};
use spool::{
    StandingHistory, StoredStanding, read_stored_standing, standing_histories,
    stored_standing_references,
};
use validator::StandingTerms;

use super::error::StandingCommandError;
use super::phase::StandingPhase;
use crate::args::StateOption;
use crate::args::files::named_directory;
use crate::clock;
use crate::failure::Failure;

/// A stored standing approval.
pub(super) struct StoredRow {
    pub(super) reference: StandingReference,
    pub(super) stored: StoredStanding,
    pub(super) history: StandingHistory,
    now: UtcTime,
}

/// All stored standing approvals of a state directory.
pub(super) struct StoredRows {
    pub(super) rows: Vec<StoredRow>,
    /// Those whose files cannot be read as a standing approval.
    pub(super) damaged: Vec<StandingReference>,
}

/// Returns the state directory of the option, which must exist if it was named.
pub(super) fn state_directory(option: &StateOption) -> Result<PathBuf, Failure> {
    let path = option.path()?;
    match option.dir {
        Some(_) => named_directory("--state", &path),
        None => Ok(path),
    }
}

/// Reads every stored standing approval, in the order of the ids.
pub(super) fn read_all(state: &Path) -> Result<StoredRows, Failure> {
    let mut histories = standing_histories(state)?;
    let (mut rows, mut damaged) = (Vec::new(), Vec::new());
    for reference in stored_standing_references(state)? {
        match StoredRow::read(state, &reference, &mut histories)? {
            Some(row) => rows.push(row),
            None => damaged.push(reference),
        }
    }
    Ok(StoredRows { rows, damaged })
}

/// Returns the stored standing approval of this id, reference, or unique beginning of one.
pub(super) fn find(state: &Path, typed: &str) -> Result<StoredRow, StandingCommandError> {
    let reference = resolve(state, typed)?;
    let mut histories = standing_histories(state)?;
    StoredRow::read(state, &reference, &mut histories)?
        .ok_or_else(|| StandingCommandError::Refused(damage(&reference)))
}

/// Returns the message about a stored standing approval that cannot be read.
pub(super) fn damage(reference: &StandingReference) -> String {
    let help = "restore its directory standing/<sha256>/ from a backup";
    format!("{reference}: the stored file was changed or is missing; help: {help}")
}

fn resolve(state: &Path, typed: &str) -> Result<StandingReference, StandingCommandError> {
    let all = stored_standing_references(state)?;
    let help = "list them with `toolexec standing list`, and name the state directory with --state";
    select(&all, typed, state, help).cloned()
}

/// Returns the one of this id, reference, or unique beginning. `all` are those of `place`.
pub(super) fn select<'a>(
    all: &'a [StandingReference],
    typed: &str,
    place: &Path,
    help: &str,
) -> Result<&'a StandingReference, StandingCommandError> {
    let typed = typed.strip_suffix(".md").unwrap_or(typed);
    let is_exact = |it: &&StandingReference| it.id.as_str() == typed || it.to_string() == typed;
    let mut found: Vec<&StandingReference> = all.iter().filter(is_exact).collect();
    if found.is_empty() && !typed.is_empty() {
        found = all.iter().filter(|it| it.to_string().starts_with(typed)).collect();
    }
    match found[..] {
        [one] => Ok(one),
        [] => Err(StandingCommandError::Refused(format!(
            "{}: no such standing approval in {}; help: {help}",
            escape_line(typed),
            place.display()
        ))),
        _ => {
            let named: Vec<String> = found.iter().map(ToString::to_string).collect();
            let (typed, named) = (escape_line(typed), named.join(", "));
            let why = format!("{typed}: several match: {named}; help: type more of it");
            Err(Failure::Message(why).into())
        }
    }
}

impl StoredRow {
    fn read(
        state: &Path,
        reference: &StandingReference,
        histories: &mut BTreeMap<String, StandingHistory>,
    ) -> Result<Option<Self>, Failure> {
        let now = clock::now();
        let Some(stored) = read_stored_standing(state, reference, now)? else { return Ok(None) };
        let history = histories.remove(&reference.sha256.to_string()).unwrap_or_default();
        Ok(Some(Self { reference: reference.clone(), stored, history, now }))
    }

    pub(super) fn terms(&self) -> &StandingTerms {
        self.stored.approval.terms()
    }

    pub(super) fn phase(&self) -> StandingPhase {
        StandingPhase::of(self.terms(), &self.history, self.now)
    }

    /// Returns the facts that `list` and `show` print.
    pub(super) fn json(&self) -> Value {
        let terms = self.terms();
        let revoked = self.history.revoked.as_ref();
        json!({
            "standing_id": terms.id.as_str(),
            "reference": self.reference.to_string(),
            "state": self.phase().as_str(),
            "uses": self.history.uses.len(),
            "uses_max": terms.uses_max,
            "uses_per_hour_max": terms.uses_per_hour_max,
            "agents": terms.agents,
            "subject": terms.subject,
            "audience": terms.audience,
            "not_before_utc": terms.not_before.to_string(),
            "not_after_utc": terms.not_after.to_string(),
            "admitted_utc": self.history.admitted,
            "revoked_utc": revoked.map(|it| &it.at),
            "revoked_by": revoked.map(|it| &it.by),
        })
    }
}

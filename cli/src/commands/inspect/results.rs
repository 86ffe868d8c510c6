//! Published results. There may be very many, so functions read only names where possible.

use std::path::{Path, PathBuf};

use records::Summary;
pub(crate) use records::request_of;

use crate::failure::Failure;

/// Returns the names, oldest first. A result that is still being collected has a hidden name.
pub(crate) fn result_names(place: &Path) -> Result<Vec<String>, Failure> {
    let results = place.join("results");
    records::result_names(&results).map_err(Failure::io(&results))
}

pub(crate) struct PublishedResult {
    pub(crate) path: PathBuf,
    pub(crate) summary: Option<Summary>,
}

impl PublishedResult {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { summary: records::summary(&path), path }
    }

    /// Returns the outcome, or that the record cannot be read.
    pub(crate) fn as_str(&self) -> &str {
        self.summary.as_ref().map_or("unreadable", |summary| &summary.outcome)
    }

    /// Returns the reason why nothing ran, or why the outcome is unknown.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.summary.as_ref().and_then(|summary| summary.reason.as_deref())
    }

    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Returns the records of a request among these names, oldest first.
pub(crate) fn records_among(
    place: &Path,
    names: &[String],
    request_id: &str,
) -> Vec<PublishedResult> {
    let mine = names.iter().filter(|name| request_of(name) == Some(request_id));
    mine.map(|name| PublishedResult::at(place.join("results").join(name))).collect()
}

/// Returns whether a request without a run has this outcome. It may be submitted again.
pub(crate) fn never_ran(outcome: &str) -> bool {
    matches!(outcome, "refused" | "setup_error")
}

/// Returns the record of a request's outcome: that of its run, else the last one.
pub(crate) fn final_record(mut records: Vec<PublishedResult>) -> Option<PublishedResult> {
    let is_of_run = |outcome: &str| !never_ran(outcome) && outcome != "unreadable";
    let ran = records.iter().position(|one| is_of_run(one.as_str()));
    match ran {
        Some(at) => Some(records.swap_remove(at)),
        None => records.pop(),
    }
}

/// Returns the exit status of `run` for an outcome.
pub(super) fn exit_code_of(outcome: &str) -> u8 {
    match outcome {
        "ok" => 0,
        "refused" => 2,
        "setup_error" | "indeterminate" | "unreadable" => 3,
        _ => 1,
    }
}

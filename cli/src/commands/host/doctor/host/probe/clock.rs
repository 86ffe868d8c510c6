//! The wall clock, and the latest time in the name of a result.

use std::fs;
use std::path::PathBuf;

use model::{ResultId, UtcTime};

use super::model::ProbeContext;
use crate::commands::host::doctor::host::model::ClockReading;

pub(super) fn probe(host: &ProbeContext) -> ClockReading {
    let kept = sandbox::host::clock_is_synchronized().map_err(|error| error.to_string());
    ClockReading { now: crate::clock::now(), synchronized: kept, newest: newest(host) }
}

fn newest(host: &ProbeContext) -> Option<(UtcTime, PathBuf)> {
    let results = host.results()?;
    let names = fs::read_dir(&results).ok()?.flatten().map(|entry| entry.file_name());
    let ids = names.filter_map(|name| name.to_str()?.parse::<ResultId>().ok());
    let newest = ids.max_by_key(ResultId::at)?;
    Some((newest.at(), results.join(newest.as_str())))
}

//! Resolves an id: the complete id, else a unique prefix, else a unique substring. Never guesses.

use std::collections::BTreeSet;
use std::path::Path;

use model::{RequestId, ResultId};

use super::results::{request_of, result_names};
use super::rows::Queue;
use crate::failure::Failure;

/// Limit of listed matches in an error.
const NAMED_MAX: usize = 5;
/// A shorter part is assumed to be a typing error.
const PART_CHARS_MIN: usize = 3;

pub(super) enum ResolvedId {
    Request(String),
    Result(String),
    Unknown,
}

/// Resolves an id among requests in the queue, in flight and with results.
pub(super) fn resolve(place: &Path, queue: &Queue, typed: &str) -> Result<ResolvedId, Failure> {
    let results = result_names(place)?;
    let mut requests: BTreeSet<&str> =
        queue.rows.iter().map(|row| row.request_id.as_str()).collect();
    requests.extend(results.iter().filter_map(|name| request_of(name)));
    if requests.contains(typed) {
        return Ok(ResolvedId::Request(typed.to_owned()));
    }
    if results.iter().any(|name| name == typed) {
        return Ok(ResolvedId::Result(typed.to_owned()));
    }
    // A complete id that does not exist is not part of another id.
    let is_whole = typed.parse::<RequestId>().is_ok() || typed.parse::<ResultId>().is_ok();
    if typed.chars().count() < PART_CHARS_MIN || is_whole {
        return Ok(ResolvedId::Unknown);
    }
    let of_results: BTreeSet<&str> = results.iter().map(String::as_str).collect();
    if typed.starts_with("TS-") {
        let found = unique_match(typed, &of_results, |name| name.starts_with(typed))?;
        return Ok(found.map_or(ResolvedId::Unknown, ResolvedId::Result));
    }
    let found = match unique_match(typed, &requests, |name| name.starts_with(typed))? {
        Some(found) => Some(found),
        None => unique_match(typed, &requests, |name| name.contains(typed))?,
    };
    Ok(found.map_or(ResolvedId::Unknown, ResolvedId::Request))
}

fn unique_match(
    typed: &str,
    names: &BTreeSet<&str>,
    has_it: impl Fn(&str) -> bool,
) -> Result<Option<String>, Failure> {
    let found: Vec<&str> = names.iter().copied().filter(|name| has_it(name)).collect();
    match found[..] {
        [] => Ok(None),
        [one] => Ok(Some(one.to_owned())),
        _ => {
            let named = found.iter().take(NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
            let more = if found.len() > NAMED_MAX { ", …" } else { "" };
            let count = found.len();
            Err(Failure::Message(format!(
                "{typed}: {count} ids match: {named}{more}; help: type more of it"
            )))
        }
    }
}

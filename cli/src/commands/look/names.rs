//! Which request or result is meant by part of an id: the whole id, else its beginning, else any part of
//! it, if only one has it. Never guesses between two.

use std::collections::BTreeSet;
use std::path::Path;

use model::{RequestId, ResultId};

use super::results::{request_of, result_names};
use super::rows::Queue;
use crate::failure::Failure;

/// How many are named where several have it.
const NAMED_MAX: usize = 5;
/// Less of an id is a slip of the hand.
const PART_CHARS_LEAST: usize = 3;

/// What is meant.
pub(super) enum Meant {
    Request(String),
    Result(String),
    Nothing,
}

/// Looks among what waits, what is in flight and what was published.
pub(super) fn meant(place: &Path, queue: &Queue, typed: &str) -> Result<Meant, Failure> {
    let results = result_names(place)?;
    let mut requests: BTreeSet<&str> =
        queue.rows.iter().map(|row| row.request_id.as_str()).collect();
    requests.extend(results.iter().filter_map(|name| request_of(name)));
    if requests.contains(typed) {
        return Ok(Meant::Request(typed.to_owned()));
    }
    if results.iter().any(|name| name == typed) {
        return Ok(Meant::Result(typed.to_owned()));
    }
    // A whole id that is nowhere is part of no other.
    let is_whole = typed.parse::<RequestId>().is_ok() || typed.parse::<ResultId>().is_ok();
    if typed.chars().count() < PART_CHARS_LEAST || is_whole {
        return Ok(Meant::Nothing);
    }
    let of_results: BTreeSet<&str> = results.iter().map(String::as_str).collect();
    if typed.starts_with("TS-") {
        let found = only(typed, &of_results, |name| name.starts_with(typed))?;
        return Ok(found.map_or(Meant::Nothing, Meant::Result));
    }
    let found = match only(typed, &requests, |name| name.starts_with(typed))? {
        Some(found) => Some(found),
        None => only(typed, &requests, |name| name.contains(typed))?,
    };
    Ok(found.map_or(Meant::Nothing, Meant::Request))
}

fn only(
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
            Err(Failure::Said(format!("{typed}: {count} have it: {named}{more}; type more of it")))
        }
    }
}

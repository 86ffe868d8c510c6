//! Retention of results and requests. A mistake must never be read as "remove", nor as "keep".

use std::num::NonZero;

use serde::Deserialize;
use spool::retention::{Bounds, Keep};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeepForm {
    results: Option<BoundsForm>,
    archive: Option<BoundsForm>,
    quarantine: Option<BoundsForm>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BoundsForm {
    days: Option<NonZero<u32>>,
    count: Option<NonZero<u64>>,
    bytes: Option<NonZero<u64>>,
}

/// Returns the retention settings; by default everything is kept forever.
pub(crate) fn bounds(form: Option<KeepForm>) -> Result<Keep, String> {
    let KeepForm { results, archive, quarantine } = form.unwrap_or_default();
    Ok(Keep {
        results: of_kind("results", results)?,
        archive: of_kind("archive", archive)?,
        quarantine: of_kind("quarantine", quarantine)?,
    })
}

fn of_kind(kind: &str, form: Option<BoundsForm>) -> Result<Bounds, String> {
    let Some(BoundsForm { days, count, bytes }) = form else { return Ok(Bounds::default()) };
    let bounds = Bounds { days, count, bytes };
    if bounds.is_boundless() {
        return Err(format!(
            "keep.{kind}: no limit is set; help: set days, count or bytes, or remove the key"
        ));
    }
    Ok(bounds)
}

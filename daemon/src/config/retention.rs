//! Retention of results and requests. A mistake must never be read as "remove", nor as "keep".

use std::num::NonZero;

use serde::Deserialize;
use spool::retention::{RetentionBounds, RetentionPolicy};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawRetentionConfig {
    results: Option<RawRetentionBounds>,
    archive: Option<RawRetentionBounds>,
    quarantine: Option<RawRetentionBounds>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRetentionBounds {
    days: Option<NonZero<u32>>,
    count: Option<NonZero<u64>>,
    bytes: Option<NonZero<u64>>,
}

/// By default everything is kept forever.
pub(crate) fn bounds(form: Option<RawRetentionConfig>) -> Result<RetentionPolicy, String> {
    let RawRetentionConfig { results, archive, quarantine } = form.unwrap_or_default();
    Ok(RetentionPolicy {
        results: of_kind("results", results)?,
        archive: of_kind("archive", archive)?,
        quarantine: of_kind("quarantine", quarantine)?,
    })
}

fn of_kind(kind: &str, form: Option<RawRetentionBounds>) -> Result<RetentionBounds, String> {
    let Some(RawRetentionBounds { days, count, bytes }) = form else {
        return Ok(RetentionBounds::default());
    };
    let bounds = RetentionBounds { days, count, bytes };
    if bounds.is_unbounded() {
        return Err(format!(
            "retention.{kind}: no limit is set; help: set days, count or bytes, or remove the key"
        ));
    }
    Ok(bounds)
}

//! One host of a fleet as its database states it, as text and as JSON.

use fleet::commands::FleetHostStatus;
use fleet::model::HostName;
use model::escape_line;
use serde_json::{Value, json};

use super::lost_check::LostHostVerdict;

/// The lines about a host, with the verdict about its order. The first one has its figures.
pub(super) fn lines(host: &FleetHostStatus, lost: Option<&LostHostVerdict>) -> Vec<String> {
    let FleetHostStatus { beat_age_sec, claimed, started, .. } = host;
    let mut figures = format!("beat {beat_age_sec:.0} s ago, {claimed} claimed, {started} started");
    if let Some(size) = host.log_size {
        let witnesses = match names(&host.witnesses) {
            names if names.is_empty() => "without a witness".to_owned(),
            names => format!("cosigned by {names}"),
        };
        figures.push_str(&format!(", log of {size} entries {witnesses}"));
    }
    let mut lines = vec![figures];
    lines.extend(lost.map(LostHostVerdict::line));
    if !host.labels.is_empty() {
        lines.push(format!("labels {}", names(&host.labels)));
    }
    let dispute = |(witness, reason): &(HostName, String)| {
        format!("disputed by {witness}: {}", escape_line(reason))
    };
    lines.extend(host.disputes.iter().map(dispute));
    lines
}

pub(super) fn names(names: &[HostName]) -> String {
    names.iter().map(HostName::as_str).collect::<Vec<_>>().join(", ")
}

pub(super) fn json_of(host: &FleetHostStatus, lost: Option<&LostHostVerdict>) -> Value {
    let dispute = |(witness, reason): &(HostName, String)| {
        json!({
            "witness": witness.as_str(),
            "reason": reason,
        })
    };
    json!({
        "host": host.host.as_str(),
        "labels": texts(&host.labels),
        "beat_age_sec": host.beat_age_sec,
        "claimed": host.claimed,
        "started": host.started,
        "lost": lost.map(LostHostVerdict::json),
        "log_size": host.log_size,
        "witnesses": texts(&host.witnesses),
        "disputes": host.disputes.iter().map(dispute).collect::<Vec<_>>(),
    })
}

fn texts(names: &[HostName]) -> Vec<&str> {
    names.iter().map(HostName::as_str).collect()
}

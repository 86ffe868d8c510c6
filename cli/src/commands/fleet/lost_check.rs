//! The check of the orders about lost hosts that the database has. Only its signature proves an
//! order: a host without a good order is not shown as lost.

use fleet::commands::FleetHostStatus;
use policies::{AllowedSigners, FleetLostOrder};
use serde_json::{Value, json};

use crate::clock;

/// The fleet and the keys by which orders count.
pub(super) struct LostHostCheck {
    fleet_id: String,
    signers: Option<AllowedSigners>,
}

/// The verdict about the order of one host.
pub(super) enum LostHostVerdict {
    /// An operator declared the host lost.
    Declared(String),
    /// No keys are known.
    Unchecked,
    /// The order does not count.
    Invalid(String),
}

impl LostHostCheck {
    pub(super) fn new(fleet_id: &str, signers: Option<AllowedSigners>) -> Self {
        Self { fleet_id: fleet_id.to_owned(), signers }
    }

    /// Returns the verdict about a host, or `None` if the database has no order about it.
    pub(super) fn verdict(&self, host: &FleetHostStatus) -> Option<LostHostVerdict> {
        let lost = host.lost.as_ref()?;
        let Some(signers) = &self.signers else { return Some(LostHostVerdict::Unchecked) };
        let (text, signature) = (&lost.order, lost.signature.as_bytes());
        let (name, fleet_id, now) = (host.host.as_str(), &self.fleet_id, clock::now());
        Some(match FleetLostOrder::check(text, signature, name, fleet_id, signers, now) {
            Ok(counted) => {
                let (at, signer) = (counted.order().at(), counted.signer());
                LostHostVerdict::Declared(format!("declared lost at {at} by {signer}"))
            }
            Err(error) => LostHostVerdict::Invalid(error.to_string()),
        })
    }

    /// Returns whether the order about a host does not count.
    pub(super) fn is_invalid(&self, host: &FleetHostStatus) -> bool {
        matches!(self.verdict(host), Some(LostHostVerdict::Invalid(_)))
    }
}

impl LostHostVerdict {
    /// Returns the verdict as a line about the host.
    pub(super) fn line(&self) -> String {
        match self {
            Self::Declared(text) => text.clone(),
            Self::Unchecked => "the database has an order that declares it lost, which was not \
                                checked; help: name the keys with --approvers"
                .to_owned(),
            Self::Invalid(error) => format!("not declared lost: {error}"),
        }
    }

    pub(super) fn json(&self) -> Value {
        let counts = match self {
            Self::Declared(_) => Some(true),
            Self::Unchecked => None,
            Self::Invalid(_) => Some(false),
        };
        json!({
            "counts": counts,
            "text": self.line(),
        })
    }
}

#[cfg(test)]
mod tests {
    use fleet::commands::FleetLostStatus;
    use fleet::model::HostName;

    use super::*;

    const FLEET_ID: &str = "0b1c2d3e";

    fn host(lost: Option<FleetLostStatus>) -> FleetHostStatus {
        FleetHostStatus {
            host: HostName::parse("host-a").unwrap(),
            labels: Vec::new(),
            beat_age_sec: 90.0,
            claimed: 0,
            started: 1,
            lost,
            log_size: None,
            witnesses: Vec::new(),
            disputes: Vec::new(),
        }
    }

    #[test]
    fn a_host_is_lost_only_by_an_order_whose_signature_counts() {
        let order = FleetLostOrder::new("host-a", FLEET_ID, clock::now()).unwrap().text();
        let unsigned = host(Some(FleetLostStatus { order, signature: String::new() }));
        let keys = AllowedSigners::parse("").unwrap();
        let check = LostHostCheck::new(FLEET_ID, Some(keys));
        assert!(check.verdict(&host(None)).is_none());
        let verdict = check.verdict(&unsigned).unwrap();
        assert!(check.is_invalid(&unsigned) && !check.is_invalid(&host(None)));
        assert!(verdict.line().starts_with("not declared lost: "), "{}", verdict.line());
        assert_eq!(verdict.json()["counts"], false);
        let unchecked = LostHostCheck::new(FLEET_ID, None);
        assert!(!unchecked.is_invalid(&unsigned));
        assert!(unchecked.verdict(&unsigned).unwrap().json()["counts"].is_null());
    }
}

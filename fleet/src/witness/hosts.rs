//! The keys of the fleet's hosts, from the signed list. A key that cannot be read counts for
//! nothing.

use fleet::model::HostName;
use policies::FleetList;
use records::log::{PublicLogKey, WitnessKey};

use crate::database::CosignatureRow;

/// The keys of another host.
pub(super) struct WitnessHost {
    pub(super) name: HostName,
    /// The key of its log.
    pub(super) log: Option<PublicLogKey>,
    /// The key with which it cosigns.
    pub(super) witness: Option<WitnessKey>,
}

/// The keys of a fleet, as one of its hosts sees them.
pub(super) struct WitnessHosts {
    own_log: Option<PublicLogKey>,
    own_witness: String,
    others: Vec<WitnessHost>,
}

impl WitnessHosts {
    /// Returns the keys of a list for this host.
    pub(super) fn of(list: &FleetList, own: &HostName) -> Self {
        let mut keys = Self { own_log: None, own_witness: String::new(), others: Vec::new() };
        for host in list.hosts() {
            let log = PublicLogKey::from_verifier_line(host.log_key());
            // The name of a log has a stricter form than that of a host.
            let log = log.filter(|key| key.origin().as_str() == host.name());
            if host.name() == own.as_str() {
                keys.own_log = log;
                host.witness_key().trim_end().clone_into(&mut keys.own_witness);
            } else if let Ok(name) = HostName::parse(host.name()) {
                let witness = WitnessKey::from_verifier_line(host.witness_key());
                keys.others.push(WitnessHost { name, log, witness });
            }
        }
        keys
    }

    /// Returns the key of this host's log.
    pub(super) fn own_log(&self) -> Option<&PublicLogKey> {
        self.own_log.as_ref()
    }

    /// Returns whether the list has this key for this host's witness.
    pub(super) fn has_witness_key(&self, verifier_line: &str) -> bool {
        self.own_witness == verifier_line
    }

    /// Returns another host.
    pub(super) fn other(&self, name: &HostName) -> Option<&WitnessHost> {
        self.others.iter().find(|host| host.name == *name)
    }

    /// Returns the size from which each witness needs a proof. The rows are not verified: a wrong
    /// size only causes a proof that the witness does not use.
    pub(super) fn cosigned_sizes(&self, rows: &[CosignatureRow]) -> Vec<(HostName, u64)> {
        let size = |host: &WitnessHost| {
            let row = rows.iter().find(|row| row.witness == host.name);
            row.map_or(0, |row| row.size)
        };
        self.others.iter().map(|host| (host.name.clone(), size(host))).collect()
    }
}

/// Returns the fault of a key in the fleet list.
pub(super) fn unreadable_key(name: &str, host: &str) -> String {
    format!(
        "fleet list: {name} of host {host} is not a key of its kind; help: copy the line that \
         docs/fleet.md describes, and have the list signed"
    )
}

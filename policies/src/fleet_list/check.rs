//! Reads a fleet list and checks it. It reports every problem.

use std::collections::BTreeSet;

use model::{escape_line, is_host_name};

use super::model::{FLEET_LIST_BYTES_MAX, FleetList, FleetListHost};
use super::raw::{RawFleetHost, RawFleetList};
use crate::approval::AllowedSigners;
use crate::problem::{PolicyError, PolicyProblem, Problems};
use crate::translate;

const SHOW_ADVICE: &str = "see a complete fleet.yaml in docs/fleet.md";
const NAME_ADVICE: &str =
    "use lowercase letters, digits, `-`, `_` and `.`, beginning with a letter, at most 63";
const HOSTS: &str = "hosts";
const HOSTS_MAX: usize = 256;
const LABELS_MAX: usize = 64;
const KEYS_MAX: usize = 64;
const FLEET_ID_BYTES: std::ops::RangeInclusive<usize> = 8..=64;

impl FleetList {
    /// Reads a fleet list. Messages call it `origin`.
    ///
    /// # Errors
    /// [`PolicyError`] with every problem, as far as the file can be read.
    pub fn parse(bytes: &[u8], origin: &str) -> Result<Self, PolicyError> {
        let refuse = |what: &str, advice: &str| {
            Err(PolicyError::one(origin, PolicyProblem::new(None, "", what.to_owned(), advice)))
        };
        if bytes.len() > FLEET_LIST_BYTES_MAX {
            return refuse("larger than 1 MiB", "shorten the file");
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            return refuse("not UTF-8", "save the file as UTF-8");
        };
        let form: RawFleetList = translate::read(text, origin, SHOW_ADVICE)?;
        let problems = Problems::new(text, origin);
        let mut check = FleetListCheck { problems, seen: SeenFleetNames::default() };
        let list = check.list(form);
        check.problems.verdict(list)
    }
}

/// Returns whether a text has the form of a fleet's id: hexadecimal digits and hyphens.
pub(super) fn is_fleet_id(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-');
    FLEET_ID_BYTES.contains(&text.len()) && text.bytes().all(is_digit)
}

/// The names and keys so far. Each may be of one host only.
#[derive(Default)]
struct SeenFleetNames {
    names: BTreeSet<String>,
    labels: BTreeSet<String>,
    keys: BTreeSet<String>,
}

struct FleetListCheck<'t> {
    problems: Problems<'t>,
    seen: SeenFleetNames,
}

impl FleetListCheck<'_> {
    fn list(&mut self, form: RawFleetList) -> FleetList {
        let RawFleetList { fleet, fleet_id, serial, hosts } = form;
        if !is_host_name(&fleet) {
            let what = format!("`{}` is not a name", escape_line(&fleet));
            self.problems.add("fleet", what, NAME_ADVICE);
        }
        if !is_fleet_id(&fleet_id) {
            let what = format!("`{}` is not an id", escape_line(&fleet_id));
            let advice = "write the id that `toolexec fleet init` prints";
            self.problems.add("fleet_id", what, advice);
        }
        if serial.0 == 0 {
            self.problems.add("serial", "is 0", "write 1, and a higher number in each new list");
        }
        if hosts.is_empty() || hosts.len() > HOSTS_MAX {
            let what = format!("{} hosts, not 1 to {HOSTS_MAX}", hosts.len());
            self.problems.add(HOSTS, what, "list the hosts of the fleet");
        }
        let hosts: Vec<FleetListHost> = hosts.into_iter().map(|host| self.host(host)).collect();
        let both: Vec<String> = self.seen.names.intersection(&self.seen.labels).cloned().collect();
        for name in both {
            // A request for that host would also be one for the hosts with the label.
            let what = format!("`{name}` is the name of a host and a label");
            self.problems.add(HOSTS, what, "rename the label");
        }
        FleetList { fleet, fleet_id, serial: serial.0, hosts }
    }

    fn host(&mut self, form: RawFleetHost) -> FleetListHost {
        let RawFleetHost { name, labels, record_keys, log_key, retired_log_keys, witness_key } =
            form;
        let (labels, retired_log_keys) =
            (labels.unwrap_or_default(), retired_log_keys.unwrap_or_default());
        if !is_host_name(&name) {
            self.add(&name, "not a host name", NAME_ADVICE);
        } else if !self.seen.names.insert(name.clone()) {
            self.add(&name, "appears twice", "keep one of them");
        }
        self.labels(&name, &labels);
        self.record_keys(&name, &record_keys);
        if retired_log_keys.len() > KEYS_MAX {
            let what = format!("more than {KEYS_MAX} retired_log_keys");
            self.add(&name, &what, "remove the oldest");
        }
        for key in [&log_key].into_iter().chain(&retired_log_keys) {
            self.log_key(&name, key);
        }
        self.witness_key(&name, &witness_key);
        FleetListHost { name, labels, record_keys, log_key, retired_log_keys, witness_key }
    }

    /// Adds a problem of one host.
    fn add(&mut self, host: &str, what: &str, advice: &str) {
        self.problems.add(HOSTS, format!("`{}`: {what}", escape_line(host)), advice);
    }

    fn labels(&mut self, host: &str, labels: &[String]) {
        if labels.len() > LABELS_MAX {
            self.add(host, &format!("more than {LABELS_MAX} labels"), "remove some");
        }
        for (index, label) in labels.iter().enumerate() {
            let shown = escape_line(label);
            if !is_host_name(label) {
                self.add(host, &format!("label `{shown}` is not a name"), NAME_ADVICE);
            }
            if labels.iter().take(index).any(|before| before == label) {
                self.add(host, &format!("label `{shown}` appears twice"), "keep one of them");
            }
            self.seen.labels.insert(label.clone());
        }
    }

    fn record_keys(&mut self, host: &str, lines: &[String]) {
        if lines.is_empty() || lines.len() > KEYS_MAX {
            let what = format!("{} record_keys, not 1 to {KEYS_MAX}", lines.len());
            let advice = "copy the lines of `toolexec keys show --format allowed-signers`";
            self.add(host, &what, advice);
        }
        for line in lines {
            match fingerprint(line) {
                Ok(fingerprint) => self.key_of_one_host(host, "record key", &fingerprint),
                Err((what, advice)) => self.add(host, &format!("record key: {what}"), advice),
            }
        }
    }

    fn log_key(&mut self, host: &str, line: &str) {
        let advice = "copy the output of `toolexec keys show --format verifier` of this host, \
                      whose log has the name of the host";
        match verifier_parts(line) {
            Some((name, key)) if name == host => self.key_of_one_host(host, "log key", key),
            Some((name, _)) => {
                let what = format!("its log key is that of `{}`", escape_line(name));
                self.add(host, &what, advice);
            }
            None => self.add(host, "its log key is not a verifier line NAME+ID+KEY", advice),
        }
    }

    fn witness_key(&mut self, host: &str, line: &str) {
        match verifier_parts(line) {
            Some((_, key)) => self.key_of_one_host(host, "witness key", key),
            None => {
                let advice = "copy the line that `toolexec-fleet check` prints on this host";
                self.add(host, "its witness_key is not a verifier line NAME+ID+KEY", advice);
            }
        }
    }

    fn key_of_one_host(&mut self, host: &str, kind: &str, key: &str) {
        if !self.seen.keys.insert(key.to_owned()) {
            let what = format!("{kind} `{}` appears twice", escape_line(key));
            self.add(host, &what, "use each key for one host and once");
        }
    }
}

/// Returns the fingerprint of the key of one line of `allowed_signers`, or the problem with advice.
fn fingerprint(line: &str) -> Result<String, (String, &'static str)> {
    let advice = "copy a line of `toolexec keys show --format allowed-signers`";
    let signers = match AllowedSigners::parse(line) {
        Ok(signers) => signers,
        Err(error) => return Err((error.what().to_owned(), advice)),
    };
    let mut keys = signers.keys();
    match (keys.next(), keys.next()) {
        (Some(key), None) => Ok(key.fingerprint()),
        _ => Err(("not one line with a key".to_owned(), advice)),
    }
}

/// Returns the name and the key of a verifier line, `NAME+ID+KEY`.
fn verifier_parts(line: &str) -> Option<(&str, &str)> {
    let mut parts = line.splitn(3, '+');
    let (name, id, key) = (parts.next()?, parts.next()?, parts.next()?);
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
    let is_id = id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let is_key = !key.is_empty() && key.bytes().all(is_base64);
    (is_name && is_id && is_key).then_some((name, key))
}

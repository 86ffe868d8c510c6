//! Network hosts: those that a policy offers, and those that one run is granted. Nothing is
//! resolved here. A host must never be granted unless the request names it and the policy lists it.

use std::collections::BTreeMap;
use std::net::IpAddr;

use validator::{Code, HostPort, Network, Request};

use crate::findings::Findings;
use crate::problem::Problems;
use crate::raw::{RawNetworkRules, RawOfferedHost};
use crate::reasons::RuleName;

/// The size limits of one run's network: hosts, ports of one host, addresses, connections at once.
const HOSTS_MAX: usize = 64;
const PORTS_MAX: usize = 16;
const PRIVATE_MAX: usize = 64;
const CONNECTIONS_MAX: u64 = 256;

/// The hosts that a policy offers.
#[derive(Clone, Debug)]
pub(crate) struct NetworkRules {
    hosts: Vec<OfferedHost>,
    bytes_max: u64,
    connections_max: u32,
}

#[derive(Clone, Debug)]
struct OfferedHost {
    host: String,
    ports: Vec<u16>,
    private: Vec<IpAddr>,
}

/// The hosts that one run may reach. The fields are public because plain data proves nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrantedNetwork {
    /// The hosts by name; never empty.
    pub hosts: BTreeMap<String, GrantedHost>,
    /// Bytes to and from all hosts together.
    pub bytes_max: u64,
    /// Connections at once.
    pub connections_max: u32,
}

/// The ports and addresses that one run may reach at one host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrantedHost {
    /// The TCP ports.
    pub ports: Vec<u16>,
    /// Addresses that only this name may resolve to although they are not public.
    pub private: Vec<IpAddr>,
}

impl NetworkRules {
    pub(crate) fn check(form: &RawNetworkRules, problems: &mut Problems<'_>) -> Self {
        let mut hosts: Vec<OfferedHost> = Vec::new();
        for written in &form.hosts {
            let Some(rule) = OfferedHost::check(written, problems) else { continue };
            if hosts.iter().any(|known| known.host == rule.host) {
                let what = format!("`{}` appears twice", rule.host);
                problems.add("network.hosts", what, "list all its ports in one entry");
            }
            hosts.push(rule);
        }
        let (bytes_max, connections) = (form.bytes_max.0, form.connections_max.0);
        if bytes_max == 0 {
            let advice = "write a value above 0, or `hosts: []` for no network";
            problems.add("network.bytes_max", "is 0", advice);
        }
        if !(1..=CONNECTIONS_MAX).contains(&connections) {
            let advice = format!("write 1 to {CONNECTIONS_MAX}");
            let what = format!("{connections} is out of range");
            problems.add("network.connections_max", what, &advice);
        }
        let connections_max = u32::try_from(connections).unwrap_or(u32::MAX);
        Self { hosts, bytes_max, connections_max }
    }

    /// Returns every host with every port that a request may name, `host:port`.
    pub(crate) fn offered(&self) -> impl Iterator<Item = String> {
        self.hosts
            .iter()
            .flat_map(|rule| rule.ports.iter().map(move |port| format!("{}:{port}", rule.host)))
    }

    fn offer(&self, requested: &HostPort) -> Option<&OfferedHost> {
        let rule = self.hosts.iter().find(|rule| rule.host == requested.host())?;
        rule.ports.contains(&requested.port()).then_some(rule)
    }

    fn offers(&self, requested: &HostPort) -> bool {
        self.offer(requested).is_some()
    }

    /// Returns the hosts granted to this request, or `None` if it names none. The caller must have
    /// checked that all are offered.
    pub(crate) fn grant(&self, request: &Request) -> Option<GrantedNetwork> {
        let mut hosts: BTreeMap<String, GrantedHost> = BTreeMap::new();
        for requested in request.network().hosts() {
            let Some(rule) = self.offer(requested) else { continue };
            let granted = hosts.entry(rule.host.clone()).or_insert_with(|| GrantedHost {
                ports: Vec::new(),
                private: rule.private.clone(),
            });
            granted.ports.push(requested.port());
        }
        if hosts.is_empty() {
            return None;
        }
        let (bytes_max, connections_max) = (self.bytes_max, self.connections_max);
        Some(GrantedNetwork { hosts, bytes_max, connections_max })
    }
}

impl OfferedHost {
    fn check(form: &RawOfferedHost, problems: &mut Problems<'_>) -> Option<Self> {
        let at = "network.hosts";
        let mut ports: Vec<u16> = Vec::new();
        for written in &form.ports {
            match u16::try_from(written.0) {
                Ok(port) if port > 0 && !ports.contains(&port) => ports.push(port),
                _ => {
                    let what =
                        format!("{}: port {} is not valid or appears twice", form.host, written.0);
                    problems.add(at, what, "write each TCP port once");
                }
            }
        }
        if ports.is_empty() {
            let what = format!("{}: no ports", form.host);
            problems.add(at, what, "write `ports: [443]`");
        }
        let mut private = Vec::new();
        for written in &form.private {
            match written.parse() {
                Ok(address) => private.push(address),
                Err(_) => {
                    let what = format!("{}: `{written}` is not an IP address", form.host);
                    problems.add(at, what, "write single addresses, not names or networks");
                }
            }
        }
        if private.len() > PRIVATE_MAX {
            let what = format!("{}: more than {PRIVATE_MAX} private addresses", form.host);
            problems.add(at, what, "list fewer private addresses");
        }
        // The host is parsed with a port, as in a request, so that both compare equal.
        let host = HostPort::parse(&form.host).filter(|_| !form.host.contains(':'));
        if host.is_none() {
            let what = format!("`{}` is not a host", form.host);
            problems.add(at, what, "write a name or an IPv4 address; no port, URL or wildcard");
        }
        Some(Self { host: host?.host().to_owned(), ports, private })
    }
}

/// Checks the requested hosts: the policy must offer all of them.
pub(crate) fn judge(request: &Request, rules: &NetworkRules, findings: &mut Findings) {
    let hosts = request.network().hosts();
    if matches!(request.network(), Network::Allowlist(hosts) if hosts.is_empty()) {
        let reason = "network_allowlist: empty, although network is `allowlist`".to_owned();
        let hint = "list the hosts, or write `network: none`";
        findings.refuse(RuleName::Network, Code::NetworkAllowlistMissing, reason, hint);
        return;
    }
    if hosts.is_empty() {
        findings.pass(RuleName::Network, "no hosts requested");
        return;
    }
    let listed = |hosts: &mut dyn Iterator<Item = &HostPort>| {
        hosts.map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    if hosts.iter().any(|requested| !rules.offers(requested)) {
        let missing = listed(&mut hosts.iter().filter(|requested| !rules.offers(requested)));
        let reason = format!("network_allowlist: {missing} not permitted by policy network.hosts");
        let hint = "bring the data as inputs, or have the policy list the host";
        findings.refuse(RuleName::Network, Code::NetworkNotPermitted, reason, hint);
        return;
    }
    if let Some(granted) = rules.grant(request)
        && let Some(reason) = granted.exceeded_limit()
    {
        let hint = "request fewer hosts and ports";
        findings.refuse(RuleName::Network, Code::NetworkNotPermitted, reason, hint);
        return;
    }
    let reason = format!(
        "permitted: {}; at most {} bytes, {} connections at once",
        listed(&mut hosts.iter()),
        rules.bytes_max,
        rules.connections_max
    );
    findings.pass(RuleName::Network, reason);
}

impl GrantedNetwork {
    /// Returns the reason why this is too much for one run, if it exceeds a size limit.
    fn exceeded_limit(&self) -> Option<String> {
        if self.hosts.len() > HOSTS_MAX {
            return Some(format!("network_allowlist: more than {HOSTS_MAX} hosts"));
        }
        if self.hosts.values().map(|host| host.private.len()).sum::<usize>() > PRIVATE_MAX {
            return Some(format!("network_allowlist: more than {PRIVATE_MAX} private addresses"));
        }
        let (name, _) = self.hosts.iter().find(|(_, host)| host.ports.len() > PORTS_MAX)?;
        Some(format!("network_allowlist: {name}: more than {PORTS_MAX} ports"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use model::UtcTime;
    use validator::{Draft, FileLocation, OwnerUid};

    /// The validator refuses such a request, but one of an older version can still be read.
    #[test]
    fn allowlist_without_a_host_is_refused() {
        let now: UtcTime = "2026-02-09T17:00:00Z".parse().expect("a time");
        let text = validator::rule_docs::REQUEST
            .replace("network: \"none\"", "network: \"allowlist\"")
            .replace("Network rationale: none", "Network rationale: reads rates");
        let name = "TR-20260209-160501Z-python-stats.md";
        let draft =
            || Draft::new(text.clone().into_bytes(), name, OwnerUid::new(0)).expect("small");
        let checked = draft().check(FileLocation::Spool, now);
        assert!(checked.verdict.is_err());
        assert_eq!(checked.violations[0].code, Code::NetworkAllowlistMissing);
        let request = draft().read_recorded(now).expect("still readable");
        let mut findings = Findings::new(&request);
        let policy = Policy::shipped("embedded").expect("a policy");
        judge(&request, &policy.rules.network, &mut findings);
        let codes: Vec<Code> = findings.violations.iter().map(|row| row.code).collect();
        assert_eq!(codes, [Code::NetworkAllowlistMissing]);
    }
}

//! The hosts of one run, checked once and then only looked up. Pure. A rule is one exact name or
//! one address, never a pattern. A text that the system's resolver may read as an address ("127.1",
//! "0x7f000001") is not a name.

use std::net::IpAddr;

use egress::frame::{
    CONNECTIONS_MAX, EgressHostRule, EgressRefusalReason, PORTS_MAX, PRIVATE_MAX, RULES_MAX,
    ServeOrder, ServeRefusal, TIME_MS_MAX,
};

use super::address::{AddressKind, kind};
use super::limit::PrivateAddressLimit;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AllowedHost {
    /// In lower case, without a trailing dot.
    Name(String),
    /// An IPv4-mapped IPv6 address is stored as the IPv4 address.
    Address(IpAddr),
}

impl AllowedHost {
    /// An address in a URI has brackets.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let inner = text.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        if let Some(inner) = inner {
            let address: std::net::Ipv6Addr = inner.parse().ok()?;
            return Some(Self::Address(IpAddr::V6(address).to_canonical()));
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Some(Self::Address(address.to_canonical()));
        }
        let name = normalize_name(text);
        is_name(&name).then_some(Self::Name(name))
    }
}

impl std::fmt::Display for AllowedHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => write!(f, "{address}"),
        }
    }
}

/// Lower case, without a trailing dot.
pub(super) fn normalize_name(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

fn is_name(name: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-' || it == b'_')
    };
    let last = name.rsplit('.').next().unwrap_or_default();
    let number = last.bytes().all(|it| it.is_ascii_digit()) || last.starts_with("0x");
    name.len() <= 253 && name.split('.').all(label) && !number
}

#[derive(Debug)]
pub(super) struct RunHostRules(Vec<CheckedHostRule>);

#[derive(Debug)]
struct CheckedHostRule {
    host: AllowedHost,
    ports: Vec<u16>,
    private: Vec<IpAddr>,
}

impl RunHostRules {
    pub(super) fn new(
        order: &ServeOrder,
        private_limit: &PrivateAddressLimit,
    ) -> Result<Self, ServeRefusal> {
        let bounds = |what: &str| Err(ServeRefusal::Bounds(what.to_owned()));
        if order.hosts.is_empty() {
            return Err(ServeRefusal::NoHosts);
        }
        if order.hosts.len() > RULES_MAX {
            return bounds("hosts");
        }
        if order.hosts.iter().map(|rule| rule.private.len()).sum::<usize>() > PRIVATE_MAX {
            return bounds("private");
        }
        if order.bytes_max == 0 {
            return bounds("bytes_max");
        }
        if !(1..=CONNECTIONS_MAX).contains(&order.connections_max) {
            return bounds("connections_max");
        }
        if !(1..=TIME_MS_MAX).contains(&order.time_ms_max) {
            return bounds("time_ms_max");
        }
        let mut rules: Vec<CheckedHostRule> = Vec::with_capacity(order.hosts.len());
        for rule in &order.hosts {
            let rule = Self::rule(rule, private_limit)?;
            if rules.iter().any(|known| known.host == rule.host) {
                return Err(ServeRefusal::BadHost(rule.host.to_string()));
            }
            rules.push(rule);
        }
        Ok(Self(rules))
    }

    fn rule(
        rule: &EgressHostRule,
        private_limit: &PrivateAddressLimit,
    ) -> Result<CheckedHostRule, ServeRefusal> {
        let bad = || ServeRefusal::BadHost(rule.name.chars().take(253).collect());
        let host = AllowedHost::parse(&rule.name).ok_or_else(bad)?;
        if rule.ports.len() > PORTS_MAX || rule.ports.contains(&0) {
            return Err(ServeRefusal::Bounds("ports".to_owned()));
        }
        let ports = if rule.ports.is_empty() { vec![443, 80] } else { rule.ports.clone() };
        let mut private: Vec<IpAddr> = rule.private.iter().map(IpAddr::to_canonical).collect();
        if let AllowedHost::Address(address) = host
            && (kind(address) != AddressKind::Public || private_limit.allows(address))
        {
            // Naming an address allows it.
            private.push(address);
        }
        if let Some(beyond) = private.iter().find(|it| !private_limit.allows(**it)) {
            return Err(ServeRefusal::Private(*beyond));
        }
        Ok(CheckedHostRule { host, ports, private })
    }

    /// Returns the number of the rule for this host, if it has this port.
    pub(super) fn find(&self, host: &AllowedHost, port: u16) -> Result<usize, EgressRefusalReason> {
        let number =
            self.0.iter().position(|rule| rule.host == *host).ok_or(EgressRefusalReason::Host)?;
        if self.0[number].ports.contains(&port) {
            Ok(number)
        } else {
            Err(EgressRefusalReason::Port)
        }
    }

    pub(super) fn host(&self, number: usize) -> &AllowedHost {
        &self.0[number].host
    }

    pub(super) fn hosts(&self) -> impl Iterator<Item = &AllowedHost> {
        self.0.iter().map(|rule| &rule.host)
    }

    /// Returns whether this rule's name may resolve to this address although it is not public.
    pub(super) fn allows_private(&self, number: usize, address: IpAddr) -> bool {
        self.0[number].private.contains(&address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Option<AllowedHost> {
        AllowedHost::parse(text)
    }

    #[test]
    fn spellings_of_one_host_are_one_host() {
        assert_eq!(name("Example.ORG."), name("example.org"));
        assert_eq!(name("::ffff:127.0.0.1"), name("127.0.0.1"));
        assert_eq!(name("[::1]"), name("0:0::1"));
        assert!(name("xn--bcher-kva.example").is_some());
    }

    #[test]
    fn what_is_no_host_is_refused() {
        let long = "a.".repeat(128);
        let wrong = [
            "",
            ".",
            "..",
            "a..b",
            "-a.b",
            "a-.b",
            "127.1",
            "2130706433",
            "0x7f000001",
            "1.2.3.4.5",
            "010.0.0.1",
            "a b",
            "a/b",
            "user@a",
            "a:80",
            "bücher.example",
            "*.example.org",
            "[1.2.3.4]",
            "[::1",
            "fe80::1%eth0",
            "a%2eb",
            "a\0b",
            &long,
        ];
        for text in wrong {
            assert_eq!(name(text), None, "{text:?}");
        }
    }
}

//! The requested network: none, or hosts by name. Its form only: no name is resolved or allowed.

use std::fmt;
use std::net::Ipv4Addr;

use model::{SourceSpan, WithSpan, quote};

use crate::check_context::ProseRules;
use crate::code::Code;
use crate::confusable;
use crate::fields::FrontMatterFields;
use crate::report::Report;
use crate::yaml::YamlNode;

const PORT_HTTPS: u16 = 443;

/// A host name (or IPv4 address) in lower case, and a TCP port.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HostPort {
    host: String,
    port: u16,
}

impl HostPort {
    /// The host, in lower case.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The TCP port; 443 if the request named none.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Parses `host` or `host:port` in exactly the form that a request may use.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (host, port) = match text.split_once(':') {
            None => (text, PORT_HTTPS),
            Some((host, digits)) => {
                let plain = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
                (host, digits.parse().ok().filter(|_| plain)?)
            }
        };
        is_host(host).then(|| Self { host: host.to_ascii_lowercase(), port })
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

fn is_host(host: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    if host.len() > 253 || !host.split('.').all(label) {
        return false;
    }
    let lower = host.to_ascii_lowercase();
    // Only IDNA defines the validity of `xn--…` and of other labels with `--` in that position.
    let reserved = |label: &str| label.get(2..4) == Some("--");
    if lower.split('.').any(reserved)
        && idna::domain_to_ascii_strict(&lower).ok().as_deref() != Some(lower.as_str())
    {
        return false;
    }
    // Some resolvers read `127.1` or `0x7f.1` as an address; here only four numbers are one.
    let last = host.rsplit('.').next().unwrap_or(host);
    let numeric = last.starts_with(|c: char| c.is_ascii_digit());
    !numeric || host.parse::<Ipv4Addr>().is_ok()
}

model::closed_set! {
    /// The value of `network` in requests, and of `network_used` in results.
    pub enum NetworkAccess {
        /// No network at all.
        None = "none",
        /// Listed hosts, and no others.
        Allowlist = "allowlist",
    }
}

/// The network that a request asks for (seed 002, `network` and `network_allowlist`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Network {
    /// No network at all.
    None,
    /// Only these hosts. Empty only in a request that ran before empty lists were refused.
    Allowlist(Vec<HostPort>),
}

impl Network {
    /// Returns the kind of access that is requested.
    #[must_use]
    pub fn access(&self) -> NetworkAccess {
        match self {
            Self::None => NetworkAccess::None,
            Self::Allowlist(_) => NetworkAccess::Allowlist,
        }
    }

    /// Returns `none` or `allowlist`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        self.access().as_str()
    }

    /// Returns the requested hosts.
    #[must_use]
    pub fn hosts(&self) -> &[HostPort] {
        match self {
            Self::None => &[],
            Self::Allowlist(hosts) => hosts,
        }
    }

    /// Reads the network. Empty lists were once allowed: a request that ran with one is readable.
    pub(crate) fn read(
        fields: &FrontMatterFields<'_>,
        words: ProseRules,
        report: &mut Report,
    ) -> Option<Self> {
        let listed = fields.peek("network_allowlist");
        let list_spot = listed.map_or(fields.spot(), |node| node.spot);
        let hosts = listed.and_then(|_| hosts(fields, report));
        let (value, spot) = match fields.peek("network") {
            None => (NetworkAccess::None.as_str(), fields.spot()),
            Some(node) => {
                let text = fields.text_of("network", node, report)?;
                (text.value, text.span)
            }
        };
        match NetworkAccess::named(value) {
            Some(NetworkAccess::None) => {
                if hosts.as_ref().is_some_and(|hosts| !hosts.is_empty()) {
                    report_unused_hosts(list_spot, report);
                }
                Some(Self::None)
            }
            Some(NetworkAccess::Allowlist) => {
                if listed.is_none() {
                    let message = "`network_allowlist`: missing, although `network` is `allowlist`";
                    report.error(Code::NetworkAllowlistMissing, spot, message);
                }
                let empty = listed.is_some_and(YamlNode::is_empty_list);
                if empty && words == ProseRules::Enforced {
                    let message = "`network_allowlist`: empty, although `network` is `allowlist`";
                    let hint = "list the hosts, or write `network: \"none\"`";
                    report.error_hint(Code::NetworkAllowlistMissing, list_spot, message, hint);
                }
                hosts.map(Self::Allowlist)
            }
            None => {
                let message = format!("`network`: {} is not a valid value", quote(value));
                report.error_hint(Code::NetworkValue, spot, message, "write none or allowlist");
                None
            }
        }
    }
}

fn report_unused_hosts(spot: SourceSpan, report: &mut Report) {
    let message = "`network_allowlist`: hosts are listed although `network` is `none`";
    let hint = "write `[]`, or `network: \"allowlist\"`";
    report.error_hint(Code::NetworkAllowlistUnused, spot, message, hint);
}

fn hosts(fields: &FrontMatterFields<'_>, report: &mut Report) -> Option<Vec<HostPort>> {
    let mut hosts: Vec<HostPort> = Vec::new();
    for item in fields.list("network_allowlist", report)? {
        let Some(text) = fields.text_of("network_allowlist", item, report) else { continue };
        let host = HostPort::parse(text.value);
        if let Some(host) = &host {
            confusable::check_host(host.host(), text.span, report);
        }
        match host {
            Some(host) if hosts.contains(&host) => {
                let message = format!("`network_allowlist`: {host} appears twice");
                report.warning(Code::NetworkHost, text.span, message);
            }
            Some(host) => hosts.push(host),
            None => report_invalid_host(text, report),
        }
    }
    Some(hosts)
}

fn report_invalid_host(text: WithSpan<&str>, report: &mut Report) {
    let message = format!("`network_allowlist`: {} is not a host", quote(text.value));
    let ascii = idna::domain_to_ascii_strict(text.value).ok();
    let hint = match ascii.filter(|ascii| !text.value.is_ascii() && is_host(ascii)) {
        // The approved name must equal the resolved one, letter by letter.
        Some(ascii) => format!("write its ASCII form, {ascii}"),
        None => "write `host` or `host:port`; no URL, path or wildcard".to_owned(),
    };
    report.error_hint(Code::NetworkHost, text.span, message, hint);
}

//! The network of one run: converts the grant for the egress proxy, and the proxy's report for the
//! record. Must never add a host to the grant.

mod report;

use std::path::Path;

use egress::client::{Egress, EgressSession};
use egress::frame::{EgressHostRule, ServeOrder};
use policies::{GrantedHost, GrantedNetwork, RunGrant};
use records::{NetworkUse, UnknownUseReason};
use sandbox::client::ReadySandbox;
use sandbox::plan::PROXY_PORT;

use crate::programs::find_program;

/// The proxy serves from before the intent until the run is recorded.
const TIME_MS_SPARE: u64 = 300_000;
/// The bundle of CA certificates on common distributions, as seen in the sandbox.
const CA_BUNDLE: &str = "/etc/ssl/certs/ca-certificates.crt";

pub(crate) struct OpenNetwork {
    session: EgressSession,
    granted: GrantedNetwork,
}

impl OpenNetwork {
    pub(crate) fn begin(
        egress: &Egress,
        granted: &GrantedNetwork,
        time_sec: u64,
        sandbox: &mut ReadySandbox,
    ) -> Result<Self, String> {
        let missing = "the sandbox has no socket for its proxy; help: report this as a bug";
        let listener = sandbox.take_proxy().ok_or(missing)?;
        let rule = |(name, host): (&String, &GrantedHost)| EgressHostRule {
            name: name.clone(),
            ports: host.ports.clone(),
            private: host.private.clone(),
        };
        let order = ServeOrder {
            hosts: granted.hosts.iter().map(rule).collect(),
            bytes_max: granted.bytes_max,
            connections_max: granted.connections_max,
            time_ms_max: time_sec.saturating_mul(1000).saturating_add(TIME_MS_SPARE),
        };
        let session = egress.serve(order, listener).map_err(|error| error.to_string())?;
        Ok(Self { session, granted: granted.clone() })
    }

    /// If the proxy was lost, the run lost its network and the use is unknown.
    pub(crate) fn close(self) -> NetworkUse {
        let Self { session, granted } = self;
        let confinement = session.confinement();
        let why = match session.close() {
            Ok(report) => match report::checked_report(report, &granted, confinement) {
                Ok(report) => return NetworkUse::Known(report),
                Err(unfit) => {
                    tracing::error!(
                        "toolexec-egress: report not accepted: {unfit}; help: report this as a bug"
                    );
                    UnknownUseReason::ReportInvalid
                }
            },
            Err(error) => {
                tracing::error!("the network use of the run is unknown: {error}");
                UnknownUseReason::ProxyLost
            }
        };
        NetworkUse::Unknown { granted: granted.hosts.into_keys().collect(), why }
    }
}

/// Variables of the policy's runtime take precedence.
pub(crate) fn environment(grant: &RunGrant) -> Vec<(String, String)> {
    if grant.network().is_none() {
        return Vec::new();
    }
    let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
    let names =
        ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    let mut env: Vec<(String, String)> =
        names.map(|name| (name.to_owned(), proxy.clone())).into_iter().collect();
    // Nothing bypasses the proxy, regardless of a library's default.
    env.extend(["NO_PROXY", "no_proxy"].map(|name| (name.to_owned(), String::new())));
    // Node's own clients use a proxy only with this variable, and not at all before 22.21 and 24.0.
    env.push(("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned()));
    // Interpreters with their own TLS library search other paths.
    if Path::new(CA_BUNDLE).is_file() {
        // With this variable, Node trusts the host's certificates besides its built-in ones.
        let names = ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"];
        env.extend(names.map(|name| (name.to_owned(), CA_BUNDLE.to_owned())));
    }
    env.retain(|(name, _)| !grant.env().iter().any(|(theirs, _)| theirs == name));
    env
}

/// Returns the proxy beside the running program or at its packaged path, if it is installed.
#[must_use]
pub fn find_egress() -> Option<Egress> {
    let program = find_program("toolexec-egress").ok()?;
    Some(Egress::spawn(&program, &[]))
}

//! Decides whether a request is allowed, from its head and the run's rules alone. Pure.

use hyper::header::{HOST, HeaderMap};
use hyper::http::request::Parts;
use hyper::http::uri::{Authority, Scheme};
use hyper::{Method, Uri};

use egress::frame::EgressRefusalReason;

use super::rules::{AllowedHost, RunHostRules};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RefusedRequest {
    pub(super) description: String,
    pub(super) reason: EgressRefusalReason,
}

/// A request that is allowed if its addresses are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DialTarget {
    /// The name and port, for messages.
    pub(super) description: String,
    pub(super) rule: usize,
    pub(super) port: u16,
    pub(super) means: RequestMethod,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestMethod {
    /// CONNECT: a tunnel for TLS.
    Tunnel,
    /// An absolute `http://` URI.
    Plain,
}

/// Called for every request of a connection, not only for the first.
pub(super) fn evaluate(rules: &RunHostRules, head: &Parts) -> Result<DialTarget, RefusedRequest> {
    let description = describe(head);
    check(rules, head, &description).map_err(|reason| RefusedRequest { description, reason })
}

fn check(
    rules: &RunHostRules,
    head: &Parts,
    description: &str,
) -> Result<DialTarget, EgressRefusalReason> {
    let means = method_of(&head.method, &head.uri)?;
    let authority = head.uri.authority().ok_or(EgressRefusalReason::Malformed)?;
    if authority.as_str().contains('@') {
        return Err(EgressRefusalReason::UserInfo);
    }
    let (host, port) = split(authority)?;
    let port = match (means, port) {
        (_, Some(port)) => port,
        (RequestMethod::Plain, None) => 80,
        (RequestMethod::Tunnel, None) => return Err(EgressRefusalReason::Malformed),
    };
    check_host_field(&head.headers, means, &host, port)?;
    let rule = rules.find(&host, port)?;
    if means == RequestMethod::Plain && port == 443 {
        return Err(EgressRefusalReason::Scheme);
    }
    Ok(DialTarget { description: description.to_owned(), rule, port, means })
}

fn method_of(method: &Method, uri: &Uri) -> Result<RequestMethod, EgressRefusalReason> {
    if method == Method::TRACE {
        return Err(EgressRefusalReason::Method);
    }
    let (scheme, tunnel) = (uri.scheme(), method == Method::CONNECT);
    match scheme {
        None if tunnel && uri.path_and_query().is_none() => Ok(RequestMethod::Tunnel),
        Some(_) if tunnel => Err(EgressRefusalReason::Method),
        None => Err(EgressRefusalReason::Malformed),
        Some(scheme) if *scheme == Scheme::HTTP => Ok(RequestMethod::Plain),
        Some(_) => Err(EgressRefusalReason::Scheme),
    }
}

fn split(authority: &Authority) -> Result<(AllowedHost, Option<u16>), EgressRefusalReason> {
    let host = AllowedHost::parse(authority.host()).ok_or(EgressRefusalReason::Host)?;
    let rest =
        authority.as_str().strip_prefix(authority.host()).ok_or(EgressRefusalReason::Malformed)?;
    let port = match rest.strip_prefix(':') {
        // Only digits: other parsers may read a number with a sign as another port.
        Some(digits) if digits.bytes().all(|it| it.is_ascii_digit()) => {
            Some(digits.parse().map_err(|_| EgressRefusalReason::Malformed)?)
        }
        None if rest.is_empty() => None,
        Some(_) | None => return Err(EgressRefusalReason::Malformed),
    };
    Ok((host, port))
}

/// Allows one `Host` field at most, for the host of the request line. In a tunnel it may lack the
/// port.
fn check_host_field(
    headers: &HeaderMap,
    means: RequestMethod,
    host: &AllowedHost,
    port: u16,
) -> Result<(), EgressRefusalReason> {
    let mut fields = headers.get_all(HOST).iter();
    let Some(field) = fields.next() else { return Ok(()) };
    let authority =
        Authority::try_from(field.as_bytes()).map_err(|_| EgressRefusalReason::HostField)?;
    let (named, named_port) = split(&authority).map_err(|_| EgressRefusalReason::HostField)?;
    let implied = match means {
        RequestMethod::Tunnel => port,
        RequestMethod::Plain => 80,
    };
    let same = named == *host && named_port.unwrap_or(implied) == port;
    if same && fields.next().is_none() { Ok(()) } else { Err(EgressRefusalReason::HostField) }
}

/// Leaves out the path, which may contain secrets.
fn describe(head: &Parts) -> String {
    let place = head.uri.authority().map_or("(no host)", Authority::as_str);
    // The user name and password are left out, too.
    let place = place.rsplit('@').next().unwrap_or_default();
    match head.uri.scheme_str() {
        _ if head.method == Method::CONNECT => format!("CONNECT {place}"),
        Some(scheme) => format!("{} {scheme}://{place}", head.method),
        None => format!("{} {place}", head.method),
    }
}

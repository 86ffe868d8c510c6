//! Decides whether a request is allowed, from its head and the run's rules alone. Pure.

use hyper::header::{HOST, HeaderMap};
use hyper::http::request::Parts;
use hyper::http::uri::{Authority, Scheme};
use hyper::{Method, Uri};

use egress::frame::Reason;

use super::rules::{Host, Rules};

/// A refused request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) asked: String,
    pub(super) reason: Reason,
}

/// A request that is allowed if its addresses are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The name and port, for messages.
    pub(super) asked: String,
    pub(super) rule: usize,
    pub(super) port: u16,
    pub(super) means: Means,
}

/// The way in which a host is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    /// CONNECT: a tunnel for TLS.
    Tunnel,
    /// An absolute `http://` URI.
    Plain,
}

/// Decides about one request. Called for every request of a connection, not only for the first.
pub(super) fn judge(rules: &Rules, head: &Parts) -> Result<Target, Refused> {
    let asked = asked(head);
    judged(rules, head, &asked).map_err(|reason| Refused { asked, reason })
}

fn judged(rules: &Rules, head: &Parts, asked: &str) -> Result<Target, Reason> {
    let means = means(&head.method, &head.uri)?;
    let authority = head.uri.authority().ok_or(Reason::Malformed)?;
    if authority.as_str().contains('@') {
        return Err(Reason::UserInfo);
    }
    let (host, port) = split(authority)?;
    let port = match (means, port) {
        (_, Some(port)) => port,
        (Means::Plain, None) => 80,
        (Means::Tunnel, None) => return Err(Reason::Malformed),
    };
    check_host_field(&head.headers, means, &host, port)?;
    let rule = rules.find(&host, port)?;
    if means == Means::Plain && port == 443 {
        return Err(Reason::Scheme);
    }
    Ok(Target { asked: asked.to_owned(), rule, port, means })
}

fn means(method: &Method, uri: &Uri) -> Result<Means, Reason> {
    if method == Method::TRACE {
        return Err(Reason::Method);
    }
    let (scheme, tunnel) = (uri.scheme(), method == Method::CONNECT);
    match scheme {
        None if tunnel && uri.path_and_query().is_none() => Ok(Means::Tunnel),
        Some(_) if tunnel => Err(Reason::Method),
        None => Err(Reason::Malformed),
        Some(scheme) if *scheme == Scheme::HTTP => Ok(Means::Plain),
        Some(_) => Err(Reason::Scheme),
    }
}

fn split(authority: &Authority) -> Result<(Host, Option<u16>), Reason> {
    let host = Host::parse(authority.host()).ok_or(Reason::Host)?;
    let rest = authority.as_str().strip_prefix(authority.host()).ok_or(Reason::Malformed)?;
    let port = match rest.strip_prefix(':') {
        // Only digits: other parsers may read a number with a sign as another port.
        Some(digits) if digits.bytes().all(|it| it.is_ascii_digit()) => {
            Some(digits.parse().map_err(|_| Reason::Malformed)?)
        }
        None if rest.is_empty() => None,
        Some(_) | None => return Err(Reason::Malformed),
    };
    Ok((host, port))
}

/// Checks that there is at most one `Host` field, and that it names the host of the request line.
/// In a tunnel it may lack the port.
fn check_host_field(
    headers: &HeaderMap,
    means: Means,
    host: &Host,
    port: u16,
) -> Result<(), Reason> {
    let mut fields = headers.get_all(HOST).iter();
    let Some(field) = fields.next() else { return Ok(()) };
    let authority = Authority::try_from(field.as_bytes()).map_err(|_| Reason::HostField)?;
    let (named, named_port) = split(&authority).map_err(|_| Reason::HostField)?;
    let implied = match means {
        Means::Tunnel => port,
        Means::Plain => 80,
    };
    let same = named == *host && named_port.unwrap_or(implied) == port;
    if same && fields.next().is_none() { Ok(()) } else { Err(Reason::HostField) }
}

/// Returns a description of the request without its path, which may contain secrets.
fn asked(head: &Parts) -> String {
    let place = head.uri.authority().map_or("(no host)", Authority::as_str);
    // Omit the user name and password, too.
    let place = place.rsplit('@').next().unwrap_or_default();
    match head.uri.scheme_str() {
        _ if head.method == Method::CONNECT => format!("CONNECT {place}"),
        Some(scheme) => format!("{} {scheme}://{place}", head.method),
        None => format!("{} {place}", head.method),
    }
}

//! Lists of hosts: `host` or `host:port`. A host must never match by a part of its name.

use validator::HostPort;

use super::field::NonEmptyText;

/// Returns whether a list names this host. If an entry has a port, the port must match. An entry of
/// another form names nothing.
pub(super) fn names(list: &[NonEmptyText], host: &HostPort) -> bool {
    list.iter().any(|entry| {
        let any_port = !entry.as_str().contains(':');
        let entry = HostPort::parse(&entry.as_str().to_ascii_lowercase());
        entry.is_some_and(|it| it.host() == host.host() && (any_port || it.port() == host.port()))
    })
}

/// Returns the host of an `http` or `https` URL, or `None` if readers of it could disagree.
pub(super) fn host_of_url(url: &str) -> Option<HostPort> {
    let (scheme, rest) = url.split_once("://")?;
    let port = match scheme.to_ascii_lowercase().as_str() {
        "https" => "443",
        "http" => "80",
        _ => return None,
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest[..end].to_ascii_lowercase();
    if url.contains(|c: char| c == '\\' || c.is_whitespace() || c.is_control())
        || authority.contains(['@', '%'])
    {
        return None;
    }
    let with_port = if authority.contains(':') { authority } else { format!("{authority}:{port}") };
    HostPort::parse(&with_port)
}

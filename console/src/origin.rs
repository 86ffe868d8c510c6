//! The origins under which browsers reach the console, as browsers write them. A request is
//! answered only if it is for one of them, so a page elsewhere cannot use the console by another
//! name.

use std::str::FromStr;

/// The hosts for which a connection without TLS cannot be read by others.
const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// One origin: `scheme://host[:port]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ConsoleOrigin {
    text: String,
    host: String,
}

impl ConsoleOrigin {
    /// Returns the origin of a listener on the loopback interface.
    pub(crate) fn localhost(scheme: &str, port: u16) -> Self {
        let default = if scheme == "https" { 443 } else { 80 };
        let text = match port == default {
            true => format!("{scheme}://localhost"),
            false => format!("{scheme}://localhost:{port}"),
        };
        Self { text, host: "localhost".to_owned() }
    }

    /// Returns the text, as the header `Origin` has it.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the host without a port, the widest domain of its own for passkeys.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Returns the host and port, as the header `Host` has them.
    pub(crate) fn authority(&self) -> &str {
        self.text.split_once("://").map_or("", |(_, authority)| authority)
    }
}

impl FromStr for ConsoleOrigin {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let form = "not an origin; help: write https://HOST[:PORT] in lower case, without the \
                    default port and a final `/`; http is for localhost only";
        let (scheme, authority) = text.split_once("://").ok_or(form)?;
        // An IPv6 address has colons inside its brackets.
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (authority, None),
        };
        let default_port = match scheme {
            "https" => 443,
            "http" if LOOPBACK_HOSTS.contains(&host) => 80,
            _ => return Err(form),
        };
        let is_port = |port: &str| {
            let number = port.parse::<u16>().ok();
            number.is_some_and(|it| it != 0 && it != default_port && it.to_string() == port)
        };
        let is_host_byte = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'-')
        };
        let is_host = LOOPBACK_HOSTS.contains(&host)
            || (!host.is_empty() && host.len() <= 253 && host.bytes().all(is_host_byte));
        match is_host && port.is_none_or(is_port) {
            true => Ok(Self { text: text.to_owned(), host: host.to_owned() }),
            false => Err(form),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_written_as_browsers_write_it() {
        for (text, host, authority) in [
            ("https://approve.example", "approve.example", "approve.example"),
            ("https://approve.example:8443", "approve.example", "approve.example:8443"),
            ("http://localhost:8440", "localhost", "localhost:8440"),
            ("http://127.0.0.1:8440", "127.0.0.1", "127.0.0.1:8440"),
            ("http://[::1]:8440", "[::1]", "[::1]:8440"),
            ("http://[::1]", "[::1]", "[::1]"),
        ] {
            let origin: ConsoleOrigin = text.parse().unwrap();
            assert_eq!((origin.host(), origin.authority()), (host, authority));
            assert_eq!(origin.as_str(), text);
        }
        for text in [
            "",
            "localhost:8440",
            "http://approve.example",
            "https://",
            "https://approve.example/",
            "https://approve.example:443",
            "https://approve.example:0",
            "https://Approve.example",
            "https://user@approve.example",
            "http://localhost:80",
            "http://localhost:8440/x",
        ] {
            assert!(text.parse::<ConsoleOrigin>().is_err(), "{text}");
        }
        assert_eq!(ConsoleOrigin::localhost("http", 80).as_str(), "http://localhost");
        assert_eq!(ConsoleOrigin::localhost("https", 8440).as_str(), "https://localhost:8440");
    }
}

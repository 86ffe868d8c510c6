//! The address of the receiver. It may be a secret, as a topic of ntfy or a webhook of Slack is, so
//! no message has it or a part of it.

use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ureq::http::Uri;

use super::args::NotifyCommand;
use crate::args::files::read_file;
use crate::failure::Failure;
use crate::output;

const ADDRESS_BYTES_MAX: usize = 2048;

pub(super) struct ReceiverAddress {
    url: String,
    /// This host itself. No proxy leads there.
    is_loopback: bool,
}

impl ReceiverAddress {
    pub(super) fn of(args: &NotifyCommand) -> Result<Self, Failure> {
        match (&args.to, &args.to_file) {
            (Some(url), _) => Self::parse(url, "--to", args.allow_http),
            (None, Some(file)) => {
                let text = read_file(file, ADDRESS_BYTES_MAX)?;
                warn_if_readable(file);
                let text = String::from_utf8_lossy(&text);
                Self::parse(text.trim(), &file.display().to_string(), args.allow_http)
            }
            (None, None) => {
                Err(Failure::Message("notify: no address; help: name a file with --to-file".into()))
            }
        }
    }

    /// Checks an address. `object` names its origin in messages.
    fn parse(url: &str, object: &str, allow_http: bool) -> Result<Self, Failure> {
        let failed =
            |why: &str, help: &str| Failure::Message(format!("{object}: {why}; help: {help}"));
        let is_plain = url.len() <= ADDRESS_BYTES_MAX && url.bytes().all(|b| b.is_ascii_graphic());
        let uri = url.parse::<Uri>().ok().filter(|_| is_plain);
        let parts = uri.as_ref().and_then(|uri| Some((uri.scheme_str()?, uri.host()?)));
        let Some((scheme @ ("http" | "https"), host)) = parts else {
            return Err(failed("not one https:// address", "give https://HOST/PATH"));
        };
        let is_loopback = is_loopback(host);
        if scheme == "http" && !is_loopback && !allow_http {
            let why = "an http:// address of another host, which sends events unencrypted";
            return Err(failed(why, "use https://, or permit it with --allow-http"));
        }
        Ok(Self { url: url.to_owned(), is_loopback })
    }

    /// Returns the address itself. It must never be printed.
    pub(super) fn secret(&self) -> &str {
        &self.url
    }

    pub(super) fn is_loopback(&self) -> bool {
        self.is_loopback
    }

    pub(super) fn is_encrypted(&self) -> bool {
        self.url.to_ascii_lowercase().starts_with("https:")
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// Warns about a file that other users can read.
fn warn_if_readable(file: &Path) {
    // Not the bits of the group: a credential of systemd has them for the ACL of its one reader.
    let is_open = |mode: u32| mode & 0o004 != 0;
    let found = file.metadata().ok().filter(|found| found.is_file());
    if found.is_some_and(|found| is_open(found.permissions().mode())) {
        let file = file.display();
        output::note(format_args!(
            "notify: {file}: other users can read it; help: run `chmod 600 {file}`"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str, allow_http: bool) -> Result<bool, String> {
        let address = ReceiverAddress::parse(url, "--to", allow_http);
        address.map(|address| address.is_loopback).map_err(|failure| failure.to_string())
    }

    #[test]
    fn unencrypted_addresses_of_other_hosts_need_an_option() {
        for url in
            ["https://ntfy.example/topic", "HTTPS://hooks.example/T0", "https://[2001:db8::1]/"]
        {
            assert_eq!(parsed(url, false), Ok(false), "{url}");
        }
        for url in ["http://localhost:1/x", "http://127.9.0.1/", "http://[::1]:80/x"] {
            assert_eq!(parsed(url, false), Ok(true), "{url}");
        }
        for url in ["http://ntfy.example/topic", "http://localhost.example/", "http://10.0.0.1/"] {
            assert!(parsed(url, false).is_err_and(|text| text.contains("--allow-http")), "{url}");
            assert_eq!(parsed(url, true), Ok(false), "{url}");
        }
    }

    #[test]
    fn no_message_has_a_part_of_the_address() {
        let wrong = ["ftp://secret/secret", "secret", "https://a b/secret", "https:///secret"];
        for url in wrong.into_iter().chain(["http://secret.example/", "https://é.example/secret"])
        {
            let text = parsed(url, false).unwrap_err();
            assert!(!text.contains("secret") && text.starts_with("--to: "), "{text}");
        }
    }
}

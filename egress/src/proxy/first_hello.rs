//! Decides about a ClientHello: it is passed on if it names the requested host. One whose name
//! cannot be read must never pass.

use super::hello::{Hello, NoHello};
use super::rules::Host;

/// The most bytes that are read for a complete ClientHello.
pub(super) const FIRST_BYTES_MAX: usize = 32 * 1024;

/// The reason why a ClientHello is not passed on.
pub(super) enum Wrong {
    /// The client closed the connection without sending anything.
    Gone,
    /// The ClientHello did not arrive in time.
    Slow,
    /// The bytes are not TLS.
    NotTls,
    /// It is TLS, but not for this host; the text describes the name.
    Name(String),
}

/// Returns the length of a whole ClientHello for this host, in bytes.
pub(super) fn judged(read: Result<Hello, NoHello>, host: &Host) -> Result<Option<usize>, Wrong> {
    match read {
        Ok(Hello::Unfinished) => Ok(None),
        Ok(Hello::Whole(hello)) => named(hello.name.as_deref(), host).map(|()| Some(hello.length)),
        Err(NoHello::NotTls) => Err(Wrong::NotTls),
        Err(NoHello::HiddenName) => Err(Wrong::Name("a hidden name".to_owned())),
        Err(NoHello::Malformed) => Err(Wrong::Name("a malformed ClientHello".to_owned())),
    }
}

fn named(name: Option<&str>, host: &Host) -> Result<(), Wrong> {
    match (name, host) {
        (Some(name), host) if Host::parse(name).as_ref() == Some(host) => Ok(()),
        // TLS server names are never addresses. The address itself was allowed and dialled.
        (None, Host::Address(_)) => Ok(()),
        (Some(name), _) => Err(Wrong::Name(format!("the name {name}"))),
        (None, Host::Name(_)) => Err(Wrong::Name("no name".to_owned())),
    }
}

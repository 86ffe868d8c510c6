//! The judgement of a ClientHello: it may be passed on if it names the host that was asked for. One whose
//! name cannot be read must never pass.

use super::hello::{Hello, NoHello};
use super::rules::Host;

/// Most bytes before a ClientHello must be whole.
pub(super) const FIRST_BYTES_MAX: usize = 32 * 1024;

/// Why a ClientHello is not passed on.
pub(super) enum Wrong {
    /// The client went away without a word.
    Gone,
    Slow,
    NotTls,
    /// TLS, but not for this host.
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
        // TLS has no names that are addresses; the address itself was allowed and dialled.
        (None, Host::Address(_)) => Ok(()),
        (Some(name), _) => Err(Wrong::Name(format!("the name {name}"))),
        (None, Host::Name(_)) => Err(Wrong::Name("no name".to_owned())),
    }
}

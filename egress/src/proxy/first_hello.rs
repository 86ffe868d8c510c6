//! Passes on a ClientHello that names the requested host. One without a readable name must never
//! pass.

use super::hello::{HelloParseError, HelloState};
use super::rules::AllowedHost;

pub(super) const FIRST_BYTES_MAX: usize = 32 * 1024;

/// The reason why a ClientHello is not passed on.
pub(super) enum HelloError {
    /// The client closed the connection without sending anything.
    Closed,
    /// The ClientHello did not arrive in time.
    Slow,
    /// The bytes are not TLS.
    NotTls,
    /// It is TLS, but not for this host; the text describes the name.
    Name(String),
}

pub(super) fn check_hello(
    read: Result<HelloState, HelloParseError>,
    host: &AllowedHost,
) -> Result<Option<usize>, HelloError> {
    match read {
        Ok(HelloState::Unfinished) => Ok(None),
        Ok(HelloState::Complete(hello)) => {
            check_name(hello.name.as_deref(), host).map(|()| Some(hello.length))
        }
        Err(HelloParseError::NotTls) => Err(HelloError::NotTls),
        Err(HelloParseError::HiddenName) => Err(HelloError::Name("a hidden name".to_owned())),
        Err(HelloParseError::Malformed) => {
            Err(HelloError::Name("a malformed ClientHello".to_owned()))
        }
    }
}

fn check_name(name: Option<&str>, host: &AllowedHost) -> Result<(), HelloError> {
    match (name, host) {
        (Some(name), host) if AllowedHost::parse(name).as_ref() == Some(host) => Ok(()),
        // TLS server names are never addresses. The address itself was allowed and dialled.
        (None, AllowedHost::Address(_)) => Ok(()),
        (Some(name), _) => Err(HelloError::Name(format!("the name {name}"))),
        (None, AllowedHost::Name(_)) => Err(HelloError::Name("no name".to_owned())),
    }
}

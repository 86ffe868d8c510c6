//! What signs: a key or a secret in a file. Neither is ever shown.

use policies::ais::{Algorithm, SigningKey};
use zeroize::Zeroizing;

use super::error::Stop;
use crate::args::files::read_file;
use crate::failure::Failure;
use crate::options::ais::{Alg, KeyFile};

const KEY_BYTES_MAX: usize = 64 * 1024;

/// The key, which must be one for this algorithm if one is asked for.
pub(super) fn of(asked: &KeyFile, alg: Option<Alg>) -> Result<SigningKey, Stop> {
    let (path, secret) = match (&asked.key_file, &asked.secret_file) {
        (Some(path), None) => (path, false),
        (None, Some(path)) => (path, true),
        _ => return Err(said("name one of --key-file and --secret-file".to_owned())),
    };
    let bytes = Zeroizing::new(read_file(path, KEY_BYTES_MAX)?);
    let wrong = |what: String| said(format!("{}: {what}", path.display()));
    let key = if secret {
        SigningKey::from_secret(&bytes)
    } else {
        let text = std::str::from_utf8(&bytes).map_err(|_| wrong("is not text".to_owned()))?;
        SigningKey::from_private(text)
    };
    let key = key.map_err(|error| wrong(error.to_string()))?;
    match alg {
        Some(alg) => key.for_algorithm(algorithm(alg)).map_err(|error| wrong(error.to_string())),
        None => Ok(key),
    }
}

fn said(what: String) -> Stop {
    Stop::Failed(Failure::Said(what))
}

fn algorithm(alg: Alg) -> Algorithm {
    match alg {
        Alg::EdDsa => Algorithm::EdDSA,
        Alg::Es256 => Algorithm::ES256,
        Alg::Hs256 => Algorithm::HS256,
    }
}

//! The signing key or secret, read from a file. Neither is ever shown.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use policies::ais::{Algorithm, SigningKey};
use zeroize::Zeroizing;

use super::error::AisCommandError;
use crate::args::files::read_file;
use crate::failure::Failure;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AisAlgorithmOption {
    #[value(name = "EdDSA")]
    EdDsa,
    #[value(name = "ES256")]
    Es256,
    #[value(name = "HS256")]
    Hs256,
}

/// The signing key.
#[derive(Args)]
#[group(id = "key", required = true, multiple = false)]
pub(crate) struct AisKeyOptions {
    /// Sign with this private key, Ed25519 or P-256, in PKCS#8 PEM or OpenSSH format
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Sign with this shared secret, the bytes of the file without a final line end; for
    /// demonstrations only
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
}

const KEY_BYTES_MAX: usize = 64 * 1024;

/// Reads the key. If an algorithm is given, the key must fit it.
pub(super) fn read_key(
    args: &AisKeyOptions,
    alg: Option<AisAlgorithmOption>,
) -> Result<SigningKey, AisCommandError> {
    let (path, secret) = match (&args.key_file, &args.secret_file) {
        (Some(path), None) => (path, false),
        (None, Some(path)) => (path, true),
        _ => {
            return Err(usage_error(
                "no key; help: name one of --key-file and --secret-file".to_owned(),
            ));
        }
    };
    let bytes = Zeroizing::new(read_file(path, KEY_BYTES_MAX)?);
    let wrong = |what: String| usage_error(format!("{}: {what}", path.display()));
    let key = if secret {
        SigningKey::from_secret(&bytes)
    } else {
        let text = std::str::from_utf8(&bytes).map_err(|_| {
            wrong("not UTF-8 text; help: name a key in PEM or OpenSSH format".to_owned())
        })?;
        SigningKey::from_private(text)
    };
    let key = key.map_err(|error| wrong(error.to_string()))?;
    match alg {
        Some(alg) => key.for_algorithm(algorithm(alg)).map_err(|error| wrong(error.to_string())),
        None => Ok(key),
    }
}

fn usage_error(what: String) -> AisCommandError {
    AisCommandError::Failed(Failure::Message(what))
}

fn algorithm(alg: AisAlgorithmOption) -> Algorithm {
    match alg {
        AisAlgorithmOption::EdDsa => Algorithm::EdDSA,
        AisAlgorithmOption::Es256 => Algorithm::ES256,
        AisAlgorithmOption::Hs256 => Algorithm::HS256,
    }
}

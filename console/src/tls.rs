//! TLS of the console itself, for hosts without a reverse proxy.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::options::Options;

/// Reads the certificates and the key of the options, if there are any.
pub(crate) fn acceptor(options: &Options) -> Result<Option<TlsAcceptor>, String> {
    let (Some(cert), Some(key)) = (&options.tls_cert, &options.tls_key) else { return Ok(None) };
    let failed = |option: &str, path: &Path, error: &dyn std::fmt::Display| {
        let help = "name a PEM file that this user may read";
        format!("{option} {}: {error}; help: {help}", path.display())
    };
    let chain = CertificateDer::pem_file_iter(cert)
        .and_then(|found| found.collect::<Result<Vec<_>, _>>())
        .map_err(|error| failed("--tls-cert", cert, &error))?;
    let private = PrivateKeyDer::from_pem_file(key);
    let private = private.map_err(|error| failed("--tls-key", key, &error))?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS: {error}; help: report this as a bug"))?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| failed("--tls-cert", cert, &error))?;
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}

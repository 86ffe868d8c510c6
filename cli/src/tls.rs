//! TLS of the commands that use the network.

use std::sync::Arc;

use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::failure::Failure;

/// Returns a configuration that trusts the host's certificate authorities. `SSL_CERT_FILE` and
/// `SSL_CERT_DIR` override them. A message begins with `object`.
pub(crate) fn host_authorities(object: &str) -> Result<TlsConfig, Failure> {
    let found = rustls_native_certs::load_native_certs();
    let roots: Vec<_> =
        found.certs.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
    if roots.is_empty() {
        return Err(Failure::Message(format!(
            "{object}: no certificate authorities on this host; help: on Debian, run `apt-get \
             install ca-certificates`"
        )));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(provider)
        .build())
}

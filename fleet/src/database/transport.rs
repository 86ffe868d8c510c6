//! Opens a connection, with TLS by rustls, and drives it on a task of its own.

use std::future::poll_fn;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_postgres::{AsyncMessage, Client, Connection, NoTls, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{DatabaseAddress, DatabaseTransport};
use super::error::DatabaseError;
use super::fault::{ServerFault, ServerFaultKind};

/// A connection that a task drives.
pub(super) struct DrivenConnection {
    pub(super) client: Client,
    /// Notified by each wake-up of the server, and at the end of the connection.
    pub(super) woken: Arc<Notify>,
    pub(super) driver: JoinHandle<()>,
}

/// Connects. Each server has the timeout to answer.
pub(super) async fn open(
    address: &DatabaseAddress,
    ca_file: Option<&Path>,
    timeout: Duration,
) -> Result<DrivenConnection, DatabaseError> {
    let at_most = timeout.saturating_mul(address.server_count());
    let failed = |fault| DatabaseError::Connect { server: address.servers(), fault };
    let connecting = connect(address, ca_file);
    match tokio::time::timeout(at_most, connecting).await {
        Ok(Ok(Ok(driven))) => Ok(driven),
        Ok(Ok(Err(error))) => Err(failed(ServerFault::of_connecting(&error))),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(failed(ServerFault::own(ServerFaultKind::Silent))),
    }
}

type ConnectAnswer = Result<Result<DrivenConnection, tokio_postgres::Error>, DatabaseError>;

async fn connect(address: &DatabaseAddress, ca_file: Option<&Path>) -> ConnectAnswer {
    Ok(match address.transport {
        DatabaseTransport::Plain => {
            address.config.connect(NoTls).await.map(|(client, it)| drive(client, it))
        }
        DatabaseTransport::Tls => {
            let tls = MakeRustlsConnect::new(client_config(ca_file)?);
            address.config.connect(tls).await.map(|(client, it)| drive(client, it))
        }
    })
}

/// Starts the task. It ends with the connection.
fn drive<S>(client: Client, mut connection: Connection<Socket, S>) -> DrivenConnection
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let woken = Arc::new(Notify::new());
    let waking = Arc::clone(&woken);
    let driver = tokio::spawn(async move {
        loop {
            match poll_fn(|context| connection.poll_message(context)).await {
                Some(Ok(AsyncMessage::Notification(_))) => waking.notify_one(),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => break,
            }
        }
        // A waiter must notice the end, so the client is closed before it is woken.
        drop(connection);
        waking.notify_one();
    });
    DrivenConnection { client, woken, driver }
}

fn client_config(ca_file: Option<&Path>) -> Result<ClientConfig, DatabaseError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| DatabaseError::Statement {
            act: "use TLS",
            fault: ServerFault::of_code("rustls", &error.to_string()),
        })?;
    Ok(builder.with_root_certificates(authorities(ca_file)?).with_no_client_auth())
}

/// Returns the authorities of the file, else those of this host.
fn authorities(ca_file: Option<&Path>) -> Result<RootCertStore, DatabaseError> {
    let found = match ca_file {
        Some(path) => {
            let failed = |error: &dyn std::fmt::Display| DatabaseError::File {
                path: path.to_owned(),
                error: std::io::Error::other(error.to_string()),
            };
            let certificates = CertificateDer::pem_file_iter(path)
                .and_then(|found| found.collect::<Result<Vec<_>, _>>())
                .map_err(|error| failed(&error))?;
            if certificates.is_empty() {
                return Err(failed(&"no certificate in PEM form"));
            }
            certificates
        }
        None => rustls_native_certs::load_native_certs().certs,
    };
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found);
    if added == 0 {
        return Err(DatabaseError::NoAuthorities);
    }
    Ok(roots)
}

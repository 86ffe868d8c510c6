//! A tunnel for TLS. Nothing passes before the ClientHello has named the requested host.

use std::sync::Arc;

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use egress::frame::EgressRefusalReason;

use super::counted::CountedStream;
use super::evaluate::DialTarget;
use super::first_hello::{FIRST_BYTES_MAX, HelloError, check_hello};
use super::hello;
use super::model::ServedRun;
use super::relay::relay;
use super::rules::AllowedHost;

/// Each read parses an incomplete ClientHello again.
const FIRST_READS_MAX: usize = 1024;
/// A fatal TLS alert, `unrecognized_name`, which clients show to their users.
const ALERT: [u8; 7] = [21, 3, 3, 0, 2, 2, 112];

pub(super) struct Tunnel {
    client: OnUpgrade,
    host: CountedStream,
    target: DialTarget,
}

impl Tunnel {
    pub(super) fn new(client: OnUpgrade, host: CountedStream, target: DialTarget) -> Self {
        Self { client, host, target }
    }

    /// Copies in both directions until one side is done, idle for too long, or out of allowance.
    pub(super) async fn carry(mut self, run: &Arc<ServedRun>) {
        // This only fails if the client closed the connection before the tunnel began.
        let Ok(client) = self.client.await else { return };
        let mut client = TokioIo::new(client);
        let named = run.rules.host(self.target.rule);
        let first = timeout(run.timeouts.step, read_first_hello(&mut client, named)).await;
        let wrong = match first.unwrap_or(Err(HelloError::Slow)) {
            Ok(AcceptedHello { hello, rest: behind }) => {
                if self.host.write_all(&hello).await.is_err() {
                    // The host closed the connection. The bytes are already counted.
                    return;
                }
                match relay(&mut client, self.host, named, behind, run.timeouts).await {
                    Ok(()) => return,
                    Err(wrong) => wrong,
                }
            }
            Err(wrong) => wrong,
        };
        refuse(run, &self.target.description, wrong, &mut client).await;
    }
}

/// A TLS client gets an alert.
async fn refuse(
    run: &ServedRun,
    description: &str,
    wrong: HelloError,
    client: &mut (impl AsyncWrite + Unpin),
) {
    let alert = match wrong {
        HelloError::Closed => return,
        HelloError::Slow => return run.counters.refuse(description, EgressRefusalReason::Slow),
        HelloError::NotTls => return run.counters.refuse(description, EgressRefusalReason::Sni),
        HelloError::Name(name) => {
            run.counters.refuse(&format!("{description} with {name}"), EgressRefusalReason::Sni);
            async {
                client.write_all(&ALERT).await?;
                client.shutdown().await
            }
        }
    };
    // In any case the tunnel ends here.
    drop(timeout(run.timeouts.step, alert).await);
}

struct AcceptedHello {
    hello: Vec<u8>,
    rest: Vec<u8>,
}

async fn read_first_hello(
    client: &mut (impl AsyncRead + Unpin),
    host: &AllowedHost,
) -> Result<AcceptedHello, HelloError> {
    let mut bytes = Vec::with_capacity(4096);
    for _ in 0..FIRST_READS_MAX {
        match client.read_buf(&mut bytes).await {
            Ok(0) | Err(_) if bytes.is_empty() => return Err(HelloError::Closed),
            Ok(0) | Err(_) => return Err(HelloError::NotTls),
            Ok(_) => {}
        }
        if let Some(length) = check_hello(hello::read(&bytes), host)? {
            let behind = bytes.split_off(length);
            return Ok(AcceptedHello { hello: bytes, rest: behind });
        }
        if bytes.len() > FIRST_BYTES_MAX {
            break;
        }
    }
    Err(HelloError::Name("a malformed ClientHello".to_owned()))
}

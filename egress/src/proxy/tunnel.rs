//! A tunnel for TLS. Nothing passes before the ClientHello has named the requested host.

use std::sync::Arc;

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use egress::frame::Reason;

use super::first_hello::{FIRST_BYTES_MAX, Wrong, judged};
use super::hello;
use super::judge::Target;
use super::metered::Metered;
use super::model::Run;
use super::relay::relay;
use super::rules::Host;

/// The most reads before a ClientHello must be complete. Each read parses it again.
const FIRST_READS_MAX: usize = 1024;
/// A fatal TLS alert, `unrecognized_name`, which clients show to their users.
const ALERT: [u8; 7] = [21, 3, 3, 0, 2, 2, 112];

/// A tunnel that was granted and has carried no bytes yet.
pub(super) struct Tunnel {
    client: OnUpgrade,
    host: Metered,
    target: Target,
}

impl Tunnel {
    pub(super) fn new(client: OnUpgrade, host: Metered, target: Target) -> Self {
        Self { client, host, target }
    }

    /// Copies bytes in both directions until one side is done, idle for too long, or out of
    /// allowance.
    pub(super) async fn carry(mut self, run: &Arc<Run>) {
        // This only fails if the client closed the connection before the tunnel began.
        let Ok(client) = self.client.await else { return };
        let mut client = TokioIo::new(client);
        let named = run.rules.host(self.target.rule);
        let first = timeout(run.patience.step, first(&mut client, named)).await;
        let wrong = match first.unwrap_or(Err(Wrong::Slow)) {
            Ok(First { hello, behind }) => {
                if self.host.write_all(&hello).await.is_err() {
                    // The host closed the connection, which ends the tunnel. The bytes are already
                    // counted.
                    return;
                }
                match relay(&mut client, self.host, named, behind, run.patience).await {
                    Ok(()) => return,
                    Err(wrong) => wrong,
                }
            }
            Err(wrong) => wrong,
        };
        refuse(run, &self.target.asked, wrong, &mut client).await;
    }
}

/// Counts the refusal, and sends an alert to a TLS client.
async fn refuse(run: &Run, asked: &str, wrong: Wrong, client: &mut (impl AsyncWrite + Unpin)) {
    let alert = match wrong {
        Wrong::Gone => return,
        Wrong::Slow => return run.ledger.refuse(asked, Reason::Slow),
        Wrong::NotTls => return run.ledger.refuse(asked, Reason::Sni),
        Wrong::Name(name) => {
            run.ledger.refuse(&format!("{asked} with {name}"), Reason::Sni);
            async {
                client.write_all(&ALERT).await?;
                client.shutdown().await
            }
        }
    };
    // In any case the tunnel ends here.
    drop(timeout(run.patience.step, alert).await);
}

/// An acceptable ClientHello, and the bytes after it.
struct First {
    hello: Vec<u8>,
    behind: Vec<u8>,
}

/// Reads to the end of the ClientHello, and checks it.
async fn first(client: &mut (impl AsyncRead + Unpin), host: &Host) -> Result<First, Wrong> {
    let mut bytes = Vec::with_capacity(4096);
    for _ in 0..FIRST_READS_MAX {
        match client.read_buf(&mut bytes).await {
            Ok(0) | Err(_) if bytes.is_empty() => return Err(Wrong::Gone),
            Ok(0) | Err(_) => return Err(Wrong::NotTls),
            Ok(_) => {}
        }
        if let Some(length) = judged(hello::read(&bytes), host)? {
            let behind = bytes.split_off(length);
            return Ok(First { hello: bytes, behind });
        }
        if bytes.len() > FIRST_BYTES_MAX {
            break;
        }
    }
    Err(Wrong::Name("a malformed ClientHello".to_owned()))
}

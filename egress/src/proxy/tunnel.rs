//! A tunnel for TLS: nothing passes before the ClientHello has named the host that was asked for.

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

/// Most reads before a ClientHello must be whole; each has it judged anew.
const FIRST_READS_MAX: usize = 1024;
/// A fatal TLS alert, `unrecognized_name`: what a client shows its user.
const ALERT: [u8; 7] = [21, 3, 3, 0, 2, 2, 112];

/// A tunnel that was granted and has carried nothing.
pub(super) struct Tunnel {
    client: OnUpgrade,
    host: Metered,
    target: Target,
}

impl Tunnel {
    pub(super) fn new(client: OnUpgrade, host: Metered, target: Target) -> Self {
        Self { client, host, target }
    }

    /// Carries bytes both ways until one side is done, silent for too long, or out of allowance.
    pub(super) async fn carry(mut self, run: &Arc<Run>) {
        // Fails only if the client went away before the tunnel began.
        let Ok(client) = self.client.await else { return };
        let mut client = TokioIo::new(client);
        let named = run.rules.host(self.target.rule);
        let first = timeout(run.patience.step, first(&mut client, named)).await;
        let wrong = match first.unwrap_or(Err(Wrong::Slow)) {
            Ok(First { hello, behind }) => {
                if self.host.write_all(&hello).await.is_err() {
                    // A host that went away ends the tunnel; the ledger has what passed.
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

/// Says what was wrong to the ledger, and to a client that speaks TLS.
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
    // Told or not, the tunnel ends here.
    drop(timeout(run.patience.step, alert).await);
}

/// A good ClientHello, and what came with it.
struct First {
    hello: Vec<u8>,
    behind: Vec<u8>,
}

/// Reads as far as the end of the ClientHello, and judges it.
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

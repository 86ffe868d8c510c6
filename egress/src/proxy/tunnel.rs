//! A tunnel for TLS: nothing passes before the ClientHello has named the host that was asked for.

use std::sync::Arc;

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use egress::frame::Reason;

use super::conversation::Run;
use super::hello::{self, Hello, NoHello};
use super::judge::Target;
use super::metered::Metered;
use super::relay::relay;
use super::rules::Host;

/// Most bytes and reads before a ClientHello must be whole; each read has it judged anew.
pub(super) const FIRST_BYTES_MAX: usize = 32 * 1024;
const FIRST_READS_MAX: usize = 1024;
/// A fatal TLS alert, `unrecognized_name`: what a client shows its user.
const ALERT: [u8; 7] = [21, 3, 3, 0, 2, 2, 112];

/// A tunnel that was granted and has carried nothing.
pub(super) struct Tunnel {
    client: OnUpgrade,
    host: Metered,
    target: Target,
}

/// Why a ClientHello is not passed on.
pub(super) enum Wrong {
    /// The client went away without a word.
    Gone,
    Slow,
    NotTls,
    /// TLS, but not for this host.
    Name(String),
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

/// How long a whole ClientHello for this host is, bytes.
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

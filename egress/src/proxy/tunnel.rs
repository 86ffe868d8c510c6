//! A tunnel for TLS: nothing passes before the ClientHello has named the host that was asked for.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, sleep, timeout};

use egress::frame::Reason;

use super::conversation::Run;
use super::hello::{self, Hello, NoHello};
use super::judge::Target;
use super::metered::Metered;
use super::rules::Host;

/// Most bytes and reads before a ClientHello must be whole; each read has it judged anew.
const FIRST_BYTES_MAX: usize = 32 * 1024;
const FIRST_READS_MAX: usize = 1024;
/// Bytes moved at a time, in each direction.
const PIECE_BYTES: usize = 32 * 1024;
/// A fatal TLS alert, `unrecognized_name`: what a client shows its user.
const ALERT: [u8; 7] = [21, 3, 3, 0, 2, 2, 112];

/// A tunnel that was granted and has carried nothing.
pub(super) struct Tunnel {
    client: OnUpgrade,
    host: Metered,
    target: Target,
}

/// Why the first bytes of a tunnel are not passed on.
enum Wrong {
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
        let asked = &self.target.asked;
        let first =
            timeout(run.patience.step, first(&mut client, run.rules.host(self.target.rule)));
        let wrong = match first.await.unwrap_or(Err(Wrong::Slow)) {
            Ok(first) => {
                // A host that went away ends the tunnel; the ledger has what passed.
                if self.host.write_all(&first).await.is_ok() {
                    relay(client, self.host, run).await;
                }
                return;
            }
            Err(wrong) => wrong,
        };
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
}

/// Reads as far as the end of the ClientHello, and judges it.
async fn first(client: &mut (impl AsyncRead + Unpin), host: &Host) -> Result<Vec<u8>, Wrong> {
    let mut bytes = Vec::with_capacity(4096);
    for _ in 0..FIRST_READS_MAX {
        match client.read_buf(&mut bytes).await {
            Ok(0) | Err(_) if bytes.is_empty() => return Err(Wrong::Gone),
            Ok(0) | Err(_) => return Err(Wrong::NotTls),
            Ok(_) => {}
        }
        match hello::read(&bytes) {
            Ok(Hello::For(name)) => return named(name.as_deref(), host).map(|()| bytes),
            Ok(Hello::Unfinished) if bytes.len() <= FIRST_BYTES_MAX => {}
            Err(NoHello::NotTls) => return Err(Wrong::NotTls),
            Err(NoHello::HiddenName) => return Err(Wrong::Name("a hidden name".to_owned())),
            Ok(Hello::Unfinished) | Err(NoHello::Malformed) => break,
        }
    }
    Err(Wrong::Name("a malformed ClientHello".to_owned()))
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

/// When something last passed, and whether one side has said that it is done.
struct Pulse {
    begun: Instant,
    last_ms: AtomicU64,
    half_closed: AtomicBool,
}

impl Pulse {
    fn beat(&self) {
        let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_ms.store(now, Ordering::Relaxed);
    }

    /// Returns when nothing has passed for too long.
    async fn stopped(&self, run: &Run) {
        loop {
            let half = self.half_closed.load(Ordering::Relaxed);
            let most = if half { run.patience.step } else { run.patience.idle };
            let last = Duration::from_millis(self.last_ms.load(Ordering::Relaxed));
            let silent = self.begun.elapsed().saturating_sub(last);
            if silent >= most {
                return;
            }
            // Looked at often enough to see a side being done while the long wait runs.
            sleep((most - silent).min(run.patience.step)).await;
        }
    }
}

async fn relay(client: impl AsyncRead + AsyncWrite, host: Metered, run: &Run) {
    let pulse = Pulse {
        begun: Instant::now(),
        last_ms: AtomicU64::new(0),
        half_closed: AtomicBool::new(false),
    };
    let (client_read, client_write) = tokio::io::split(client);
    let (host_read, host_write) = tokio::io::split(host);
    let both = async {
        tokio::try_join!(
            one_way(client_read, host_write, &pulse),
            one_way(host_read, client_write, &pulse),
        )
    };
    // However it ends, both sides are closed here; what was not allowed is in the ledger already.
    tokio::select! {
        ended = both => drop(ended),
        () = pulse.stopped(run) => {}
    }
}

async fn one_way(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    pulse: &Pulse,
) -> io::Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = from.read(&mut piece).await?;
        pulse.beat();
        if read == 0 {
            pulse.half_closed.store(true, Ordering::Relaxed);
            return to.shutdown().await;
        }
        to.write_all(&piece[..read]).await?;
        pulse.beat();
    }
}

//! Connects to a requested host, only at the addresses that `pin` allows.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use egress::frame::Reason;

use super::judge::{Refused, Target};
use super::metered::Metered;
use super::model::Run;
use super::pin::pin;

/// Connects to the requested host.
pub(super) async fn dial(run: &Arc<Run>, target: &Target) -> Result<Metered, Refused> {
    let pinned = pin(run, target).await?;
    if let Some((address, reason)) = pinned.refused() {
        return Err(Refused { asked: format!("{} -> {address}", target.asked), reason });
    }
    if run.ledger.open().room() == 0 {
        return Err(Refused { asked: target.asked.clone(), reason: Reason::Bytes });
    }
    let (mut failed, last) = (None, Instant::now() + run.patience.step);
    for address in pinned.addresses.iter().take_while(|_| Instant::now() < last) {
        match connect(run, SocketAddr::new(*address, target.port), last).await {
            Ok(host) => {
                run.ledger.connected(target.rule);
                return Ok(Metered::new(host, Arc::clone(run), target.rule));
            }
            Err(error) => failed = Some((address, error)),
        }
    }
    let asked = match failed {
        Some((address, error)) => format!("{} -> {address}: {}", target.asked, error.kind()),
        None => target.asked.clone(),
    };
    Err(Refused { asked, reason: Reason::Unreachable })
}

async fn connect(run: &Run, address: SocketAddr, last: Instant) -> io::Result<TcpStream> {
    // Half of the step, so that one dead address does not use up the time of the others.
    let until = last.min(Instant::now() + run.patience.step / 2);
    let stream = timeout_at(until, TcpStream::connect(address)).await??;
    stream.set_nodelay(true)?;
    Ok(stream)
}

//! Connects to a requested host, only at the addresses that `pin` allows.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use egress::frame::EgressRefusalReason;

use super::counted::CountedStream;
use super::evaluate::{DialTarget, RefusedRequest};
use super::model::ServedRun;
use super::pin::pin;

pub(super) async fn dial(
    run: &Arc<ServedRun>,
    target: &DialTarget,
) -> Result<CountedStream, RefusedRequest> {
    let pinned = pin(run, target).await?;
    if let Some((address, reason)) = pinned.refused() {
        let description = format!("{} -> {address}", target.description);
        return Err(RefusedRequest { description, reason });
    }
    if run.counters.lock().remaining() == 0 {
        return Err(RefusedRequest {
            description: target.description.clone(),
            reason: EgressRefusalReason::Bytes,
        });
    }
    let (mut failed, last) = (None, Instant::now() + run.timeouts.step);
    for address in pinned.addresses.iter().take_while(|_| Instant::now() < last) {
        match connect(run, SocketAddr::new(*address, target.port), last).await {
            Ok(host) => {
                run.counters.count_connection(target.rule);
                return Ok(CountedStream::new(host, Arc::clone(run), target.rule));
            }
            Err(error) => failed = Some((address, error)),
        }
    }
    let description = match failed {
        Some((address, error)) => format!("{} -> {address}: {}", target.description, error.kind()),
        None => target.description.clone(),
    };
    Err(RefusedRequest { description, reason: EgressRefusalReason::Unreachable })
}

async fn connect(run: &ServedRun, address: SocketAddr, last: Instant) -> io::Result<TcpStream> {
    // Half of the step, so that one dead address does not use up the time of the others.
    let until = last.min(Instant::now() + run.timeouts.step / 2);
    let stream = timeout_at(until, TcpStream::connect(address)).await??;
    stream.set_nodelay(true)?;
    Ok(stream)
}

//! From a rule to a connection: look up once, judge every address, dial only what may be reached.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use egress::frame::{ADDRESSES_MAX, Reason};

use super::address::{Kind, kind};
use super::conversation::Run;
use super::judge::{Refused, Target};
use super::metered::Metered;
use super::rules::{Host, Rules};

/// What a name stands for throughout a run: the first answer, judged.
#[derive(Clone, Debug)]
pub(super) struct Pinned {
    addresses: Vec<IpAddr>,
    /// The first address that may not be reached, if there are only such.
    refused: Option<(IpAddr, Reason)>,
}

/// Connects to the host that was asked for.
pub(super) async fn dial(run: &Arc<Run>, target: &Target) -> Result<Metered, Refused> {
    let pinned = pin(run, target).await?;
    if let Some((address, reason)) = pinned.refused {
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
    // A part of the whole step, so that one dead address of a few does not hide the others.
    let until = last.min(Instant::now() + run.patience.step / 2);
    let stream = timeout_at(until, TcpStream::connect(address)).await??;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// The first answer, kept: a name that moves later moves nothing. A failure is no answer and not kept.
async fn pin<'a>(run: &'a Run, target: &Target) -> Result<&'a Pinned, Refused> {
    let unresolved = || Refused { asked: target.asked.clone(), reason: Reason::Unresolved };
    let once = || async {
        let pinned = match run.rules.host(target.rule) {
            Host::Address(address) => Pinned { addresses: vec![*address], refused: None },
            Host::Name(name) => {
                let answer = timeout(run.patience.step, run.resolver.look_up(name)).await;
                let answer = answer.map_err(|_| unresolved())?.map_err(|_| unresolved())?;
                judge(&run.rules, target.rule, answer).ok_or_else(unresolved)?
            }
        };
        run.ledger.pinned(target.rule, &pinned.addresses);
        Ok(pinned)
    };
    run.pins[target.rule].get_or_try_init(once).await
}

/// `None` if the answer has no address at all.
fn judge(rules: &Rules, rule: usize, answer: Vec<IpAddr>) -> Option<Pinned> {
    let mut pinned = Pinned { addresses: Vec::new(), refused: None };
    for address in answer {
        let address = address.to_canonical();
        let reason = match kind(address) {
            _ if rules.allows_private(rule, address) => None,
            Kind::Public => None,
            Kind::Metadata => Some(Reason::MetadataAddress),
            Kind::Private => Some(Reason::PrivateAddress),
        };
        match reason {
            Some(reason) => pinned.refused = pinned.refused.or(Some((address, reason))),
            None if pinned.addresses.len() < ADDRESSES_MAX
                && !pinned.addresses.contains(&address) =>
            {
                pinned.addresses.push(address);
            }
            None => {}
        }
    }
    if !pinned.addresses.is_empty() {
        pinned.refused = None;
    } else if pinned.refused.is_none() {
        return None;
    }
    Some(pinned)
}

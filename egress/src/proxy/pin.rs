//! The addresses of a rule's name for a whole run: the first answer, with every address checked.

use std::io;
use std::net::IpAddr;

use tokio::time::{Instant, timeout};

use egress::frame::{ADDRESSES_MAX, Reason};

use super::address::{Kind, kind};
use super::judge::{Refused, Target};
use super::model::{Pinned, Run};
use super::own::Routes;
use super::rules::{Host, Rules};

/// The most addresses of one answer that are checked. The others are never dialled.
const JUDGED_MAX: usize = 64;
/// Returns the first answer, within one step, for all connections. A failure is not an answer and
/// expires soon.
pub(super) async fn pin<'a>(run: &'a Run, target: &Target) -> Result<&'a Pinned, Refused> {
    let pin = &run.pins[target.rule];
    let unresolved = || Refused { asked: target.asked.clone(), reason: Reason::Unresolved };
    let once = || async {
        if pin.failed_just_now() {
            return Err(unresolved());
        }
        let looked_up = look_up(run, target.rule).await;
        looked_up.ok().flatten().ok_or_else(|| {
            *pin.failed() = Some(Instant::now());
            unresolved()
        })
    };
    match timeout(run.patience.step, pin.answer.get_or_try_init(once)).await {
        Ok(pinned) => pinned,
        Err(_) => {
            *pin.failed() = Some(Instant::now());
            Err(unresolved())
        }
    }
}

async fn look_up(run: &Run, rule: usize) -> io::Result<Option<Pinned>> {
    let answer = match run.rules.host(rule) {
        Host::Address(address) => vec![*address],
        Host::Name(name) => run.resolver.look_up(name).await?,
    };
    let pinned = judge(&run.rules, rule, answer)?;
    if let Some(pinned) = &pinned {
        run.ledger.pinned(rule, &pinned.addresses);
        for (address, reason) in pinned.passed_over() {
            run.ledger.refuse(&format!("{} -> {address}", run.rules.host(rule)), *reason);
        }
    }
    Ok(pinned)
}

/// Checks every address of an answer. Returns `None` if it has none.
///
/// # Errors
/// The kernel does not say whether an address is this host's own.
fn judge(rules: &Rules, rule: usize, answer: Vec<IpAddr>) -> io::Result<Option<Pinned>> {
    let routes = Routes::open()?;
    let mut pinned = Pinned { addresses: Vec::new(), refused: Vec::new() };
    for address in answer.into_iter().take(JUDGED_MAX) {
        let address = address.to_canonical();
        let allowed = rules.allows_private(rule, address);
        let reason = if allowed { None } else { forbidden(&routes, address)? };
        match reason {
            Some(reason) => pinned.refused.push((address, reason)),
            None if pinned.addresses.len() < ADDRESSES_MAX
                && !pinned.addresses.contains(&address) =>
            {
                pinned.addresses.push(address);
            }
            None => {}
        }
    }
    Ok((!pinned.addresses.is_empty() || !pinned.refused.is_empty()).then_some(pinned))
}

/// Returns the reason why an address that no rule names is not allowed.
fn forbidden(routes: &Routes, address: IpAddr) -> io::Result<Option<Reason>> {
    Ok(match kind(address) {
        Kind::Metadata => Some(Reason::MetadataAddress),
        Kind::Private => Some(Reason::PrivateAddress),
        // A service there may be meant for this host alone, and would be reached over loopback.
        Kind::Public if routes.lead_back(address)? => Some(Reason::OwnAddress),
        Kind::Public => None,
    })
}

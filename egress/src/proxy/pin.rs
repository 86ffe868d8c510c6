//! The addresses of a rule's name for a whole run: the first answer, with every address checked.

use std::io;
use std::net::IpAddr;

use tokio::time::{Instant, timeout};

use egress::frame::{ADDRESSES_MAX, EgressRefusalReason};

use super::address::{AddressKind, kind};
use super::evaluate::{DialTarget, RefusedRequest};
use super::model::{PinnedAddresses, ServedRun};
use super::own_address::Routes;
use super::rules::{AllowedHost, RunHostRules};

/// The most addresses of one answer that are checked. The others are never dialled.
const CHECKED_MAX: usize = 64;
/// Returns the first answer, within one step, for all connections. A failure expires soon.
pub(super) async fn pin<'a>(
    run: &'a ServedRun,
    target: &DialTarget,
) -> Result<&'a PinnedAddresses, RefusedRequest> {
    let pin = &run.pins[target.rule];
    let unresolved = || RefusedRequest {
        description: target.description.clone(),
        reason: EgressRefusalReason::Unresolved,
    };
    let once = || async {
        if pin.failed_recently() {
            return Err(unresolved());
        }
        let looked_up = look_up(run, target.rule).await;
        looked_up.ok().flatten().ok_or_else(|| {
            *pin.failed() = Some(Instant::now());
            unresolved()
        })
    };
    match timeout(run.timeouts.step, pin.answer.get_or_try_init(once)).await {
        Ok(pinned) => pinned,
        Err(_) => {
            *pin.failed() = Some(Instant::now());
            Err(unresolved())
        }
    }
}

async fn look_up(run: &ServedRun, rule: usize) -> io::Result<Option<PinnedAddresses>> {
    let answer = match run.rules.host(rule) {
        AllowedHost::Address(address) => vec![*address],
        AllowedHost::Name(name) => run.resolver.look_up(name).await?,
    };
    let pinned = check_addresses(&run.rules, rule, answer)?;
    if let Some(pinned) = &pinned {
        run.counters.set_addresses(rule, &pinned.addresses);
        for (address, reason) in pinned.hidden_refusals() {
            run.counters.refuse(&format!("{} -> {address}", run.rules.host(rule)), *reason);
        }
    }
    Ok(pinned)
}

/// Returns `None` for an empty answer.
///
/// # Errors
/// The kernel does not say whether an address is this host's own.
fn check_addresses(
    rules: &RunHostRules,
    rule: usize,
    answer: Vec<IpAddr>,
) -> io::Result<Option<PinnedAddresses>> {
    let routes = Routes::open()?;
    let mut pinned = PinnedAddresses { addresses: Vec::new(), refused: Vec::new() };
    for address in answer.into_iter().take(CHECKED_MAX) {
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

fn forbidden(routes: &Routes, address: IpAddr) -> io::Result<Option<EgressRefusalReason>> {
    Ok(match kind(address) {
        AddressKind::Metadata => Some(EgressRefusalReason::MetadataAddress),
        AddressKind::Private => Some(EgressRefusalReason::PrivateAddress),
        // A service there may be meant for this host alone, and would be reached over loopback.
        AddressKind::Public if routes.is_own(address)? => Some(EgressRefusalReason::OwnAddress),
        AddressKind::Public => None,
    })
}

//! What a rule's name stands for throughout a run: the first answer, every address of it judged.

use std::io;
use std::net::IpAddr;

use tokio::time::timeout;

use egress::frame::{ADDRESSES_MAX, Reason};

use super::address::{Kind, kind};
use super::conversation::Run;
use super::judge::{Refused, Target};
use super::own::Routes;
use super::rules::{Host, Rules};

/// Most addresses of one answer that are judged; the rest is never dialled.
const JUDGED_MAX: usize = 64;

/// An answer, judged.
#[derive(Clone, Debug)]
pub(super) struct Pinned {
    pub(super) addresses: Vec<IpAddr>,
    /// The first address that may not be reached, if there are only such.
    pub(super) refused: Option<(IpAddr, Reason)>,
}

/// The first answer, kept: a name that moves later moves nothing. A failure is no answer and not kept.
pub(super) async fn pin<'a>(run: &'a Run, target: &Target) -> Result<&'a Pinned, Refused> {
    let unresolved = || Refused { asked: target.asked.clone(), reason: Reason::Unresolved };
    let once = || async {
        let answer = match run.rules.host(target.rule) {
            Host::Address(address) => vec![*address],
            Host::Name(name) => {
                let answer = timeout(run.patience.step, run.resolver.look_up(name)).await;
                answer.map_err(|_| unresolved())?.map_err(|_| unresolved())?
            }
        };
        let pinned = judge(&run.rules, target.rule, answer).map_err(|_| unresolved())?;
        let pinned = pinned.ok_or_else(unresolved)?;
        run.ledger.pinned(target.rule, &pinned.addresses);
        Ok(pinned)
    };
    run.pins[target.rule].get_or_try_init(once).await
}

/// `None` if the answer has no address at all.
///
/// # Errors
/// Whether an address is this host's own cannot be told.
fn judge(rules: &Rules, rule: usize, answer: Vec<IpAddr>) -> io::Result<Option<Pinned>> {
    let routes = Routes::open()?;
    let mut pinned = Pinned { addresses: Vec::new(), refused: None };
    for address in answer.into_iter().take(JUDGED_MAX) {
        let address = address.to_canonical();
        let allowed = rules.allows_private(rule, address);
        let reason = if allowed { None } else { forbidden(&routes, address)? };
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
        return Ok(None);
    }
    Ok(Some(pinned))
}

/// Why an address may not be reached that no rule names.
fn forbidden(routes: &Routes, address: IpAddr) -> io::Result<Option<Reason>> {
    Ok(match kind(address) {
        Kind::Metadata => Some(Reason::MetadataAddress),
        Kind::Private => Some(Reason::PrivateAddress),
        // What listens there may be meant for this host alone, and is reached over loopback.
        Kind::Public if routes.lead_back(address)? => Some(Reason::OwnAddress),
        Kind::Public => None,
    })
}

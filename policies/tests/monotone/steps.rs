//! Single steps that make a world no better: something more speaks against the run, something that speaks
//! for it is gone, or policy asks for more. Each says whether it changed anything.

use policies::Ledger;

use crate::world::{Act, Bound, Said, World};

pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) take: fn(&mut World) -> bool,
}

macro_rules! steps {
    ($($name:literal => $take:expr),* $(,)?) => {
        &[$(Step { name: $name, take: $take }),*]
    };
}

fn set<T: PartialEq>(place: &mut T, value: T) -> bool {
    let changes = *place != value;
    *place = value;
    changes
}

/// Whether a person's signature may say something against the run: that is no evidence for it.
fn objects(world: &World, person: usize) -> bool {
    world.votes.iter().any(|(who, act)| *who == person && *act != Act::Approve)
}

pub(crate) const DENIALS: &[Step] = steps![
    "alice rejects" => |world| { world.votes.push((0, Act::Reject)); true },
    "bob rejects" => |world| { world.votes.insert(0, (1, Act::Reject)); true },
    "a stranger rejects" => |world| { world.votes.push((3, Act::Reject)); true },
    // Where policy wants to know who asks, that somebody does is what was missing.
    "bob says that he asks" => |world| {
        world.votes.push((1, Act::Ask));
        !world.rules.requester_required
    },
    "a signature cannot be read" => |world| set(&mut world.unread, true),
    "alice's key is revoked" => |world| !objects(world, 0) && world.revoked.insert(0),
    "bob's key is revoked" => |world| !objects(world, 1) && world.revoked.insert(1),
    "the permission is denied" => |world| set(&mut world.permission, Said::Denied),
    "the permission is left out" => |world| set(&mut world.permission, Said::LeftOut),
    "the intent is revoked" => |world| {
        world.bound == Bound::Good && set(&mut world.bound, Bound::IntentRevoked)
    },
    "the envelope ends" => |world| world.bound == Bound::Good && set(&mut world.bound, Bound::Expired),
    "the bundle is broken" => |world| set(&mut world.bound, Bound::Broken),
    "the nonce is used up" => |world| set(&mut world.nonce_used, true),
    "it was started before" => |world| {
        set(&mut world.ledger, Ledger::Used { record: "TS-1".to_owned() })
    },
    "it asks for too much" => |world| {
        // Other bytes: nobody has signed them, and no bundle is theirs.
        world.votes.clear();
        set(&mut world.request.too_large, true)
    },
];

pub(crate) const REMOVALS: &[Step] = steps![
    "a vote for it is gone" => |world| {
        let at = world.votes.iter().position(|(_, act)| *act == Act::Approve);
        at.map(|at| world.votes.remove(at)).is_some()
    },
    "every vote for it is gone" => |world| {
        let before = world.votes.len();
        world.votes.retain(|(_, act)| *act != Act::Approve);
        world.votes.len() != before
    },
    "there is no trust store" => |world| {
        !(0..4).any(|person| objects(world, person)) && world.signers.take().is_some()
    },
    "alice is not in the trust store" => |world| {
        !objects(world, 0) && world.signers.as_mut().is_some_and(|signers| signers.remove(&0))
    },
    "bob is not in the trust store" => |world| {
        !objects(world, 1) && world.signers.as_mut().is_some_and(|signers| signers.remove(&1))
    },
    "nobody granted it" => |world| {
        world.permission == Said::Granted && set(&mut world.permission, Said::Missing)
    },
    "the store was not asked" => |world| {
        world.permission == Said::Granted && set(&mut world.permission, Said::Nothing)
    },
    "there is no bundle" => |world| {
        world.bound == Bound::Good && set(&mut world.bound, Bound::Missing)
    },
    "no key of AIS is known" => |world| set(&mut world.trusted, false),
    "the ledger was not asked" => |world| {
        world.ledger == Ledger::Unused && set(&mut world.ledger, Ledger::NotAsked)
    },
    "the runtime is not there" => |world| set(&mut world.runtime_found, false),
];

pub(crate) const STRICTER: &[Step] = steps![
    "the gate counts" => |world| set(&mut world.rules.shadow, false),
    "the gate cannot tell what python does" => |world| set(&mut world.rules.unknown_category, true),
    "permissions of drafts" => |world| {
        world.rules.asks_permission < 1 && set(&mut world.rules.asks_permission, 1)
    },
    "permissions of everybody" => |world| set(&mut world.rules.asks_permission, 2),
    "bundles of drafts" => |world| {
        world.rules.asks_bundle < 1 && set(&mut world.rules.asks_bundle, 1)
    },
    "bundles of everybody" => |world| set(&mut world.rules.asks_bundle, 2),
    "no profile is known" => |world| set(&mut world.rules.profile_known, false),
    "the host must be asserted" => |world| set(&mut world.rules.sca_required, true),
    "one signature more" => |world| {
        let (low, high) = (world.rules.low, world.rules.high);
        world.rules.low += usize::from(low > 0);
        world.rules.high += usize::from(high > 0);
        low > 0 || high > 0
    },
    "whoever types it approves nothing" => |world| set(&mut world.rules.invoker, false),
    "no owner approves anything" => |world| set(&mut world.rules.owners, false),
    "nobody approves what they ask for" => |world| set(&mut world.rules.self_approval, false),
    "who asks must be told" => |world| set(&mut world.rules.requester_required, true),
    "for which host must be told" => |world| set(&mut world.rules.audience_required, true),
    "approvals age" => |world| set(&mut world.rules.aged, true),
    "what is not enforced is refused" => |world| set(&mut world.rules.constraints_refused, true),
];

//! Single steps that never improve a world: a further objection, a missing fact, or a stricter
//! policy. Each step reports whether it changed the world, and in which worlds it must end the run.

use policies::LedgerEvidence;

use super::world::{BundleChoice, StoredPermission, VotePurpose, World};

pub(crate) struct WorldStep {
    pub(crate) name: &'static str,
    pub(crate) apply: fn(&mut World) -> bool,
    /// Returns whether nothing may run in the changed world.
    pub(crate) ends: fn(&World) -> bool,
}

const fn step(
    name: &'static str,
    take: fn(&mut World) -> bool,
    ends: fn(&World) -> bool,
) -> WorldStep {
    WorldStep { name, apply: take, ends }
}

fn set<T: PartialEq>(place: &mut T, value: T) -> bool {
    let changes = *place != value;
    *place = value;
    changes
}

fn vote(world: &mut World, person: usize, act: VotePurpose) -> bool {
    world.votes.push((person, act));
    true
}

/// Returns whether a person's signature may object to the run, and so is not evidence for it.
fn signature_objects(world: &World, person: usize) -> bool {
    world.votes.iter().any(|(who, act)| *who == person && *act != VotePurpose::Approve)
}

fn unknown(world: &mut World, person: usize) -> bool {
    let known = world.signers.as_mut().is_some_and(|signers| signers.remove(&person));
    known && !signature_objects(world, person)
}

fn never(_: &World) -> bool {
    false
}

fn always(_: &World) -> bool {
    true
}

fn asks_signatures(world: &World) -> bool {
    world.rules.low > 0
}

pub(crate) const DENIALS: &[WorldStep] = &[
    step("alice rejects", |world| vote(world, 0, VotePurpose::Reject), |world| world.counts(0)),
    step("bob rejects", |world| vote(world, 1, VotePurpose::Reject), |world| world.counts(1)),
    step("a stranger rejects", |world| vote(world, 3, VotePurpose::Reject), never),
    step(
        "bob says that he asks",
        // A requester's signature could supply what policy requires.
        |world| vote(world, 1, VotePurpose::Request) && !world.rules.requester_required,
        never,
    ),
    step("a signature cannot be read", |world| set(&mut world.unread, true), always),
    step(
        "alice's key is revoked",
        |world| !signature_objects(world, 0) && world.revoked.insert(0),
        never,
    ),
    step(
        "bob's key is revoked",
        |world| !signature_objects(world, 1) && world.revoked.insert(1),
        never,
    ),
    step(
        "the permission is denied",
        |world| set(&mut world.permission, StoredPermission::Denied),
        World::needs_permission,
    ),
    step(
        "the permission is left out",
        |world| set(&mut world.permission, StoredPermission::LeftOut),
        World::needs_permission,
    ),
    step(
        "the intent is revoked",
        |world| {
            world.bound == BundleChoice::Good && set(&mut world.bound, BundleChoice::IntentRevoked)
        },
        World::needs_bundle,
    ),
    step(
        "the envelope ends",
        |world| world.bound == BundleChoice::Good && set(&mut world.bound, BundleChoice::Expired),
        World::needs_bundle,
    ),
    step(
        "the bundle is broken",
        |world| set(&mut world.bound, BundleChoice::Broken),
        World::needs_bundle,
    ),
    step("the nonce is used up", |world| set(&mut world.nonce_used, true), World::needs_bundle),
    step(
        "it was started before",
        |world| set(&mut world.ledger, LedgerEvidence::Used { record: "TS-1".to_owned() }),
        always,
    ),
    step("it asks for too much", |world| set(&mut world.request.too_large, true), always),
];

pub(crate) const REMOVALS: &[WorldStep] = &[
    step(
        "a vote for it is gone",
        |world| {
            let at = world.votes.iter().position(|(_, act)| *act == VotePurpose::Approve);
            at.map(|at| world.votes.remove(at)).is_some()
        },
        never,
    ),
    step(
        "every vote for it is gone",
        |world| {
            let before = world.votes.len();
            world.votes.retain(|(_, act)| *act != VotePurpose::Approve);
            world.votes.len() != before
        },
        asks_signatures,
    ),
    step(
        "there is no trust store",
        |world| {
            !(0..4).any(|person| signature_objects(world, person)) && world.signers.take().is_some()
        },
        asks_signatures,
    ),
    step("alice is not in the trust store", |world| unknown(world, 0), never),
    step("bob is not in the trust store", |world| unknown(world, 1), never),
    step(
        "nobody granted it",
        |world| {
            world.permission == StoredPermission::Granted
                && set(&mut world.permission, StoredPermission::Missing)
        },
        World::needs_permission,
    ),
    step(
        "the store was not asked",
        |world| {
            world.permission == StoredPermission::Granted
                && set(&mut world.permission, StoredPermission::Nothing)
        },
        World::needs_permission,
    ),
    step(
        "there is no bundle",
        // An invalid bundle is not evidence for the run; a missing one may still arrive.
        |world| {
            let speaks_for_it = world.bound == BundleChoice::Good
                && !world.nonce_used
                && world.trusted
                && world.rules.profile_known
                && !world.rules.sca_required;
            speaks_for_it && set(&mut world.bound, BundleChoice::Missing)
        },
        World::needs_bundle,
    ),
    step("no key of AIS is known", |world| set(&mut world.trusted, false), World::needs_bundle),
    step(
        "the ledger was not asked",
        |world| {
            world.ledger == LedgerEvidence::Unused
                && set(&mut world.ledger, LedgerEvidence::NotQueried)
        },
        always,
    ),
    step("the runtime is not there", |world| set(&mut world.runtime_found, false), always),
];

fn not_granted(world: &World) -> bool {
    world.needs_permission() && world.permission != StoredPermission::Granted
}

fn not_bound(world: &World) -> bool {
    world.needs_bundle() && world.bound != BundleChoice::Good
}

fn unknown_category(world: &World) -> bool {
    world.rules.unknown_category && !world.rules.shadow
}

pub(crate) const STRICTER: &[WorldStep] = &[
    step("the gate counts", |world| set(&mut world.rules.shadow, false), unknown_category),
    step(
        "the gate cannot tell what python does",
        |world| set(&mut world.rules.unknown_category, true),
        unknown_category,
    ),
    step(
        "permissions of drafts",
        |world| world.rules.asks_permission < 1 && set(&mut world.rules.asks_permission, 1),
        not_granted,
    ),
    step("permissions of everybody", |world| set(&mut world.rules.asks_permission, 2), not_granted),
    step(
        "bundles of drafts",
        |world| world.rules.asks_bundle < 1 && set(&mut world.rules.asks_bundle, 1),
        not_bound,
    ),
    step("bundles of everybody", |world| set(&mut world.rules.asks_bundle, 2), not_bound),
    step(
        "no profile is known",
        |world| set(&mut world.rules.profile_known, false),
        World::needs_bundle,
    ),
    step("the host must be asserted", |world| set(&mut world.rules.sca_required, true), never),
    step(
        "one signature more",
        |world| {
            let (low, high) = (world.rules.low, world.rules.high);
            world.rules.low += usize::from(low > 0);
            world.rules.high += usize::from(high > 0);
            low > 0 || high > 0
        },
        never,
    ),
    step("whoever types it approves nothing", |world| set(&mut world.rules.invoker, false), never),
    step("no file of alice's is approved", |world| set(&mut world.rules.owners, false), never),
    step(
        "nobody approves what they ask for",
        |world| set(&mut world.rules.self_approval, false),
        never,
    ),
    step("who asks must be told", |world| set(&mut world.rules.requester_required, true), never),
    step(
        "for which host must be told",
        |world| set(&mut world.rules.audience_required, true),
        always,
    ),
    step("approvals age", |world| set(&mut world.rules.aged, true), always),
    step(
        "what is not enforced is refused",
        |world| set(&mut world.rules.constraints_refused, true),
        |world| world.request.constrained,
    ),
];

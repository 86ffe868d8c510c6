//! Properties of every decision in any world. A further denial, a missing fact or a stricter policy
//! never permits a run. The same world always gets the same decision, byte for byte.
//!
//! Two choices are not ordered by strictness, so they are not among the steps: `signatures_min`
//! from 0 to 1, which replaces the submitter's approval by signatures, and the name of the
//! submitter.

#![allow(dead_code, reason = "scenes of other tests have more than is used here")]

mod asked;
mod steps;
mod world;

use std::collections::BTreeSet;

use crate::ais::scene as bundle;
use crate::{scene, soft};
use asked::{Asked, Rules};
use policies::{Decision, Ledger};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use steps::{DENIALS, REMOVALS, STRICTER, Step};
use world::{Act, Bound, Said, World};

fn asked() -> impl Strategy<Value = Asked> {
    (
        any::<bool>(),
        any::<bool>(),
        prop::bool::weighted(0.05),
        any::<bool>(),
        any::<bool>(),
        prop::bool::weighted(0.05),
    )
        .prop_map(|(drafted, agent, too_large, confidential, by_alice, constrained)| Asked {
            drafted,
            agent,
            too_large,
            confidential,
            by_alice,
            constrained,
        })
}

/// Generates mostly worlds that permit something, because a refusal of everything proves nothing.
fn rules() -> impl Strategy<Value = Rules> {
    let rare = || prop::bool::weighted(0.05);
    let often = || prop::bool::weighted(0.9);
    let signatures = || prop_oneof![2 => Just(0_usize), 4 => Just(1), 1 => Just(2)];
    let covers = || prop_oneof![2 => Just(0_usize), 1 => Just(1), 1 => Just(2)];
    let people = (often(), often(), signatures(), signatures(), often());
    let more = (rare(), rare(), rare(), any::<bool>(), rare());
    let authorities = (covers(), covers(), often(), rare(), rare());
    (people, more, authorities).prop_map(|(people, more, authorities)| Rules {
        invoker: people.0,
        owners: people.1,
        low: people.2,
        high: people.2.max(people.3),
        self_approval: people.4,
        requester_required: more.0,
        audience_required: more.1,
        aged: more.2,
        shadow: more.3,
        unknown_category: more.4,
        asks_permission: authorities.0,
        asks_bundle: authorities.1,
        profile_known: authorities.2,
        sca_required: authorities.3,
        constraints_refused: authorities.4,
    })
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![24 => Just(Act::Approve), 1 => Just(Act::Reject), 1 => Just(Act::Ask)]
}

fn world() -> impl Strategy<Value = World> {
    let people = || prop::collection::btree_set(0..3_usize, 0..2);
    let signers = prop_oneof![
        1 => Just(None),
        6 => Just(Some(BTreeSet::from([0, 1, 2]))),
        2 => people().prop_map(Some),
    ];
    let revoked = prop_oneof![8 => Just(BTreeSet::new()), 1 => people()];
    let person = prop_oneof![6 => Just(0_usize), 4 => Just(1), 2 => Just(2), 1 => Just(3)];
    let votes = prop::collection::vec((person, act()), 0..5);
    let permission = prop_oneof![
        1 => Just(Said::Nothing),
        2 => Just(Said::Missing),
        6 => Just(Said::Granted),
        1 => Just(Said::Denied),
        1 => Just(Said::LeftOut),
    ];
    let bound = prop_oneof![
        2 => Just(Bound::Missing),
        1 => Just(Bound::Broken),
        1 => Just(Bound::Expired),
        1 => Just(Bound::IntentRevoked),
        8 => Just(Bound::Good),
    ];
    let used = Ledger::Used { record: "TS-1".to_owned() };
    let ledger =
        prop_oneof![10 => Just(Ledger::Unused), 1 => Just(Ledger::NotAsked), 1 => Just(used)];
    let rare = || prop::bool::weighted(0.05);
    let often = || prop::bool::weighted(0.95);
    let beside = (votes, rare(), signers, revoked, permission, bound);
    let host = (often(), rare(), ledger, often(), any::<bool>(), often());
    (asked(), rules(), beside, host).prop_map(|(request, rules, beside, host)| World {
        request,
        rules,
        votes: beside.0,
        unread: beside.1,
        signers: beside.2,
        revoked: beside.3,
        permission: beside.4,
        bound: beside.5,
        trusted: host.0,
        nonce_used: host.1,
        ledger: host.2,
        runtime_found: host.3,
        invoked: host.4,
        named: host.5,
    })
}

fn word(decision: &Decision) -> &'static str {
    match decision {
        Decision::Approve(_) => "approve",
        Decision::Hold { .. } => "hold",
        Decision::Refuse { .. } => "refuse",
    }
}

/// Checks every step that changes this world. A refused run stays refused. It is never held if no
/// person's answer could help. A step that must end the run does.
fn never_permits(world: &World, steps: &[Step]) -> Result<(), TestCaseError> {
    let before = world.decide();
    for step in steps {
        let mut stricter = world.clone();
        if !(step.take)(&mut stricter) {
            continue;
        }
        let after = stricter.decide();
        let permitted = word(&after) == "approve" && word(&before) != "approve";
        prop_assert!(!permitted, "{} permits\n{world:#?}\n{before:#?}", step.name);
        let ended = word(&after) == "approve" && (step.ends)(&stricter);
        prop_assert!(!ended, "{} is passed over\n{world:#?}\n{after:#?}", step.name);
        let revived = word(&after) == "hold" && word(&before) == "refuse";
        prop_assert!(!revived, "{} lets it wait\n{world:#?}\n{before:#?}", step.name);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn a_further_denial_never_permits(world in world()) {
        never_permits(&world, DENIALS)?;
    }

    #[test]
    fn what_is_missing_never_permits(world in world()) {
        never_permits(&world, REMOVALS)?;
    }

    #[test]
    fn a_stricter_policy_never_permits(world in world()) {
        never_permits(&world, STRICTER)?;
    }

    /// Compares the returned request, the grant, and the text of every rule.
    #[test]
    fn the_same_is_decided_the_same_in_any_order_of_the_files(
        (world, order) in world().prop_flat_map(|world| {
            let order: Vec<usize> = (0..world.votes.len()).collect();
            (Just(world), Just(order).prop_shuffle())
        })
    ) {
        let first = format!("{:?}", world.decide());
        prop_assert_eq!(&first, &format!("{:?}", world.decide()));
        let files = world.signatures();
        let shuffled = order.iter().map(|index| files[*index].clone()).collect();
        prop_assert_eq!(&first, &format!("{:?}", world.decide_with(shuffled)));
    }

    /// An approval has no refusing rule, an approver, and the answers that policy requires.
    #[test]
    fn what_is_approved_has_everything(world in world()) {
        let Decision::Approve(approved) = world.decide() else { return Ok(()) };
        let grounds = approved.grounds();
        prop_assert!(grounds.rules.iter().all(|it| it.verdict != policies::Verdict::Refuse));
        prop_assert_eq!(grounds.permission.is_some(), world.needs_permission());
        prop_assert_eq!(approved.ais_nonce().is_some(), world.needs_bundle());
        prop_assert!(!world.votes.contains(&(0, Act::Reject)) || !world.counts(0));
    }
}

/// Otherwise the properties would also be true of worlds that never permit anything.
#[test]
fn worlds_are_of_every_kind() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..300 {
        let world = world().new_tree(&mut runner).expect("a world").current();
        *seen.entry(word(&world.decide())).or_insert(0) += 1;
    }
    for kind in ["approve", "hold", "refuse"] {
        assert!(seen.get(kind).is_some_and(|count| *count >= 5), "{seen:?}");
    }
}

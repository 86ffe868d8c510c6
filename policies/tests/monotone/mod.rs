//! Properties of every decision in any world. A further denial, a missing fact or a stricter policy
//! never permits a run. The same world always gets the same decision, byte for byte.
//!
//! Two choices are not ordered by strictness, so they are not among the steps: `signatures_min`
//! from 0 to 1, which replaces the submitter's approval by signatures, and the name of the
//! submitter.

mod choices;
mod steps;
mod world;

use std::collections::BTreeSet;

use crate::ais::scene as bundle;
use crate::{scene, soft};
use choices::{PolicyChoices, RequestChoices};
use policies::{Decision, LedgerEvidence};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use steps::{DENIALS, REMOVALS, STRICTER, WorldStep};
use world::{BundleChoice, StoredPermission, VotePurpose, World};

fn request_choices() -> impl Strategy<Value = RequestChoices> {
    (
        any::<bool>(),
        any::<bool>(),
        prop::bool::weighted(0.05),
        any::<bool>(),
        any::<bool>(),
        prop::bool::weighted(0.05),
    )
        .prop_map(|(drafted, agent, too_large, confidential, by_alice, constrained)| {
            RequestChoices { drafted, agent, too_large, confidential, by_alice, constrained }
        })
}

/// Generates mostly worlds that permit something, because a refusal of everything proves nothing.
fn policy_choices() -> impl Strategy<Value = PolicyChoices> {
    let rare = || prop::bool::weighted(0.05);
    let often = || prop::bool::weighted(0.9);
    let signatures = || prop_oneof![2 => Just(0_usize), 4 => Just(1), 1 => Just(2)];
    let covers = || prop_oneof![2 => Just(0_usize), 1 => Just(1), 1 => Just(2)];
    let people = (often(), often(), signatures(), signatures(), often());
    let more = (rare(), rare(), rare(), any::<bool>(), rare());
    let authorities = (covers(), covers(), often(), rare(), rare());
    (people, more, authorities).prop_map(|(people, more, authorities)| PolicyChoices {
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

fn vote_purpose() -> impl Strategy<Value = VotePurpose> {
    prop_oneof![24 => Just(VotePurpose::Approve), 1 => Just(VotePurpose::Reject), 1 => Just(VotePurpose::Request)]
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
    let votes = prop::collection::vec((person, vote_purpose()), 0..5);
    let permission = prop_oneof![
        1 => Just(StoredPermission::Nothing),
        2 => Just(StoredPermission::Missing),
        6 => Just(StoredPermission::Granted),
        1 => Just(StoredPermission::Denied),
        1 => Just(StoredPermission::LeftOut),
    ];
    let bound = prop_oneof![
        2 => Just(BundleChoice::Missing),
        1 => Just(BundleChoice::Broken),
        1 => Just(BundleChoice::Expired),
        1 => Just(BundleChoice::IntentRevoked),
        8 => Just(BundleChoice::Good),
    ];
    let used = LedgerEvidence::Used { record: "TS-1".to_owned() };
    let ledger = prop_oneof![10 => Just(LedgerEvidence::Unused), 1 => Just(LedgerEvidence::NotQueried), 1 => Just(used)];
    let rare = || prop::bool::weighted(0.05);
    let often = || prop::bool::weighted(0.95);
    let beside = (votes, rare(), signers, revoked, permission, bound);
    let host = (often(), rare(), ledger, often(), any::<bool>(), often());
    (request_choices(), policy_choices(), beside, host).prop_map(
        |(request, rules, beside, host)| World {
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
        },
    )
}

fn decision_name(decision: &Decision) -> &'static str {
    match decision {
        Decision::Approve(_) => "approve",
        Decision::Hold { .. } => "hold",
        Decision::Refuse { .. } => "refuse",
    }
}

/// Checks every step that changes this world. A refused run stays refused. It is never held if no
/// person's answer could help. A step that must end the run does.
fn never_permits(world: &World, steps: &[WorldStep]) -> Result<(), TestCaseError> {
    let before = world.decide();
    for step in steps {
        let mut stricter = world.clone();
        if !(step.apply)(&mut stricter) {
            continue;
        }
        let after = stricter.decide();
        let permitted = decision_name(&after) == "approve" && decision_name(&before) != "approve";
        prop_assert!(!permitted, "{} permits\n{world:#?}\n{before:#?}", step.name);
        let ended = decision_name(&after) == "approve" && (step.ends)(&stricter);
        prop_assert!(!ended, "{} is passed over\n{world:#?}\n{after:#?}", step.name);
        let revived = decision_name(&after) == "hold" && decision_name(&before) == "refuse";
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
    fn missing_evidence_never_permits(world in world()) {
        never_permits(&world, REMOVALS)?;
    }

    #[test]
    fn a_stricter_policy_never_permits(world in world()) {
        never_permits(&world, STRICTER)?;
    }

    /// Compares the returned request, the grant, and the text of every rule.
    #[test]
    fn decision_does_not_depend_on_the_order_of_files(
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
    fn approval_has_everything_that_policy_requires(world in world()) {
        let Decision::Approve(approved) = world.decide() else { return Ok(()) };
        let rationale = approved.rationale();
        prop_assert!(rationale.rules.iter().all(|it| it.verdict != policies::Verdict::Refuse));
        prop_assert_eq!(rationale.permission.is_some(), world.needs_permission());
        prop_assert_eq!(approved.ais_nonce().is_some(), world.needs_bundle());
        prop_assert!(!world.votes.contains(&(0, VotePurpose::Reject)) || !world.counts(0));
    }
}

/// Otherwise the properties would also be true of worlds that never permit anything.
#[test]
fn worlds_are_of_every_kind() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..300 {
        let world = world().new_tree(&mut runner).expect("a world").current();
        *seen.entry(decision_name(&world.decide())).or_insert(0) += 1;
    }
    for kind in ["approve", "hold", "refuse"] {
        assert!(seen.get(kind).is_some_and(|count| *count >= 5), "{seen:?}");
    }
}

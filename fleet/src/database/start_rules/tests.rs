//! Every start is decided by the rows as they are.

use fleet::gate::StandingUseQuery;
use fleet::model::FleetState;

use super::{StartStep, judge_start, judge_use};
use crate::database::model::{RowDefect, StartDecision, StartRefusal};
use crate::database::sample_tests::{claim, host, start, stored};

fn refused(refusal: StartRefusal) -> StartStep {
    StartStep::Decided(StartDecision::Refused(refusal))
}

#[test]
fn a_claim_of_this_host_and_epoch_is_started() {
    let claimed = stored(FleetState::Claimed);
    let step = judge_start(&start(), Some(&claimed));
    assert_eq!(step, StartStep::OfClaim(claim(FleetState::Claimed)));
    let has = || refused(StartRefusal::NotClaimed { host: Some("host-a".to_owned()) });
    let (mut other_host, mut earlier, mut local) = (start(), start(), start());
    other_host.host = host("host-b");
    earlier.epoch = Some(2);
    local.epoch = None;
    for asked in [other_host, earlier, local] {
        assert_eq!(judge_start(&asked, Some(&claimed)), has(), "{asked:?}");
    }
    let queued = judge_start(&start(), Some(&stored(FleetState::Queued)));
    assert_eq!(queued, refused(StartRefusal::NotClaimed { host: None }));
}

#[test]
fn a_started_request_is_started_only_for_the_query_that_started_it() {
    let started = stored(FleetState::Started);
    assert_eq!(judge_start(&start(), Some(&started)), StartStep::Decided(StartDecision::Started));
    let again = || refused(StartRefusal::AlreadyStarted { host: "host-a".to_owned() });
    let (mut other_nonce, mut earlier, mut other_host) = (start(), start(), start());
    other_nonce.nonce = "f".repeat(32);
    earlier.epoch = Some(2);
    other_host.host = host("host-b");
    for asked in [other_nonce, earlier, other_host] {
        assert_eq!(judge_start(&asked, Some(&started)), again(), "{asked:?}");
    }
    let lost = judge_start(&start(), Some(&stored(FleetState::Indeterminate)));
    assert_eq!(lost, again(), "not even the same query starts it after its host was lost");
    let ended = judge_start(&start(), Some(&stored(FleetState::Ended)));
    assert_eq!(ended, refused(StartRefusal::Ended { host: "host-a".to_owned() }));
}

#[test]
fn a_local_request_is_new_to_the_database() {
    let mut local = start();
    local.epoch = None;
    assert_eq!(judge_start(&local, None), StartStep::Local);
    assert_eq!(judge_start(&start(), None), refused(StartRefusal::Unknown));
    local.document_sha256 = "e".repeat(64);
    let other = judge_start(&local, Some(&stored(FleetState::Claimed)));
    assert_eq!(other, refused(StartRefusal::OtherDocument));
}

#[test]
fn uses_end_at_both_limits() {
    let standing = |uses_per_hour_max| StandingUseQuery {
        approval: "SA-20260209-160501Z-x".to_owned(),
        document_sha256: "d".repeat(64),
        uses_max: 5,
        uses_per_hour_max,
    };
    assert_eq!(judge_use(&standing(None), 4, 4), None);
    assert_eq!(judge_use(&standing(None), 5, 0), Some(StartRefusal::UsedUp { uses: 5 }));
    assert_eq!(judge_use(&standing(Some(2)), 4, 1), None);
    assert_eq!(judge_use(&standing(Some(2)), 4, 2), Some(StartRefusal::HourUsedUp { uses: 2 }));
    assert_eq!(judge_use(&standing(Some(0)), 0, 0), Some(StartRefusal::HourUsedUp { uses: 0 }));
}

#[test]
fn every_refusal_has_the_object_and_an_action() {
    let host = || "host-b".to_owned();
    let defect = RowDefect { table: "claim", request: "TR-1".to_owned(), fault: "it is missing" };
    for refusal in [
        StartRefusal::Unknown,
        StartRefusal::OtherDocument,
        StartRefusal::NotClaimed { host: None },
        StartRefusal::NotClaimed { host: Some(host()) },
        StartRefusal::AlreadyStarted { host: host() },
        StartRefusal::Ended { host: host() },
        StartRefusal::UsedUp { uses: 5 },
        StartRefusal::HourUsedUp { uses: 2 },
        StartRefusal::Disputed,
        StartRefusal::Lost,
        StartRefusal::Defect(defect),
    ] {
        let text = refusal.to_string();
        assert!(text.starts_with("database of the fleet: "), "{text}");
        assert_eq!(text.matches("; help: ").count(), 1, "{text}");
    }
}

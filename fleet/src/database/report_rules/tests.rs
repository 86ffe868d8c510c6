//! A host reports its own requests, each once.

use fleet::model::FleetState;

use super::{ReportStep, judge_report};
use crate::database::model::{ReportAnswer, RequestKind, ResultRow};
use crate::database::sample_tests::{claim, host, result, stored};
use crate::database::start_rules::LOCAL_EPOCH;
use crate::database::stored::Summed;
use crate::database::sum::ClaimFacts;

#[test]
fn a_host_reports_what_it_has() {
    let had = [FleetState::Claimed, FleetState::Started, FleetState::Indeterminate];
    for state in had {
        let step = judge_report(&result(), Some(&stored(state)));
        assert_eq!(step, ReportStep::Record(claim(state)), "{state}");
    }
    let not_mine = ReportStep::Decided(ReportAnswer::NotMine);
    assert_eq!(judge_report(&result(), Some(&stored(FleetState::Queued))), not_mine);
    assert_eq!(judge_report(&result(), None), not_mine);
    let (mut other_host, mut earlier, mut other_document) = (result(), result(), result());
    other_host.host = host("host-b");
    earlier.epoch = Some(2);
    other_document.document_sha256 = "e".repeat(64);
    for reported in [other_host, earlier, other_document] {
        let step = judge_report(&reported, Some(&stored(FleetState::Started)));
        assert_eq!(step, not_mine, "{reported:?}");
    }
}

#[test]
fn the_same_record_is_reported_once() {
    let ended = stored(FleetState::Ended);
    let again = judge_report(&result(), Some(&ended));
    assert_eq!(again, ReportStep::Decided(ReportAnswer::AlreadyRecorded));
    let mut other_record = result();
    other_record.record_sha256 = "f".repeat(64);
    let other = judge_report(&other_record, Some(&ended));
    assert_eq!(other, ReportStep::Decided(ReportAnswer::NotMine));
}

#[test]
fn a_local_record_does_not_end_a_claim_of_the_fleet() {
    let mut found = stored(FleetState::Claimed);
    let of_first_epoch = ClaimFacts { epoch: LOCAL_EPOCH, ..claim(FleetState::Claimed) };
    found.claim = Some(Summed { sum: of_first_epoch.sum(), facts: of_first_epoch.clone() });
    let local = ResultRow { epoch: None, ..result() };
    let step = judge_report(&local, Some(&found));
    assert_eq!(step, ReportStep::Decided(ReportAnswer::NotMine));
    found.request.facts.kind = RequestKind::Local;
    assert_eq!(judge_report(&local, Some(&found)), ReportStep::Record(of_first_epoch));
}

//! Rows that were changed by hand are found, each by its table.

use fleet::model::FleetState;

use super::StoredRequest;
use crate::database::model::RequestKind;
use crate::database::sample_tests::{host, request, stored};
use crate::database::sum::{request_sum, result_sum};

/// Returns the table and the fault of the defect.
fn defect_of(
    state: FleetState,
    change: impl FnOnce(&mut StoredRequest),
) -> Option<(&'static str, &'static str)> {
    let mut rows = stored(state);
    change(&mut rows);
    rows.defect().map(|defect| (defect.table, defect.fault))
}

#[test]
fn sound_rows_have_no_defect() {
    for state in FleetState::ALL {
        assert_eq!(defect_of(*state, |_| {}), None, "{state}");
    }
    let refused = defect_of(FleetState::Ended, |rows| rows.start = None);
    assert_eq!(refused, None, "a refusal ends without a start");
    let standing = defect_of(FleetState::Queued, |rows| {
        rows.request.facts.kind = RequestKind::Standing;
        rows.request.sum = request_sum(&rows.request.facts);
        rows.claim = None;
    });
    assert_eq!(standing, None);
}

#[test]
fn a_changed_field_is_found() {
    use super::CHANGED;
    let audience = defect_of(FleetState::Queued, |rows| rows.request.facts.audience = None);
    assert_eq!(audience, Some(("request", CHANGED)));
    let state = defect_of(FleetState::Started, |rows| {
        rows.claim.as_mut().unwrap().facts.state = FleetState::Claimed;
    });
    assert_eq!(state, Some(("claim", CHANGED)));
    let host_of_start = defect_of(FleetState::Started, |rows| {
        "host-b".clone_into(&mut rows.start.as_mut().unwrap().facts.host);
    });
    assert_eq!(host_of_start, Some(("start", CHANGED)));
    let outcome = defect_of(FleetState::Ended, |rows| {
        "denied".clone_into(&mut rows.result.as_mut().unwrap().facts.outcome);
    });
    assert_eq!(outcome, Some(("result", CHANGED)));
}

#[test]
fn rows_that_do_not_belong_together_are_found() {
    use super::{FOREIGN, MISSING, PREMATURE};
    let without_claim = defect_of(FleetState::Claimed, |rows| rows.claim = None);
    assert_eq!(without_claim, Some(("claim", MISSING)));
    let without_start = defect_of(FleetState::Started, |rows| rows.start = None);
    assert_eq!(without_start, Some(("start", MISSING)));
    let without_result = defect_of(FleetState::Ended, |rows| rows.result = None);
    assert_eq!(without_result, Some(("result", MISSING)));
    // Also with a sum that fits: a claim that was set back must not be started again.
    let set_back = defect_of(FleetState::Started, |rows| {
        let claim = rows.claim.as_mut().unwrap();
        claim.facts.state = FleetState::Claimed;
        claim.sum = claim.facts.sum();
    });
    assert_eq!(set_back, Some(("start", PREMATURE)));
    let moved = defect_of(FleetState::Started, |rows| {
        let claim = rows.claim.as_mut().unwrap();
        claim.facts.host = Some("host-b".to_owned());
        claim.sum = claim.facts.sum();
    });
    assert_eq!(moved, Some(("start", FOREIGN)));
    let foreign_result = defect_of(FleetState::Ended, |rows| {
        let result = rows.result.as_mut().unwrap();
        result.facts.host = host("host-b");
        result.sum = result_sum(&result.facts);
    });
    assert_eq!(foreign_result, Some(("result", FOREIGN)));
}

#[test]
fn a_request_is_shown_with_its_state() {
    let shown = stored(FleetState::Ended).to_fleet_request();
    assert_eq!(shown.state, FleetState::Ended);
    assert_eq!((shown.request, shown.host), (request().id, Some(host("host-a"))));
    assert_eq!((shown.outcome.as_deref(), shown.exit_code), (Some("ok"), Some(-1)));
    let queued = stored(FleetState::Queued).to_fleet_request();
    assert_eq!((queued.host, queued.result, queued.exit_code), (None, None, None));
}

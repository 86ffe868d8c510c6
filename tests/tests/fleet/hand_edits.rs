//! Rows that a person with every right has changed. Such a row is named, it is not used, and its
//! request never runs because of it.

use std::time::Duration;

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{Bench, TestFleet};

/// Several looks at the tables by each host.
const SEVERAL_LOOKS: Duration = Duration::from_secs(5);

/// Asserts that `fleet status` names a table and a request.
#[track_caller]
fn assert_named(fleet: &TestFleet<'_>, table: &str, id: &str) {
    let status = fleet.status();
    status.assert_code(1);
    let defects = status.json()["defects"].as_array().unwrap().clone();
    let begin = format!("row of {table} for {id}: ");
    let is_it = |defect: &serde_json::Value| {
        let text = defect.as_str().unwrap();
        text.starts_with(&begin) && text.contains("; help: ")
    };
    assert!(defects.iter().any(is_it), "{begin:?} is not in {defects:#?}");
}

#[test]
fn a_request_whose_rows_were_changed_by_hand_never_runs() {
    let test = "a_request_whose_rows_were_changed_by_hand_never_runs";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let cases = [
        ("request", "UPDATE toolexec.request SET bytes = bytes + 1 WHERE id = 'ID'"),
        ("request", "UPDATE toolexec.request SET signatures = '{x}' WHERE id = 'ID'"),
        (
            "request",
            "UPDATE toolexec.request SET document_sha256 = repeat('ab', 32) WHERE id = 'ID'",
        ),
        ("claim", "UPDATE toolexec.claim SET epoch = 7 WHERE request = 'ID'"),
        ("claim", "UPDATE toolexec.claim SET audience = 'gpu' WHERE request = 'ID'"),
        (
            "claim",
            "UPDATE toolexec.claim SET state = 'claimed', host = 'host-b' WHERE request = 'ID'",
        ),
        ("claim", "DELETE FROM toolexec.claim WHERE request = 'ID'"),
    ];
    let ids = cases.map(|_| fleet.submit(&fleet.request()));
    let good = fleet.submit(&fleet.request());
    for ((_, edit), id) in cases.iter().zip(&ids) {
        fleet.database.edit_by_hand(&edit.replace("ID", id));
    }
    fleet.spawn();
    fleet.assert_run_once(&[good]);
    std::thread::sleep(SEVERAL_LOOKS);
    for ((table, edit), id) in cases.iter().zip(&ids) {
        assert_eq!(fleet.runs_of(id), 0, "{edit}");
        assert_named(&fleet, table, id);
    }
    // The hosts that have seen such a row name it too. A claim that is missing is not seen.
    for ((table, edit), id) in cases[..6].iter().zip(&ids) {
        let line = format!("row of {table} for {id}: ");
        assert!(fleet.logs().contains(&line), "{edit}: {}", fleet.logs());
    }
    // Another request is taken all the same.
    let next = fleet.submit(&fleet.request());
    fleet.assert_run_once(&[next]);
    fleet.stop();
}

#[test]
fn a_start_that_was_changed_by_hand_is_neither_repeated_nor_reported() {
    let test = "a_start_that_was_changed_by_hand_is_neither_repeated_nor_reported";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.hosts[0].spawn();
    let id = fleet.submit(&fleet.request_that("slow"));
    fleet.wait_for_states(&[("started", 1)]);
    let nonce = fleet.database.query("SELECT nonce FROM toolexec.start");
    fleet.database.edit_by_hand("UPDATE toolexec.start SET nonce = 'x'");
    fleet.hosts[1].spawn();
    fleet.hosts[0].service.record_of(&id).assert_outcome("ok");
    std::thread::sleep(SEVERAL_LOOKS);
    assert_eq!((fleet.state_of(&id).as_str(), fleet.runs_of(&id)), ("started", 1));
    assert_named(&fleet, "start", &id);
    assert!(fleet.hosts[0].agent_log().contains(&format!("row of start for {id}: ")));
    // The record was kept, and is reported when the row is as it was.
    let edit = format!("UPDATE toolexec.start SET nonce = '{nonce}'");
    fleet.database.edit_by_hand(&edit);
    fleet.assert_run_once(&[id]);
    fleet.status().assert_code(0);
    fleet.stop();
}

#[test]
fn a_result_that_was_changed_by_hand_is_named_and_not_shown() {
    let test = "a_result_that_was_changed_by_hand_is_named_and_not_shown";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.spawn();
    let id = fleet.submit(&fleet.request_that("fail"));
    assert_eq!(fleet.ended(std::slice::from_ref(&id))[0]["outcome"], "exit_nonzero");
    fleet.status().assert_code(0);
    fleet.database.edit_by_hand("UPDATE toolexec.result SET outcome = 'ok', exit_code = 0");
    assert_named(&fleet, "result", &id);
    let shown = fleet.toolexec(&["show", &id]);
    shown.assert_code(3);
    let line = format!("row of result for {id}: ");
    shown.assert_stderr(&[line.as_str(), "help: "]);
    // A request that was put back into the queue by hand does not run again.
    fleet.database.edit_by_hand(
        "DELETE FROM toolexec.result; DELETE FROM toolexec.start; \
         UPDATE toolexec.claim SET state = 'queued', host = NULL, epoch = 1",
    );
    std::thread::sleep(SEVERAL_LOOKS);
    assert_eq!(fleet.runs_of(&id), 1);
    assert_named(&fleet, "claim", &id);
    fleet.stop();
}

/// The sum of a queued claim without an audience, as the programs compute it.
const QUEUED_SUM: &str = "encode(sha256(convert_to(
    'toolexec-fleet claim v1' || E'\\n' || octet_length(request) || ':' || request || E'\\n' \
    || '64:' || document_sha256 || E'\\n-\\n-\\n1:1\\n6:queued\\n', 'UTF8')), 'hex')";

/// A false database with right sums can ask for a second run. The host that ran the request knows
/// it from its own ledger.
#[test]
fn a_forged_claim_is_stopped_by_the_ledger_of_its_host() {
    let test = "a_forged_claim_is_stopped_by_the_ledger_of_its_host";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.spawn();
    let id = fleet.submit(&fleet.request());
    fleet.assert_run_once(std::slice::from_ref(&id));
    fleet.database.edit_by_hand(&format!(
        "DELETE FROM toolexec.result; DELETE FROM toolexec.start; \
         UPDATE toolexec.claim SET state = 'queued', host = NULL, epoch = 1, sum = {QUEUED_SUM}"
    ));
    fleet.status().assert_code(0);
    // It is claimed again, and its end is the record of the first run.
    fleet.assert_run_once(std::slice::from_ref(&id));
    assert_eq!(fleet.row(&id)["host"], "host-a");
    assert_eq!(fleet.database.query("SELECT epoch FROM toolexec.claim"), "1");
    fleet.stop();
}

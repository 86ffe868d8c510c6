//! A request from its submission to its record, over two hosts.

use std::fs;
use std::path::Path;

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{Bench, CliOutput, SavedRequest, TestFleet};

#[test]
fn a_request_runs_on_one_host_and_its_record_verifies_anywhere() {
    let test = "a_request_runs_on_one_host_and_its_record_verifies_anywhere";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.spawn();
    let audiences = ["host-a", "host-b", "gpu", "cpu", "farm"];
    let mut ids: Vec<String> =
        audiences.iter().map(|audience| fleet.submit(&fleet.request_for(audience))).collect();
    ids.push(fleet.submit(&fleet.request()));
    fleet.assert_run_once(&ids);
    let rows = fleet.ended(&ids);
    let hosts: Vec<_> = rows[..4].iter().map(|row| row["host"].as_str().unwrap()).collect();
    assert_eq!(hosts, ["host-a", "host-b", "host-a", "host-b"]);
    assert_eq!(rows[0]["submitted_by"], "alice");
    let shown = fleet.toolexec(&["show", &ids[0]]);
    shown.assert_code(0);
    for line in [
        format!("request    {}", ids[0]),
        "state      ok".to_owned(),
        "audience   host-a".to_owned(),
        "host       host-a".to_owned(),
    ] {
        assert!(shown.stdout.lines().any(|it| it == line), "{line}: {shown:#?}");
    }
    // Each record is the one of its host, byte for byte, and verifies on a third machine.
    let collected = benches[0].scratch().dir("collected");
    for (id, row) in ids.iter().zip(&rows) {
        let fetched = fleet.fetch(id, &collected);
        let name = fetched.file_name().unwrap().to_str().unwrap();
        assert_eq!(row["result_id"], name);
        let host = fleet.hosts.iter().find(|host| row["host"] == host.name.as_str()).unwrap();
        let original = host.service.path("results").join(name);
        // An empty directory does not move.
        let files = "find . -type f -exec sha256sum {} + | sort -k2";
        let digests = |at: &Path| {
            let listed =
                CliOutput::of(&mut benches[0].shell(&format!("cd {} && {files}", at.display())));
            listed.assert_code(0);
            listed.stdout
        };
        assert_eq!(digests(&fetched), digests(&original));
    }
    let verified = fleet.verify(&collected);
    verified.assert_code(0);
    let verified = verified.json_lines();
    assert_eq!(verified.len(), ids.len());
    for (id, row) in ids.iter().zip(&rows) {
        let record = verified.iter().find(|it| it["result_id"] == row["result_id"]);
        let record = record.unwrap_or_else(|| panic!("{id} is not verified"));
        assert_eq!(record["host"], row["host"], "{record:#}");
        assert_eq!(record["log"]["origin"], row["host"], "{record:#}");
    }
    fleet.status().assert_code(0);
    for host in &fleet.hosts {
        host.service.verify().assert_code(0);
        host.service.fsck().assert_code(0);
    }
    fleet.stop();
}

#[test]
fn a_submission_can_be_repeated_and_runs_once() {
    let test = "a_submission_can_be_repeated_and_runs_once";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.spawn();
    let saved = fleet.save(&fleet.request());
    let submitters = 4;
    let outputs: Vec<CliOutput> = std::thread::scope(|scope| {
        let submit = || fleet.submit_saved(&saved);
        let running: Vec<_> = (0..submitters).map(|_| scope.spawn(submit)).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let is_new = |it: &&CliOutput| it.stdout.contains(": submitted to the fleet\n");
    outputs.iter().for_each(|output| output.assert_code(0));
    assert_eq!(outputs.iter().filter(is_new).count(), 1, "{outputs:#?}");
    let id = saved.id.clone();
    fleet.assert_run_once(std::slice::from_ref(&id));
    let again = fleet.submit_saved(&saved);
    again.assert_code(0);
    let expected = format!("{id}: already in the fleet; nothing was added\n");
    assert_eq!(again.stdout, expected);
    // Another document with this id is not the same request.
    let other = benches[0].scratch().dir("other").join(format!("{id}.md"));
    let text = fs::read_to_string(&saved.path).unwrap();
    fs::write(&other, text.replacen("A test.", "Another.", 1)).unwrap();
    let (other, inputs) = (other.to_str().unwrap(), saved.inputs.to_str().unwrap());
    let refused = fleet.toolexec(&["submit", other, "--inputs", inputs]);
    refused.assert_code(3);
    refused.assert_stderr(&[id.as_str(), "the fleet has another document of this id", "help: "]);
    assert_eq!(fleet.runs_of(&id), 1);
    fleet.stop();
}

/// The database gives no authority: each host decides by its own policy.
#[test]
fn a_request_without_its_signatures_is_refused_and_recorded() {
    let test = "a_request_without_its_signatures_is_refused_and_recorded";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let config = |bench: &Bench| tool.service_config(bench).with_one_signature();
    let fleet = TestFleet::prepare_with(test, &benches, tool.count(), config);
    let Some(mut fleet) = fleet else { return };
    fleet.spawn();
    let id = fleet.submit(&fleet.request());
    let row = fleet.ended(std::slice::from_ref(&id)).remove(0);
    assert_eq!((&row["outcome"], &row["host"]), (&"refused".into(), &"host-a".into()));
    let record = fleet.hosts[0].service.record_of(&id);
    record.assert_violation("approval.count");
    assert_eq!(fleet.runs_of(&id), 0);
    fleet.stop();
}

/// Signs a request as the approver.
fn sign(fleet: &TestFleet<'_>, saved: &SavedRequest) {
    let (key, path) = (fleet.key.display(), saved.path.display());
    let script = format!("ssh-keygen -Y sign -n approve.tool-exec@threegate -f {key} {path}");
    CliOutput::of(&mut fleet.hosts[0].bench.shell(&script)).assert_code(0);
}

/// A held request keeps its claim, and later signatures follow it.
#[test]
fn signatures_that_come_later_reach_the_host_of_the_request() {
    let test = "signatures_that_come_later_reach_the_host_of_the_request";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let config =
        |bench: &Bench| tool.service_config(bench).with_one_signature().with_hold_sec(3600);
    let fleet = TestFleet::prepare_with(test, &benches, tool.count(), config);
    let Some(mut fleet) = fleet else { return };
    fleet.spawn();
    let saved = fleet.save(&fleet.request());
    fleet.submit_saved(&saved).assert_code(0);
    let held = format!("public/held/{}.md.json", saved.id);
    fleet.wait_for("a hold", |fleet| {
        fleet.hosts.iter().any(|host| host.service.path(&held).exists())
    });
    assert_eq!(fleet.state_of(&saved.id), "claimed");
    sign(&fleet, &saved);
    let added = fleet.submit_saved(&saved);
    added.assert_code(0);
    assert_eq!(
        added.stdout,
        format!("{}: already in the fleet; added 1 signature file\n", saved.id)
    );
    fleet.assert_run_once(&[saved.id]);
    fleet.stop();
}

/// Held requests wait for people. Those of one submitter leave places for the others.
#[test]
fn a_submitter_with_its_share_of_places_delays_no_other() {
    let test = "a_submitter_with_its_share_of_places_delays_no_other";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let config =
        |bench: &Bench| tool.service_config(bench).with_one_signature().with_hold_sec(3600);
    let fleet = TestFleet::prepare_with(test, &benches, tool.count(), config);
    let Some(mut fleet) = fleet else { return };
    fleet.database.query("CREATE ROLE bob LOGIN IN ROLE toolexec_submitter");
    fleet.hosts[0].set_agent("claims_max", "1");
    // Four times `claims_max` is the share of one submitter.
    for _ in 0..6 {
        fleet.submit(&fleet.request());
    }
    fleet.spawn();
    fleet.wait_for_states(&[("claimed", 4), ("queued", 2)]);
    let saved = fleet.save(&fleet.request());
    sign(&fleet, &saved);
    let (path, url) = (saved.path.to_str().unwrap(), fleet.database.url("bob"));
    benches[0].toolexec(["submit", path, "--fleet", url.as_str()]).assert_code(0);
    fleet.assert_run_once(&[saved.id]);
    fleet.wait_for_states(&[("claimed", 4), ("queued", 2), ("ended", 1)]);
    fleet.stop();
}

//! The signed list as the agent uses it: never an older one, one of another fleet, or one whose
//! signature does not count.

use std::fs;

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{Bench, CliOutput, TestFleet};

#[test]
fn an_agent_never_uses_an_older_list() {
    let test = "an_agent_never_uses_an_older_list";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let path = fleet.hosts[0].list_path();
    let signature = path.with_extension("yaml.sig");
    let read = || [&path, &signature].map(|file| fs::read(file).unwrap());
    let older = read();
    fleet.publish_list(|text| text);
    fleet.spawn();
    let id = fleet.submit(&fleet.request());
    fleet.assert_run_once(&[id]);
    let newer = read();
    let install = |[list, its_signature]: &[Vec<u8>; 2]| {
        fs::write(&signature, its_signature).unwrap();
        fs::write(&path, list).unwrap();
    };
    // A running agent keeps the list that it has.
    install(&older);
    let refusal = "serial 1 is lower than 2, which this host has used before";
    fleet.wait_for("the refusal", |fleet| fleet.hosts[0].agent_log().contains(refusal));
    let id = fleet.submit(&fleet.request());
    fleet.assert_run_once(&[id]);
    // An agent that starts has none.
    fleet.hosts[0].stop_agent();
    let refused = CliOutput::of(&mut fleet.hosts[0].agent_command("serve"));
    refused.assert_code(3);
    refused.assert_stderr(&[refusal, "help: "]);
    install(&newer);
    fleet.hosts[0].spawn_agent();
    let id = fleet.submit(&fleet.request());
    fleet.assert_run_once(&[id]);
    fleet.stop();
}

#[test]
fn an_agent_needs_its_place_in_a_list_whose_signature_counts() {
    let test = "an_agent_needs_its_place_in_a_list_whose_signature_counts";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let refused = |fleet: &TestFleet<'_>, reasons: &[&str]| {
        let output = CliOutput::of(&mut fleet.hosts[0].agent_command("serve"));
        output.assert_code(3);
        output.assert_stderr(reasons);
        output.assert_stderr(&["help: "]);
    };
    fleet.publish_list(|text| {
        text.replace("name: host-a", "name: host-z").replace("'host-a+", "'host-z+")
    });
    refused(&fleet, &["does not have host host-a"]);
    fleet.publish_list(|text| text);
    let path = fleet.hosts[0].list_path();
    let good = fs::read_to_string(&path).unwrap();
    fs::write(&path, good.replace("gpu", "tpu")).unwrap();
    refused(&fleet, &["fleet.yaml", "the signature: does not verify"]);
    fs::write(&path, &good).unwrap();
    let signature = path.with_extension("yaml.sig");
    let kept = fs::read(&signature).unwrap();
    fs::remove_file(&signature).unwrap();
    refused(&fleet, &["fleet.yaml.sig: does not exist; help: sign the list with `ssh-keygen"]);
    fs::write(&signature, kept).unwrap();
    // A running agent cannot be led to another fleet.
    fleet.publish_list(|text| text);
    fleet.spawn();
    let other = fleet.make_another_fleet("elsewhere");
    let ours = fleet.fleet_id.clone();
    fleet.publish_list(|text| text.replace(&ours, &other));
    fleet.wait_for("the refusal", |fleet| {
        fleet.hosts[0].agent_log().contains("the fleet list in use stays")
    });
    fleet.stop();
}

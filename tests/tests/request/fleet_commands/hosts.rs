//! The commands about a fleet and its hosts: init, status, hosts and lost.

use std::fs;
use std::path::Path;

use serde_json::json;
use toolexec_tests::{CliOutput, skip, ssh_keygen_works};

use super::{FLEET_ID, FleetBench, NAMESPACE, REQUEST, URL, status};

#[test]
fn init_prints_what_each_role_needs() {
    let made = |former_version: Option<i32>| {
        json!({ "initialised": {
            "fleet_id": FLEET_ID,
            "schema_version": 2,
            "former_version": former_version,
        }})
    };
    let fleet = FleetBench::new(&[&[made(None)], &[made(Some(1))], &[made(Some(1))]]);
    let output = fleet.run(&["fleet", "init", "--database", URL, "--name", "farm"]);
    output.assert_code(0);
    for line in [
        "farm: tables of version 2 created",
        &format!("  fleet_id: {FLEET_ID}"),
        "  CREATE ROLE \"host-a\" LOGIN IN ROLE toolexec_host;",
        "  CREATE ROLE \"submitter\" LOGIN IN ROLE toolexec_submitter;",
    ] {
        assert!(output.stdout.lines().any(|it| it == line), "{line}: {output:#?}");
    }
    assert_eq!(fleet.commands()[0]["act"], json!({ "init": { "fleet": "farm" } }));
    let names = ["--host", "gpu-1", "--host", "gpu-2", "--submitter", "alice"];
    let words = ["fleet", "init", "--database", URL, "--name", "farm", "--format", "json"];
    let object = fleet.run(&[&words[..], &names].concat()).json();
    assert_eq!((&object["fleet_id"], &object["former_version"]), (&FLEET_ID.into(), &1.into()));
    let expected = [
        "CREATE ROLE \"gpu-1\" LOGIN IN ROLE toolexec_host;",
        "CREATE ROLE \"gpu-2\" LOGIN IN ROLE toolexec_host;",
        "CREATE ROLE \"alice\" LOGIN IN ROLE toolexec_submitter;",
    ];
    assert_eq!(object["sql"], json!(expected));
    let output = fleet.run(&["fleet", "init", "--database", URL, "--name", "farm"]);
    assert!(output.stdout.starts_with("farm: tables of version 2 updated from version 1\n"));
    let output = fleet.run(&["fleet", "init", "--database", URL, "--name", "Farm\""]);
    output.assert_code(3);
    output.assert_stderr(&["not a valid name"]);
}

#[test]
fn status_is_a_check() {
    let mut bad = status();
    bad["status"]["defects"] = json!(["row of start for TR-1: its sum differs; help: find out"]);
    let mut disputed = status();
    disputed["status"]["hosts"][0]["disputes"] = json!([["host-b", "its log was cut back"]]);
    let fleet = FleetBench::new(&[&[status()], &[status()], &[bad], &[disputed]]);
    let read =
        |words: &[&str]| fleet.run(&[&["fleet", "status", "--database", URL], words].concat());
    let output = read(&[]);
    output.assert_code(0);
    let expected = format!(
        "fleet     farm, id {FLEET_ID}\nrequests  12 queued, 400 ended\nhost      host-a\n          \
         beat 2 s ago, 3 claimed, 1 started, log of 412 entries cosigned by host-b\n          \
         labels gpu\n"
    );
    assert_eq!(output.stdout, expected);
    let object = read(&["--format", "json"]).json();
    assert_eq!(object["requests"], json!({ "queued": 12, "ended": 400 }));
    assert_eq!(object["hosts"][0]["log_size"], 412);
    let output = read(&[]);
    output.assert_code(1);
    assert!(output.stdout.contains("defect    row of start for TR-1"), "{output:#?}");
    let output = read(&[]);
    output.assert_code(1);
    assert!(output.stdout.contains("disputed by host-b: its log was cut back"), "{output:#?}");
}

/// Writes a fleet list, an operator's key and the file that allows it. The list is signed. Logs a
/// skip of the test and returns `None` without a working `ssh-keygen`.
fn signed_list(test: &str, fleet: &FleetBench, labels: &str) -> Option<()> {
    if !ssh_keygen_works(test) {
        return None;
    }
    let home = fleet.bench.home();
    for key in ["operator.key", "record.key"] {
        let made = ["-q", "-t", "ed25519", "-N", "", "-f", key];
        CliOutput::of(fleet.bench.command("ssh-keygen").args(made)).assert_code(0);
    }
    let public = |key: &str| {
        let line = fs::read_to_string(home.join(format!("{key}.pub"))).unwrap();
        line.split(' ').take(2).collect::<Vec<_>>().join(" ").trim().to_owned()
    };
    let operator = public("operator.key");
    fs::write(
        home.join("allowed_signers"),
        format!("olga namespaces=\"{NAMESPACE}\" {operator}\n"),
    )
    .unwrap();
    let record_key = public("record.key");
    let text = format!(
        "fleet: farm\nfleet_id: {FLEET_ID}\nserial: 1\nhosts:\n  - name: host-a\n    labels: \
         [{labels}]\n    record_keys: ['tool-exec {record_key}']\n    log_key: \
         host-a+01234567+AAAA\n    witness_key: host-a-witness+01234567+BBBB\n"
    );
    fs::write(home.join("fleet.yaml"), text).unwrap();
    let sign = ["-q", "-Y", "sign", "-f", "operator.key", "-n", NAMESPACE, "fleet.yaml"];
    CliOutput::of(fleet.bench.command("ssh-keygen").args(sign)).assert_code(0);
    Some(())
}

const LISTED: [&str; 4] = ["--list", "fleet.yaml", "--approvers", "allowed_signers"];

#[test]
fn hosts_are_compared_with_the_signed_list() {
    let mut other = status();
    other["status"]["hosts"][0]["host"] = "host-b".into();
    let mut another_fleet = status();
    another_fleet["status"]["fleet_id"] = "11111111".into();
    let fleet = FleetBench::new(&[&[status()], &[other], &[another_fleet], &[status()]]);
    if signed_list("hosts_are_compared_with_the_signed_list", &fleet, "gpu").is_none() {
        return;
    }
    let hosts = |words: &[&str]| {
        fleet.run(&[&["fleet", "hosts", "--database", URL], &LISTED[..], words].concat())
    };
    let output = hosts(&[]);
    output.assert_code(0);
    assert!(output.stdout.starts_with("host      host-a\n          beat 2 s ago"), "{output:#?}");
    let output = hosts(&["--format", "json"]);
    output.assert_code(1);
    let rows = output.json_lines();
    assert_eq!(rows[0]["differences"], json!(["has never connected"]), "{output:#?}");
    assert_eq!(rows[1]["differences"], json!(["is not in the list"]), "{output:#?}");
    let output = hosts(&[]);
    output.assert_code(2);
    output.assert_stderr(&["with id 11111111", "help: "]);
    // A list that was changed after its signature is not used.
    let path = fleet.bench.home().join("fleet.yaml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("[gpu]", "[cpu]")).unwrap();
    let output = hosts(&[]);
    output.assert_code(3);
    output.assert_stderr(&["fleet.yaml: the signature: does not verify", "help: sign it"]);
    assert_eq!(fleet.commands().len(), 3, "the database is asked after the list was checked");
}

#[test]
fn labels_that_differ_from_the_list_are_named() {
    let fleet = FleetBench::new(&[&[status()]]);
    if signed_list("labels_that_differ_from_the_list_are_named", &fleet, "cpu, gpu").is_none() {
        return;
    }
    let words = ["fleet", "hosts", "--database", URL];
    let output = fleet.run(&[&words[..], &LISTED].concat());
    output.assert_code(1);
    let expected = "its labels are gpu, and those of the list cpu, gpu";
    assert!(output.stdout.contains(expected), "{output:#?}");
}

#[test]
fn lost_signs_an_order_for_this_fleet_alone() {
    let answer = json!({ "lost": { "requests": [REQUEST], "released": 3 } });
    let mut another_fleet = status();
    another_fleet["status"]["fleet_id"] = "11111111".into();
    let fleet =
        FleetBench::new(&[&[status()], &[answer], &[status()], &[another_fleet], &[status()]]);
    if signed_list("lost_signs_an_order_for_this_fleet_alone", &fleet, "gpu").is_none() {
        return;
    }
    let lost_with = |key: &str, host: &str| {
        let words = ["fleet", "lost", host, "--database", URL, "--sign-key", key];
        fleet.run(&[&words[..], &LISTED].concat())
    };
    let lost = |host: &str| lost_with("operator.key", host);
    let output = lost("host-a");
    output.assert_code(0);
    output.assert_stderr(&["its last beat was 2 s ago"]);
    assert!(output.stdout.contains(&format!("{REQUEST}: indeterminate\n")), "{output:#?}");
    assert!(output.stdout.ends_with("3 requests wait for another host\n"), "{output:#?}");
    let act = fleet.commands().remove(1)["act"]["lost"].clone();
    let order = act["order"].as_str().unwrap();
    let expected = format!("toolexec-fleet-lost v1\nhost host-a\nfleet {FLEET_ID}\nat ");
    assert!(order.starts_with(&expected), "{order}");
    let home = fleet.bench.home();
    fs::write(home.join("order"), order).unwrap();
    fs::write(home.join("order.sig"), act["signature"].as_str().unwrap()).unwrap();
    let check = format!(
        "ssh-keygen -Y verify -f allowed_signers -I olga -n {NAMESPACE} -s order.sig < order"
    );
    CliOutput::of(&mut fleet.bench.shell(&check)).assert_code(0);
    let output = lost("host-z");
    output.assert_code(2);
    output.assert_stderr(&["host-z: no such host in the fleet"]);
    let output = lost("host-a");
    output.assert_code(2);
    output.assert_stderr(&["the database is of farm with id 11111111"]);
    // The hosts would not count the order of a key that is not an operator's.
    let output = lost_with("record.key", "host-a");
    output.assert_code(2);
    output.assert_stderr(&["order of a lost host: ", "is not in allowed_signers\nhelp: "]);
    assert_eq!(fleet.commands().len(), 5, "no order was sent");
}

#[test]
fn an_order_that_no_key_checks_is_reported() {
    if Path::new("/etc/toolexec").exists() {
        return skip("an_order_that_no_key_checks_is_reported", "this host may have keys");
    }
    let answer = json!({ "lost": { "requests": [], "released": 0 } });
    let fleet = FleetBench::new(&[&[status()], &[answer]]);
    if signed_list("an_order_that_no_key_checks_is_reported", &fleet, "gpu").is_none() {
        return;
    }
    let words = ["fleet", "lost", "host-a", "--database", URL, "--sign-key", "operator.key"];
    let output = fleet.run(&words);
    output.assert_code(0);
    output.assert_stderr(&["host-a: the order is sent unchecked", "help: check it with --appr"]);
}

#[test]
fn a_host_is_shown_as_lost_only_by_the_order_of_an_operator() {
    let fleet = FleetBench::new(&[]);
    let test = "a_host_is_shown_as_lost_only_by_the_order_of_an_operator";
    if signed_list(test, &fleet, "gpu").is_none() {
        return;
    }
    let home = fleet.bench.home();
    let order =
        format!("toolexec-fleet-lost v1\nhost host-a\nfleet {FLEET_ID}\nat 2025-02-09T16:05:01Z\n");
    fs::write(home.join("order"), &order).unwrap();
    let sign = ["-q", "-Y", "sign", "-f", "operator.key", "-n", NAMESPACE, "order"];
    CliOutput::of(fleet.bench.command("ssh-keygen").args(sign)).assert_code(0);
    let signature = fs::read_to_string(home.join("order.sig")).unwrap();
    let changed = order.replace("16:05:01", "16:05:02");
    for (number, order) in (1..).zip([&order, &changed, &order, &changed]) {
        let mut answer = status();
        answer["status"]["hosts"][0]["lost"] = json!({ "order": order, "signature": signature });
        let file = fleet.directory.join(format!("answers.{number}"));
        fs::write(file, format!("{answer}\n")).unwrap();
    }
    for (command, options) in [("status", &LISTED[2..]), ("hosts", &LISTED[..])] {
        let words = ["fleet", command, "--database", URL];
        let read = || fleet.run(&[&words[..], options].concat());
        let output = read();
        output.assert_code(0);
        let declared = "declared lost at 2025-02-09T16:05:01Z by olga with key SHA256:";
        assert!(output.stdout.contains(&format!("  {declared}")), "{output:#?}");
        let output = read();
        output.assert_code(1);
        let refused = "not declared lost: order of a lost host: the signature: ";
        assert!(output.stdout.contains(refused), "{output:#?}");
        assert!(!output.stdout.contains(declared), "{output:#?}");
    }
}

//! Standing approvals in a fleet: their uses are counted over all hosts, and a revocation reaches
//! each of them.

use std::fs;

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{
    Bench, CliOutput, RequestText, STANDING_HOST, STANDING_NAMESPACE, SavedStanding, StandingText,
    TestFleet,
};

const SCRIPT: &str = "the tool does not read it";
const USES_MAX: usize = 5;
const USES: usize = 12;

fn of_label(host: &str) -> (String, String) {
    (format!("x-audience: \"{STANDING_HOST}\""), format!("x-audience: \"{host}\""))
}

/// Signs and submits a standing approval for the label `farm`, and waits until every host has it.
/// Its uses run a tool that sleeps, with one of these arguments.
fn admitted(fleet: &TestFleet<'_>, arguments: &[String]) -> SavedStanding {
    let (from, to) = of_label("farm");
    let listed: Vec<String> = arguments.iter().map(|it| format!("\"{it}\"")).collect();
    let text = StandingText::of_script(SCRIPT)
        .edit("integer: [1, 100]", &format!("choice: [{}]", listed.join(", ")))
        .edit("script.py, \"7\"]", &format!("script.py, \"{}\", slow]", arguments[0]))
        .edit("script.py, \"0\"]", "script.py, \"0\", slow]")
        .edit("- {last}", "- {last}\n- slow")
        .edit("uses_max: 100", &format!("uses_max: {USES_MAX}"))
        .edit("uses_per_hour_max: 100", &format!("uses_per_hour_max: {USES_MAX}"))
        .edit(&from, &to);
    let standing = text.save(fleet.hosts[0].bench.scratch().path());
    standing.sign(STANDING_NAMESPACE, &fleet.key);
    fleet.submit_file(&standing.path).assert_code(0);
    wait_for_publication(fleet, &standing, true);
    standing
}

fn wait_for_publication(fleet: &TestFleet<'_>, standing: &SavedStanding, is_wanted: bool) {
    let file = format!("public/standing/{}.md", standing.id);
    fleet.wait_for("the standing approval on every host", |fleet| {
        fleet.hosts.iter().all(|host| host.service.path(&file).exists() == is_wanted)
    });
}

fn use_of(standing: &SavedStanding, argument: &str) -> RequestText {
    let (from, to) = of_label("farm");
    standing.use_of(SCRIPT, &format!("{argument} slow")).edit(&from, &to)
}

/// Submits a use, and returns its id.
fn submit_use(fleet: &TestFleet<'_>, standing: &SavedStanding, argument: &str) -> String {
    fleet.submit(&use_of(standing, argument))
}

#[test]
fn uses_are_counted_over_all_hosts() {
    let test = "uses_are_counted_over_all_hosts";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    for host in &fleet.hosts {
        // So that each host takes some of the uses.
        host.service.configure("runs_max: 2");
        host.set_agent("claims_max", "2");
    }
    fleet.spawn();
    let names: Vec<String> = (0..USES).map(|number| format!("use-{number}")).collect();
    let arguments: Vec<String> = names.iter().map(|it| fleet.counted.run_argument(it)).collect();
    let standing = admitted(&fleet, &arguments);
    fleet.stop();
    let ids: Vec<String> = arguments.iter().map(|it| submit_use(&fleet, &standing, it)).collect();
    for host in &mut fleet.hosts {
        host.spawn_agent();
        host.begin_daemon();
    }
    let rows = fleet.ended(&ids);
    let counts = fleet.counted.counts();
    let runs: Vec<u32> =
        names.iter().map(|name| counts.get(name).copied().unwrap_or_default()).collect();
    assert!(runs.iter().all(|count| *count <= 1), "{runs:?}");
    assert_eq!(runs.iter().filter(|count| **count == 1).count(), USES_MAX, "{rows:#?}");
    let uses = "SELECT count(*), count(DISTINCT host) FROM toolexec.standing_use";
    assert_eq!(fleet.database.query(uses), format!("{USES_MAX}|2"));
    for (row, count) in rows.iter().zip(&runs) {
        let outcome = row["outcome"].as_str().unwrap();
        let is_right = match count {
            1 => outcome == "ok",
            _ => ["refused", "setup_error"].contains(&outcome),
        };
        assert!(is_right, "{count} runs: {row:#}");
    }
    // A refused start is recorded with its reason.
    let spent = "uses of the standing approval are spent, over all hosts";
    let records = fleet.hosts.iter().flat_map(|host| host.service.records());
    assert!(records.filter(|it| it.text.contains(spent)).count() > 0, "{}", fleet.logs());
    for host in &fleet.hosts {
        // Only the signed list says that the label of the approval is one of this host.
        let results = host.service.path("results");
        fleet.verify(&results).assert_code(0);
        let mut plain = host.bench.command("toolexec");
        plain.arg("verify").arg(&results).arg("--state").arg(host.service.state());
        let plain = CliOutput::of(&mut plain);
        plain.assert_code(1);
        let name = &host.name;
        let fault = format!(
            "x-audience is farm, and the record is in the log of {name}; help: if farm is a label \
             of a fleet, add --fleet fleet.yaml"
        );
        assert!(plain.stdout.contains(&fault), "{plain:#?}");
        host.service.fsck().assert_code(0);
    }
    fleet.status().assert_code(0);
    fleet.stop();
}

#[test]
fn uses_in_the_spool_of_one_host_are_counted_with_the_others() {
    let test = "uses_in_the_spool_of_one_host_are_counted_with_the_others";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.spawn();
    let names: Vec<String> = (0..=USES_MAX).map(|number| format!("use-{number}")).collect();
    let arguments: Vec<String> = names.iter().map(|it| fleet.counted.run_argument(it)).collect();
    let standing = admitted(&fleet, &arguments);
    let (local, submitted) = arguments.split_at(2);
    let records = |arguments: &[String]| {
        let requests: Vec<_> = arguments.iter().map(|it| use_of(&standing, it)).collect();
        requests.iter().for_each(|it| fleet.place_on(&fleet.hosts[1], it));
        requests.iter().map(|it| fleet.hosts[1].service.record_of(&it.id)).collect::<Vec<_>>()
    };
    for record in records(local) {
        record.assert_outcome("ok");
    }
    let ids: Vec<_> = submitted.iter().map(|it| submit_use(&fleet, &standing, it)).collect();
    let rows = fleet.ended(&ids);
    assert_eq!(rows.iter().filter(|row| row["outcome"] == "ok").count(), USES_MAX - 2);
    let counts = fleet.counted.counts();
    assert_eq!((counts.len(), counts.values().max()), (USES_MAX, Some(&1)), "{counts:?}");
    // None is left for the host's own requests either.
    let spent = records(&arguments[..1]);
    spent[0].assert_outcome("setup_error");
    let reason = "uses of the standing approval are spent, over all hosts";
    assert!(spent[0].text.contains(reason), "{}", spent[0].text);
    fleet.stop();
}

#[test]
fn a_revocation_reaches_every_host() {
    let test = "a_revocation_reaches_every_host";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    fleet.spawn();
    let argument = fleet.counted.run_argument("use");
    let standing = admitted(&fleet, std::slice::from_ref(&argument));
    let before = submit_use(&fleet, &standing, &argument);
    assert_eq!(fleet.ended(&[before])[0]["outcome"], "ok");
    // One host is away when it is revoked.
    fleet.hosts[1].stop();
    fs::remove_file(standing.path.with_extension("md.sig")).unwrap();
    standing.sign("reject.tool-exec@threegate", &fleet.key);
    let added = fleet.submit_file(&standing.path);
    added.assert_code(0);
    assert!(added.stdout.contains("added 1 signature file"), "{added:#?}");
    fleet.hosts[1].spawn();
    wait_for_publication(&fleet, &standing, false);
    let ids = [0, 1, 2, 3].map(|_| submit_use(&fleet, &standing, &argument));
    for row in fleet.ended(&ids) {
        assert_eq!(row["outcome"], "refused", "{row:#}");
        let id = row["request_id"].as_str().unwrap();
        let host = fleet.hosts.iter().find(|host| row["host"] == host.name.as_str()).unwrap();
        let record = host.service.record_of(id);
        assert!(record.text.contains("revoked"), "{}", record.text);
    }
    assert_eq!(fleet.runs_of("use"), 1);
    fleet.stop();
}

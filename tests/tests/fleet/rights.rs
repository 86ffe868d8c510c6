//! The rights of the two group roles. The database enforces them, not the programs: here `psql`
//! tries what a submitter or a host must not do.

use toolexec_tests::crash_support::CountedTool;
use toolexec_tests::{Bench, TestFleet};

/// A digest of the right length.
const SHA256: &str = "repeat('ab', 32)";

/// Asserts that a role may not run a statement, and that it changes no row.
#[track_caller]
fn assert_refused(fleet: &TestFleet<'_>, role: &str, statement: &str) {
    let before = contents(fleet);
    let tried = fleet.database.sql(role, statement);
    assert_ne!(tried.code, Some(0), "{role}: {statement}");
    assert!(tried.stderr.contains("ERROR"), "{role}: {statement}: {tried:#?}");
    assert_eq!(contents(fleet), before, "{role}: {statement}");
}

/// Asserts that a statement of a role changes nothing, because the role sees no such row.
#[track_caller]
fn assert_without_effect(fleet: &TestFleet<'_>, role: &str, statement: &str) {
    let before = contents(fleet);
    let tried = fleet.database.sql(role, statement);
    assert_eq!(contents(fleet), before, "{role}: {statement}: {tried:#?}");
}

/// Returns every row of a decision, and the labels of each host. Beats change the rest of its row.
fn contents(fleet: &TestFleet<'_>) -> String {
    let tables =
        ["request", "addition", "claim", "start", "result", "standing_use", "lost", "dispute"];
    let rows = tables
        .map(|table| format!("SELECT '{table}', t::text FROM toolexec.{table} t ORDER BY t::text"));
    let hosts = "SELECT 'host', name, labels FROM toolexec.host ORDER BY name".to_owned();
    let selects = rows.into_iter().chain([hosts]);
    selects.map(|select| fleet.database.query(&select) + "\n").collect()
}

fn claim(request: &str, host: &str, state: &str) -> String {
    format!(
        "INSERT INTO toolexec.claim (request, document_sha256, host, epoch, state, sum) \
         VALUES ('{request}', {SHA256}, {host}, 0, '{state}', toolexec.row_sum('claim', \
         ARRAY['{request}', {SHA256}, NULL, {host}, '0', '{state}']::text[]))"
    )
}

fn request(id: &str, kind: &str, manifest: &str, by: &str) -> String {
    format!(
        "INSERT INTO toolexec.request (id, document_sha256, manifest_sha256, kind, bytes, \
         signatures, submitted_by, sum) \
         VALUES ('{id}', {SHA256}, {manifest}, '{kind}', 1, '{{}}', '{by}', \
         toolexec.row_sum('request', \
         ARRAY['{id}', {SHA256}, {manifest}, '{kind}', NULL, '1', '0']::text[]))"
    )
}

fn start(request: &str, host: &str) -> String {
    format!(
        "INSERT INTO toolexec.start (request, document_sha256, host, epoch, nonce, sum) \
         SELECT request, document_sha256, '{host}', epoch, 'n', {SHA256} FROM toolexec.claim \
         WHERE request = '{request}'"
    )
}

fn result(request: &str, host: &str) -> String {
    format!(
        "INSERT INTO toolexec.result (request, document_sha256, host, epoch, result_id, outcome, \
         exit_code, manifest_sha256, record_sha256, sum) \
         SELECT request, document_sha256, '{host}', epoch, 'TS-x', 'ok', 0, {SHA256}, {SHA256}, \
         {SHA256} FROM toolexec.claim WHERE request = '{request}'"
    )
}

#[test]
fn a_submitter_can_neither_claim_nor_start_nor_report() {
    let test = "a_submitter_can_neither_claim_nor_start_nor_report";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let id = fleet.submit(&fleet.request());
    let refused = |statement: &str| assert_refused(&fleet, "alice", statement);
    let set = |what: &str| format!("UPDATE toolexec.{what} WHERE request = '{id}'");
    refused(&set("claim SET state = 'claimed', host = 'host-a'"));
    refused(&set("claim SET state = 'ended'"));
    refused(&start(&id, "host-a"));
    refused(&result(&id, "host-a"));
    refused(&format!("DELETE FROM toolexec.claim WHERE request = '{id}'"));
    refused(&format!("DELETE FROM toolexec.request WHERE id = '{id}'"));
    refused("UPDATE toolexec.request SET audience = 'gpu'");
    refused("UPDATE toolexec.blob_part SET data = ''");
    refused("DELETE FROM toolexec.blob");
    // Other bytes under the digest of a file, without and with the row of the blob.
    let part = format!("INSERT INTO toolexec.blob_part VALUES ({SHA256}, 0, '\\x00')");
    refused(&part);
    refused(&format!("{part}; INSERT INTO toolexec.blob (sha256, bytes) VALUES ({SHA256}, 1)"));
    // A wrong sum, which would count as a change by hand.
    refused(&request("TR-1", "request", SHA256, "alice").replace("'0']", "'1']"));
    // A submission in another name, one of a kind that only hosts have, and a claim with a host.
    refused(&request("TR-1", "request", SHA256, "bob"));
    refused(&request("TR-1", "local", "NULL", "alice"));
    refused(&format!(
        "{}; {}",
        request("TR-1", "request", SHA256, "alice"),
        claim("TR-1", "'host-a'", "claimed")
    ));
    refused("INSERT INTO toolexec.host (name, labels) VALUES ('alice', '{}')");
    refused("INSERT INTO toolexec.lost (host, order_text, signature) VALUES ('host-a', 'o', 's')");
    refused(
        "INSERT INTO toolexec.dispute (host, witness, reason, note) \
         VALUES ('host-a', 'alice', 'r', 'n')",
    );
    refused("UPDATE toolexec.fleet SET schema_version = 9");
    refused("SET session_replication_role = replica");
    refused("DROP TABLE toolexec.claim");
    refused("ALTER TABLE toolexec.claim DISABLE TRIGGER ALL");
    assert_eq!(fleet.state_of(&id), "queued");
}

#[test]
fn a_host_writes_for_itself_only() {
    let test = "a_host_writes_for_itself_only";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new(), Bench::new()];
    let Some(mut fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    // Host-a has ended one request, and has claimed others while it starts one.
    fleet.hosts[0].service.configure("runs_max: 1");
    fleet.hosts[0].spawn();
    let ended = fleet.submit(&fleet.request());
    fleet.assert_run_once(std::slice::from_ref(&ended));
    let _ids = [0, 1].map(|_| fleet.submit(&fleet.request_that("slow")));
    fleet.wait_for_states(&[("started", 1), ("claimed", 1)]);
    let rows = fleet.rows();
    let [started, claimed] = ["started", "claimed"].map(|state| {
        let row = rows.iter().find(|row| row["fleet_state"] == state);
        row.unwrap()["request_id"].as_str().unwrap().to_owned()
    });
    // The host would change its own rows meanwhile.
    fleet.hosts[0].kill();
    let refused = |statement: &str| assert_refused(&fleet, "host-b", statement);
    let without_effect = |statement: &str| assert_without_effect(&fleet, "host-b", statement);
    let change =
        |id: &str, what: &str| format!("UPDATE toolexec.claim SET {what} WHERE request = '{id}'");
    without_effect(&change(&started, "state = 'ended'"));
    without_effect(&change(&started, "state = 'indeterminate'"));
    without_effect(&change(&started, "state = 'queued', host = NULL, epoch = epoch + 1"));
    without_effect(&change(&started, "state = 'claimed', host = 'host-b', epoch = epoch + 1"));
    without_effect(&change(&ended, "state = 'queued', host = NULL, epoch = epoch + 1"));
    // A takeover leaves the state and counts the epoch up by one.
    refused(&change(&claimed, "state = 'started'"));
    refused(&change(&claimed, "state = 'started', host = 'host-b'"));
    refused(&change(&claimed, "host = 'host-b'"));
    refused(&change(&claimed, "host = 'host-b', epoch = epoch + 2"));
    refused(&change(&claimed, "host = 'host-b', epoch = epoch + 1, document_sha256 = 'x'"));
    refused(&change(&claimed, "state = 'queued', host = NULL, epoch = epoch + 1"));
    for id in [&started, &claimed, &ended] {
        refused(&start(id, "host-a"));
        refused(&start(id, "host-b"));
        refused(&result(id, "host-a"));
        refused(&result(id, "host-b"));
    }
    refused(&request("TR-1", "request", SHA256, "host-b"));
    refused(&request("TR-1", "local", "NULL", "host-a"));
    refused(&format!(
        "{}; {}",
        request("TR-1", "local", "NULL", "host-b"),
        claim("TR-1", "'host-a'", "started")
    ));
    refused("INSERT INTO toolexec.host (name, labels) VALUES ('host-c', '{}')");
    without_effect("UPDATE toolexec.host SET labels = '{x}' WHERE name = 'host-a'");
    refused("DELETE FROM toolexec.start");
    refused("UPDATE toolexec.start SET host = 'host-b'");
    refused("DELETE FROM toolexec.standing_use");
    refused("DELETE FROM toolexec.dispute");
    // A witness speaks about others only, and in its own name.
    for (host, witness) in [("host-b", "host-b"), ("host-b", "host-a"), ("host-a", "host-a")] {
        refused(&format!(
            "INSERT INTO toolexec.dispute (host, witness, reason, note) \
             VALUES ('{host}', '{witness}', 'r', 'n')"
        ));
    }
    // A takeover may do this.
    let taken =
        fleet.database.sql("host-b", &change(&claimed, "host = 'host-b', epoch = epoch + 1"));
    taken.assert_code(0);
    assert_eq!((fleet.runs_of(&started), fleet.runs_of(&claimed)), (1, 0));
}

/// The program of a host refuses to work with rights that it must not have.
#[test]
fn an_agent_refuses_a_role_that_nothing_binds() {
    let test = "an_agent_refuses_a_role_that_nothing_binds";
    let Some(tool) = CountedTool::build(test) else { return };
    let benches = [Bench::new()];
    let Some(fleet) = TestFleet::prepare(test, &tool, &benches) else { return };
    let host = &fleet.hosts[0];
    std::fs::create_dir_all(host.service.path("results")).unwrap();
    std::fs::create_dir_all(host.service.path("log")).unwrap();
    let check = || toolexec_tests::CliOutput::of(&mut host.agent_command("check"));
    check().assert_code(0);
    for (statement, reason) in [
        ("ALTER ROLE \"host-a\" SUPERUSER", "row rights do not bind the role `host-a`"),
        ("ALTER ROLE \"host-a\" NOSUPERUSER BYPASSRLS", "row rights do not bind the role `host-a`"),
        (
            "ALTER ROLE \"host-a\" NOBYPASSRLS; REVOKE toolexec_host FROM \"host-a\"",
            "the role may not do this",
        ),
    ] {
        fleet.database.query(statement);
        let output = check();
        output.assert_code(2);
        output.assert_stderr(&[reason, "help: "]);
    }
    host.set_agent("database", &format!("\"{}\"", fleet.database.url("alice")));
    let output = check();
    output.assert_code(2);
    output.assert_stderr(&["the role `alice` is not the host `host-a`"]);
}

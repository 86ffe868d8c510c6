//! Requests that must be bound to an intent. A bound one runs, and its record proves it. The daemon
//! and `run` refuse every other one with the same code.

use std::fs;

use serde_json::{Value, json};
use toolexec_tests::{Bench, CliOutput, Record, SavedRequest, ssh_keygen_works};

use super::host::{APPROVE, AuthorityHost, BOUND, answer_in, block, plain, rules_of, sign};
use super::intent::{IntentFixture, bundle, in_seconds, revoke_the_intent};

/// Starts a host that requires a bundle, with all signers.
fn host(bench: &Bench) -> (AuthorityHost<'_>, IntentFixture<'_>) {
    let intent = IntentFixture::new(bench);
    let more = format!("ais_trust: {}\n", intent.trust().display());
    (AuthorityHost::start_with(bench, &BOUND, &more), intent)
}

/// The code, the changed part, and the change.
type BundleFlaw<'a> = (&'a str, &'a str, &'a dyn Fn(&mut Value));

#[track_caller]
fn assert_bound(record: &Record, bundle: &Value) {
    record.assert_outcome("ok");
    let facts = block(record, "ais");
    let crl = &bundle["crl"];
    for (key, value) in [
        ("uia", &bundle["uia"]["id"]),
        ("apa", &bundle["apa"]["id"]),
        ("apr", &bundle["apr"]["id"]),
        ("tca", &bundle["tca"]["id"]),
        ("ibe", &bundle["ibe"]["id"]),
        ("step", &bundle["ibe"]["apaStepRef"]),
        ("nonce", &bundle["ibe"]["nonce"]),
        ("exp", &bundle["ibe"]["exp"]),
        ("crl_issued", &crl["issued"]),
        ("crl_expires", &crl["expires"]),
    ] {
        let line = format!("  {key}: {value}\n");
        assert!(facts.contains(&line), "{line} is not in\n{facts}");
    }
    assert!(facts.starts_with("  verdict: accept\n  code: null\n"), "{facts}");
    assert_eq!(answer_in(record, "ais")["verdict"], "accept");
    let row = rules_of(record).into_iter().find(|row| row[0] == "ais.binding").unwrap();
    assert_eq!(row[1], "pass");
}

#[test]
fn a_request_that_is_bound_runs_and_its_record_has_the_bundle() {
    if !ssh_keygen_works("a_request_that_is_bound_runs_and_its_record_has_the_bundle") {
        return;
    }
    let bench = Bench::new();
    let (host, intent) = host(&bench);
    let request = bench.save(&plain());
    let path = intent.bind(&request);
    host.submit_saved(&request);
    let record = host.service.record_of(&request.id);
    assert_bound(&record, &bundle(&path));
    let kept = record.path.join(format!("request/{}.ais.json", request.id));
    assert_eq!(fs::read(&kept).unwrap(), fs::read(&path).unwrap());
    host.service.verify().assert_code(0);
    // The signature covers the kept files.
    fs::write(&kept, "{}").unwrap();
    host.service.verify().assert_code(1);
}

/// Runs `toolexec run` on a request with the policy of a host.
fn run(host: &AuthorityHost<'_>, intent: &IntentFixture<'_>, request: &SavedRequest) -> CliOutput {
    let mut command = host.bench.command("toolexec");
    command.arg("run").arg(&request.path).args(["--format", "json", "--policy"]);
    command.arg(host.bench.home().join("policy.yaml"));
    command.arg("--approvers").arg(&host.signers).arg("--ais-trust").arg(intent.trust());
    CliOutput::of(&mut command)
}

#[test]
fn run_requires_the_bundle_too() {
    if !ssh_keygen_works("run_requires_the_bundle_too") {
        return;
    }
    let bench = Bench::new();
    let (host, intent) = host(&bench);
    let request = bench.save(&plain());
    let path = intent.bind(&request);
    sign(APPROVE, &host.key, &request.path);
    let output = run(&host, &intent, &request);
    output.assert_code(0);
    let first = Record::of(&output);
    assert_bound(&first, &bundle(&path));
    assert!(first.path.join(format!("request/{}.ais.json", request.id)).is_file());
    let unbound = bench.save(&plain());
    sign(APPROVE, &host.key, &unbound.path);
    let output = run(&host, &intent, &unbound);
    output.assert_code(2);
    Record::of(&output).assert_violation("ais.bundle-missing");
    // The first of them has used up the nonce.
    let nonce = bundle(&path)["ibe"]["nonce"].clone();
    let replayed = bench.save(&plain());
    intent.bind_with(&replayed, "ibe", |ibe| ibe["nonce"] = nonce);
    sign(APPROVE, &host.key, &replayed.path);
    let output = run(&host, &intent, &replayed);
    output.assert_code(2);
    Record::of(&output).assert_violation("ais.ibe-replay");
}

/// The bundle is made last, and may be submitted after everything else.
#[test]
fn a_missing_bundle_is_waited_for() {
    if !ssh_keygen_works("a_missing_bundle_is_waited_for") {
        return;
    }
    let bench = Bench::new();
    let (host, intent) = host(&bench);
    let request = bench.save(&plain());
    host.submit_saved(&request);
    host.assert_held(&request.id, "ais.bundle-missing");
    let path = intent.bind(&request);
    host.service.submit_saved(&request).assert_code(0);
    assert_bound(&host.service.record_of(&request.id), &bundle(&path));
}

#[test]
fn what_is_not_bound_is_refused_by_its_code() {
    if !ssh_keygen_works("what_is_not_bound_is_refused_by_its_code") {
        return;
    }
    let bench = Bench::new();
    let (host, intent) = host(&bench);
    let refused = |request: &SavedRequest, code: &str| {
        host.submit_saved(request);
        let record = host.assert_refused(&request.id, code);
        host.assert_unlisted(&request.id);
        let verdict = rules_of(&record).into_iter().find(|row| row[0] == "ais").unwrap();
        assert_eq!(verdict[1], "refuse", "{code}");
        record
    };
    let past = in_seconds(&bench, -300);
    let far = in_seconds(&bench, 7200);
    let changes: [BundleFlaw<'_>; 9] = [
        ("ais.ibe-expired", "ibe", &|ibe| ibe["exp"] = json!(past)),
        ("ais.ibe-lifetime-exceeded", "ibe", &|ibe| ibe["exp"] = json!(far)),
        ("ais.ibe-step-not-found", "ibe", &|ibe| ibe["apaStepRef"] = json!("s2")),
        ("ais.risk-records-exceeded", "uia", &|uia| uia["riskBudget"]["maxRecords"] = json!(99)),
        ("ais.uia-revoked", "crl", &revoke_the_intent),
        ("ais.crl-stale", "crl", &|crl| {
            (crl["issued"], crl["expires"]) = (json!("2026-01-01T00:00:00Z"), json!(past));
        }),
        ("ais.authz-policy-deny", "uia", &|uia| uia["policyProfile"] = json!("unheard-of")),
        ("ais.align-mismatch", "apr", &|apr| apr["evidence"]["coverage"] = json!(0.9)),
        ("ais.data-class-not-permitted", "uia", &|uia| {
            uia["constraints"]["dataClasses"] = json!(["public"]);
        }),
    ];
    for (code, part, change) in changes {
        let request = bench.save(&plain());
        intent.bind_with(&request, part, change);
        let record = refused(&request, code);
        assert!(block(&record, "ais").starts_with("  verdict: refuse\n"), "{}", record.text);
        let output = answer_in(&record, "ais")["code"].as_str().unwrap().to_ascii_lowercase();
        assert_eq!(format!("ais.{output}"), code);
    }
    // The step of another request, the signature of another, and no bundle at all.
    let (one, other) = (bench.save(&plain()), bench.save(&plain().command("python -u script.py")));
    let of_one = intent.bind(&one);
    fs::copy(of_one, other.path.with_extension("ais.json")).unwrap();
    refused(&other, "ais.ibe-binding-mismatch");
    let forged = bench.save(&plain());
    let path = intent.bind(&forged);
    let mut changed = bundle(&path);
    changed["uia"]["riskBudget"]["maxWrites"] = json!(9);
    fs::write(&path, changed.to_string()).unwrap();
    refused(&forged, "ais.uia-sig-invalid");
    let broken = bench.save(&plain());
    fs::write(broken.path.with_extension("ais.json"), "{\"uia\":1,\"uia\":2}").unwrap();
    refused(&broken, "ais.input-bad-json");
    host.service.verify().assert_code(0);
}

#[test]
fn a_nonce_is_used_up_for_ever() {
    if !ssh_keygen_works("a_nonce_is_used_up_for_ever") {
        return;
    }
    let bench = Bench::new();
    let (mut host, intent) = host(&bench);
    let request = bench.save(&plain());
    let first = intent.bind(&request);
    host.submit_saved(&request);
    host.service.record_of(&request.id).assert_outcome("ok");
    let nonce = bundle(&first)["ibe"]["nonce"].clone();
    let replayed = |host: &AuthorityHost<'_>| {
        let request = bench.save(&plain());
        intent.bind_with(&request, "ibe", |ibe| ibe["nonce"] = nonce.clone());
        host.submit_saved(&request);
        let record = host.assert_refused(&request.id, "ais.ibe-replay");
        assert!(record.text.contains(nonce.as_str().unwrap()), "{}", record.text);
    };
    replayed(&host);
    host.crash();
    replayed(&host);
    // The same envelope for a new plan with the name of the old one.
    let request = bench.save(&plain());
    let path = intent.bind(&request);
    let mut changed = bundle(&path);
    changed["ibe"] = bundle(&first)["ibe"].clone();
    fs::write(&path, changed.to_string()).unwrap();
    host.submit_saved(&request);
    host.assert_refused(&request.id, "ais.ibe-replay");
    // A refused request uses nothing up.
    let refused = bench.save(&plain());
    let path = intent.bind_with(&refused, "crl", revoke_the_intent);
    host.submit_saved(&refused);
    host.assert_refused(&refused.id, "ais.uia-revoked");
    let unused = bundle(&path)["ibe"]["nonce"].clone();
    let next = bench.save(&plain());
    intent.bind_with(&next, "ibe", |ibe| ibe["nonce"] = unused);
    host.submit_saved(&next);
    host.service.record_of(&next.id).assert_outcome("ok");
}

/// An unreadable bundle must not be skipped, because the request would be refused without it.
#[test]
fn an_unreadable_bundle_is_reported_before_submission() {
    if !ssh_keygen_works("an_unreadable_bundle_is_reported_before_submission") {
        return;
    }
    let bench = Bench::new();
    let (host, _) = host(&bench);
    let request = bench.save(&plain());
    sign(APPROVE, &host.key, &request.path);
    let pipe = request.path.with_extension("ais.json");
    CliOutput::of(bench.command("mkfifo").arg(&pipe)).assert_code(0);
    let output = host.service.submit_saved(&request);
    output.assert_code(2);
    output.assert_stderr(&[".ais.json", "not submitted"]);
    assert_eq!(toolexec_tests::list(&host.service.path("approved")), Vec::<String>::new());
    // Submitted by hand, the daemon refuses it.
    fs::remove_file(&pipe).unwrap();
    let there = host.service.path(&format!("approved/{}.ais.json", request.id));
    CliOutput::of(bench.command("mkfifo").arg(there)).assert_code(0);
    host.service.submit_saved(&request).assert_code(0);
    host.assert_refused(&request.id, "ais.bundle-unread");
}

/// The host's assertion is compared with the host itself.
#[test]
fn another_host_than_the_asserted_one_runs_nothing() {
    if !ssh_keygen_works("another_host_than_the_asserted_one_runs_nothing") {
        return;
    }
    let bench = Bench::new();
    let (mut host, intent) = host(&bench);
    let request = bench.save(&plain());
    intent.bind(&request);
    let policy = bench.home().join("policy.yaml");
    let text = fs::read_to_string(&policy).unwrap();
    fs::write(&policy, text + "# another file\n").unwrap();
    host.service.signal("TERM");
    assert_eq!(host.service.wait(), Some(0));
    host.service.spawn();
    host.submit_saved(&request);
    host.assert_refused(&request.id, "ais.sca-mismatch");
}

/// Keys are valid only while they are in the trust store.
#[test]
fn a_key_that_is_taken_out_of_the_store_binds_nothing() {
    if !ssh_keygen_works("a_key_that_is_taken_out_of_the_store_binds_nothing") {
        return;
    }
    let bench = Bench::new();
    let (host, intent) = host(&bench);
    let request = bench.save(&plain());
    intent.bind(&request);
    let text = fs::read_to_string(intent.trust()).unwrap();
    let without: Vec<&str> = text.lines().filter(|line| !line.contains("kid: user,")).collect();
    fs::write(intent.trust(), without.join("\n")).unwrap();
    host.submit_saved(&request);
    host.assert_refused(&request.id, "ais.uia-sig-invalid");
}

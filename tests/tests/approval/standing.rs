//! Standing approvals through the daemon: one signature admits many runs, each within its bounds. A
//! run beyond a bound is refused by name, and the record proves without the host that a run stayed
//! within them.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toolexec_tests::{
    Bench, CliOutput, ONE_SIGNATURE, Record, RequestText, STANDING_HOST, STANDING_NAMESPACE,
    SavedRequest, SavedStanding, Service, ServiceConfig, StandingText, edited_policy, list,
    ssh_keygen_works,
};

const SCRIPT: &str = "import sys; print(sys.argv[1])";

/// A daemon with one approver, and the approver's key.
struct StandingScene<'a> {
    bench: &'a Bench,
    service: Service<'a>,
    key: PathBuf,
    signers: PathBuf,
}

impl<'a> StandingScene<'a> {
    fn start(bench: &'a Bench, policy: impl Fn(String) -> String) -> Self {
        let (key, signers) = SavedStanding::make_approver(bench);
        let config = ServiceConfig::for_owner(bench);
        let config = ServiceConfig {
            policy: policy(config.policy),
            allowed_signers: Some(signers.clone()),
            ..config
        };
        let mut service = Service::prepare(bench, &config);
        service.configure(&format!("log: {{origin: {STANDING_HOST}}}"));
        service.spawn();
        Self { bench, service, key, signers }
    }

    /// Signs and submits a standing approval, and waits until the daemon has taken it.
    fn admit(&self, text: &StandingText) -> SavedStanding {
        let saved = text.save(self.bench.scratch().path());
        saved.sign(STANDING_NAMESPACE, &self.key);
        self.submit(&saved);
        saved
    }

    fn submit(&self, saved: &SavedStanding) {
        let approved = self.service.path("approved");
        saved.place_in(&approved);
        let name = saved.path.file_name().unwrap().to_owned();
        self.service.wait_for("the standing approval to be taken", |service| {
            !approved.join(&name).exists() && list(&service.path("work")).is_empty()
        });
    }

    fn record_of(&self, request: &RequestText) -> Record {
        let aside = self.bench.scratch().dir(&format!("aside-{}", request.id));
        SavedStanding::place_use(request, &aside, &self.service.path("approved"));
        self.service.record_of(&request.id)
    }

    fn refused(&self, request: &RequestText, reason: &str) {
        let record = self.record_of(request);
        record.assert_outcome("refused");
        record.assert_violation("approval.standing");
        assert!(record.text.contains(reason), "{reason} is not in\n{}", record.text);
    }

    fn ledger(&self) -> String {
        fs::read_to_string(self.service.state().join("ledger")).unwrap()
    }

    /// Verifies records with the daemon's key and the approvers.
    fn verify(&self, path: &Path) -> CliOutput {
        let mut command = self.bench.command("toolexec");
        command.arg("verify").arg(path).arg("--state").arg(self.service.state());
        CliOutput::of(command.arg("--approvers").arg(&self.signers))
    }
}

#[test]
fn one_signature_admits_runs_within_its_bounds() {
    if !ssh_keygen_works("one_signature_admits_runs_within_its_bounds") {
        return;
    }
    let bench = Bench::new();
    let scene = StandingScene::start(&bench, |policy| policy);
    let standing = scene.admit(&StandingText::of_script(SCRIPT));
    assert!(scene.service.log().contains("standing-admitted"), "{}", scene.service.log());
    let public = scene.service.path(&format!("public/standing/{}.md", standing.id));
    assert_eq!(fs::read(public).unwrap(), fs::read(&standing.path).unwrap());
    for (number, last) in ["7", "100"].iter().enumerate() {
        let record = scene.record_of(&standing.use_of(SCRIPT, last));
        record.assert_outcome("ok");
        assert_eq!(record.stdout(), format!("{last}\n"));
        let number = number + 1;
        assert!(record.text.contains(&format!("\n  use: {number}\n")), "{}", record.text);
        let output = scene.verify(&record.path);
        output.assert_code(0);
        assert!(output.stdout.contains(&format!("use {number} of 100")), "{}", output.stdout);
        let kept = list(&record.path.join("request"));
        assert!(kept.contains(&format!("{}.md.sig", standing.id)), "{kept:?}");
    }
    // The approver's signature is one of OpenSSH, over the file in the record.
    let request = scene.service.records().remove(0).path.join("request");
    let signers = scene.signers.display();
    let (place, id) = (request.display(), &standing.id);
    let stock = format!(
        "ssh-keygen -Y verify -I tester -n {STANDING_NAMESPACE} -f {signers} -s {place}/{id}.md.sig \
         < {place}/{id}.md"
    );
    CliOutput::of(&mut bench.shell(&stock)).assert_code(0);
    assert_eq!(scene.ledger().matches("\"standing\":").count(), 2);
}

#[test]
fn a_use_beyond_a_bound_is_refused_by_name() {
    if !ssh_keygen_works("a_use_beyond_a_bound_is_refused_by_name") {
        return;
    }
    let bench = Bench::new();
    let scene = StandingScene::start(&bench, |policy| policy);
    let standing = scene.admit(&StandingText::of_script(SCRIPT));
    let good = || standing.use_of(SCRIPT, "7");
    scene.refused(&standing.use_of(SCRIPT, "101"), "is not a value of {last}");
    scene.refused(&good().edit("name: \"core\"", "name: \"fetch\""), "agent is not listed");
    let other_host = good().edit("x-audience: \"host1", "x-audience: \"host2");
    let record = scene.record_of(&other_host);
    record.assert_outcome("refused");
    assert!(record.text.contains("x-audience"), "{}", record.text);
    scene.refused(&good().memory_mb(257), "memory_limit_mb");
    let unknown = StandingText::of_script(SCRIPT).save(bench.scratch().path());
    scene.refused(&unknown.use_of(SCRIPT, "7"), "has not admitted");
    scene.refused(&standing.use_of("print('other')", "7"), "`script.py` has other bytes");
    scene.refused(&good().edit("x-standing", "x-other: \"1\"\nx-standing"), "extension key");
    scene.record_of(&good()).assert_outcome("ok");
    assert_eq!(scene.ledger().matches("\"standing\":").count(), 1, "a refusal is not a use");
}

#[test]
fn uses_are_counted_in_all_and_within_an_hour() {
    if !ssh_keygen_works("uses_are_counted_in_all_and_within_an_hour") {
        return;
    }
    let bench = Bench::new();
    let scene = StandingScene::start(&bench, |policy| policy);
    let few = StandingText::of_script(SCRIPT)
        .edit("uses_max: 100", "uses_max: 2")
        .edit("uses_per_hour_max: 100", "uses_per_hour_max: 2");
    let few = scene.admit(&few);
    for _ in 0..2 {
        scene.record_of(&few.use_of(SCRIPT, "7")).assert_outcome("ok");
    }
    scene.refused(&few.use_of(SCRIPT, "7"), "uses_max is reached");
    let slow = StandingText::of_script(SCRIPT).edit("per_hour_max: 100", "per_hour_max: 1");
    let slow = scene.admit(&slow);
    scene.record_of(&slow.use_of(SCRIPT, "7")).assert_outcome("ok");
    scene.refused(&slow.use_of(SCRIPT, "7"), "uses_per_hour_max is reached");
}

/// A document that is not admitted ends in quarantine with a record that names its own code.
#[test]
fn a_standing_approval_that_does_not_count_is_refused_with_its_code() {
    if !ssh_keygen_works("a_standing_approval_that_does_not_count_is_refused_with_its_code") {
        return;
    }
    let bench = Bench::new();
    let scene = StandingScene::start(&bench, |policy| policy);
    let refused = |text: &StandingText, namespace: Option<&str>, code: &str| {
        let before = scene.service.records().len();
        let saved = text.save(scene.bench.scratch().path());
        if let Some(namespace) = namespace {
            saved.sign(namespace, &scene.key);
        }
        scene.submit(&saved);
        scene.service.wait_for("a record", |service| service.records().len() > before);
        let file = format!("request_file: \"{}.md\"", saved.id);
        let records = scene.service.records();
        let record = records.iter().find(|it| it.text.contains(&file)).expect("the record");
        record.assert_outcome("refused");
        record.assert_violation(code);
    };
    let good = || StandingText::of_script(SCRIPT);
    refused(&good(), None, "approval.count");
    refused(&good(), Some("approve.tool-exec@threegate"), "approval.signature");
    let signed = Some(STANDING_NAMESPACE);
    refused(
        &good().edit("approved_by: \"tester\"", "approved_by: \"bob\""),
        signed,
        "approval.principal",
    );
    refused(&good().edit("host1.example", "host2.example"), signed, "approval.standing");
    refused(&good().edit("uses_max: 100", "uses_max: 1001"), signed, "approval.standing");
    refused(&good().edit("agents: [\"core\"]", "agents: []"), signed, "standing.agents");
    refused(
        &good().edit("subject: null", "subject: null\nmore: 1"),
        signed,
        "frontmatter.unknown-key",
    );
    let admitted = good();
    let saved = scene.admit(&admitted);
    let other = admitted.edit("purpose: \"A test.\"", "purpose: \"Another.\"");
    fs::remove_file(saved.path.with_extension("md.sig")).unwrap();
    refused(&other, signed, "approval.standing");
    scene.service.verify().assert_code(0);
}

#[test]
fn a_policy_without_standing_approvals_admits_none() {
    if !ssh_keygen_works("a_policy_without_standing_approvals_admits_none") {
        return;
    }
    let bench = Bench::new();
    let scene = StandingScene::start(&bench, |policy| {
        let begin = policy.find("  standing:\n").unwrap();
        let end = begin + policy[begin..].find("from_drafts: false\n").unwrap();
        let end = end + "from_drafts: false\n".len();
        format!("{}  standing: null\n{}", &policy[..begin], &policy[end..])
    });
    let standing = scene.admit(&StandingText::of_script(SCRIPT));
    assert!(!scene.service.state().join("standing").exists());
    scene.refused(&standing.use_of(SCRIPT, "7"), "the policy allows no standing approval");
}

/// After a rejection is durable, no run begins.
#[test]
fn a_rejected_standing_approval_is_used_no_more() {
    if !ssh_keygen_works("a_rejected_standing_approval_is_used_no_more") {
        return;
    }
    let bench = Bench::new();
    let scene = StandingScene::start(&bench, |policy| policy);
    let standing = scene.admit(&StandingText::of_script(SCRIPT));
    scene.record_of(&standing.use_of(SCRIPT, "7")).assert_outcome("ok");
    let aside = scene.bench.scratch().dir("stream");
    let uses: Vec<RequestText> =
        (1..=40).map(|last| standing.use_of(SCRIPT, &last.to_string())).collect();
    // All is prepared before, so that the rejection arrives while uses wait.
    let prepared: Vec<SavedRequest> = uses.iter().map(|request| request.save(&aside)).collect();
    fs::remove_file(standing.path.with_extension("md.sig")).unwrap();
    standing.sign("reject.tool-exec@threegate", &scene.key);
    let approved = scene.service.path("approved");
    let place = |request: &SavedRequest| {
        for path in [&request.inputs, &request.path] {
            fs::rename(path, approved.join(path.file_name().unwrap())).unwrap();
        }
    };
    let (early, late) = prepared.split_at(35);
    early.iter().for_each(place);
    standing.place_in(&approved);
    scene.service.wait_for("the revocation", |_| scene.ledger().contains("standing_revoked"));
    late.iter().for_each(place);
    scene.service.wait_for("every record", |service| {
        uses.iter().all(|request| !service.records_of(&request.id).is_empty())
    });
    let ledger = scene.ledger();
    let (_, after) = ledger.split_once("standing_revoked").expect("the line of the revocation");
    assert!(!after.contains("\"standing\":"), "a run began after the revocation:\n{after}");
    let refused = scene.service.records();
    let refused: Vec<&Record> = refused.iter().filter(|it| it.outcome() == "refused").collect();
    assert!(!refused.is_empty());
    for record in &refused {
        assert!(
            record.text.contains("revoked") || record.text.contains("rejected"),
            "{}",
            record.text
        );
    }
    let public = scene.service.path(&format!("public/standing/{}.md", standing.id));
    assert!(!public.exists());
    // The store keeps the rejection, so a new submission of the old signature changes nothing.
    fs::remove_file(standing.path.with_extension("md.sig")).unwrap();
    standing.sign(STANDING_NAMESPACE, &scene.key);
    scene.submit(&standing);
    scene.refused(&standing.use_of(SCRIPT, "7"), "revoked");
}

/// A changed byte in the document or in the record does not verify, and `verify` names the file.
#[test]
fn a_record_of_a_use_verifies_elsewhere_and_notices_every_change() {
    if !ssh_keygen_works("a_record_of_a_use_verifies_elsewhere_and_notices_every_change") {
        return;
    }
    let bench = Bench::new();
    let scene = StandingScene::start(&bench, |policy| policy);
    let standing = scene.admit(&StandingText::of_script(SCRIPT));
    let record = scene.record_of(&standing.use_of(SCRIPT, "7"));
    let elsewhere = bench.scratch().dir("elsewhere").join(record.id());
    let copied = Command::new("cp").arg("-r").arg(&record.path).arg(&elsewhere).status();
    assert!(copied.unwrap().success());
    scene.verify(&elsewhere).assert_code(0);
    for file in [format!("request/{}.md", standing.id), format!("{}.md", record.id())] {
        let path = elsewhere.join(&file);
        let bytes = fs::read(&path).unwrap();
        let mut changed = bytes.clone();
        let at = changed.len() / 2;
        changed[at] ^= 1;
        fs::remove_file(&path).unwrap();
        fs::write(&path, changed).unwrap();
        let output = scene.verify(&elsewhere);
        output.assert_code(1);
        assert!(output.stderr.contains(&file) || output.stdout.contains(&file), "{output:?}");
        fs::write(&path, bytes).unwrap();
    }
    scene.verify(&elsewhere).assert_code(0);
}

/// With `from_drafts` the daemon takes such drafts by itself, and no other draft.
#[test]
fn drafts_that_use_a_standing_approval_are_taken_if_policy_allows() {
    if !ssh_keygen_works("drafts_that_use_a_standing_approval_are_taken_if_policy_allows") {
        return;
    }
    let bench = Bench::new();
    let scene = StandingScene::start(&bench, |policy| {
        let policy = policy.replacen("from_drafts: false", "from_drafts: true", 1);
        // The owner of a draft must not approve it by its submission.
        edited_policy(policy, &ONE_SIGNATURE)
    });
    let drafts = scene.service.path("drafts");
    fs::create_dir_all(&drafts).unwrap();
    let standing = scene.admit(&StandingText::of_script(SCRIPT));
    let aside = scene.bench.scratch().dir("aside");
    let other = RequestText::python(SCRIPT);
    SavedStanding::place_use(&other, &aside, &drafts);
    let request = standing.use_of(SCRIPT, "7");
    SavedStanding::place_use(&request, &aside, &drafts);
    // The drafts are found at the next look at the latest.
    scene.service.signal("HUP");
    scene.service.record_of(&request.id).assert_outcome("ok");
    assert!(!drafts.join(format!("{}.md", request.id)).exists());
    assert!(drafts.join(format!("{}.md", other.id)).exists(), "another draft was taken");
}

/// Files that do not count must neither stop the daemon nor hide a rejection.
#[test]
fn signatures_that_do_not_count_cannot_prevent_a_revocation() {
    if !ssh_keygen_works("signatures_that_do_not_count_cannot_prevent_a_revocation") {
        return;
    }
    let bench = Bench::new();
    let scene = StandingScene::start(&bench, |policy| policy);
    let standing = scene.admit(&StandingText::of_script(SCRIPT));
    let approved = scene.service.path("approved");
    for number in 0..14 {
        fs::write(approved.join(format!("{}.md.!{number}.sig", standing.id)), "garbage").unwrap();
    }
    let long = "n".repeat(200 - standing.id.len());
    fs::write(approved.join(format!("{}.md.{long}.sig", standing.id)), "garbage").unwrap();
    scene.submit(&standing);
    assert!(scene.service.is_alive(), "{}", scene.service.log());
    scene.record_of(&standing.use_of(SCRIPT, "7")).assert_outcome("ok");
    for number in 0..40 {
        fs::write(approved.join(format!("{}.md.!{number}.sig", standing.id)), "garbage").unwrap();
    }
    fs::remove_file(standing.path.with_extension("md.sig")).unwrap();
    standing.sign("reject.tool-exec@threegate", &scene.key);
    scene.submit(&standing);
    assert!(scene.service.log().contains("standing-revoked"), "{}", scene.service.log());
    scene.refused(&standing.use_of(SCRIPT, "7"), "revoked");
}

/// A rejection that comes first counts for ever.
#[test]
fn a_standing_approval_that_was_rejected_first_is_never_admitted() {
    if !ssh_keygen_works("a_standing_approval_that_was_rejected_first_is_never_admitted") {
        return;
    }
    let bench = Bench::new();
    let scene = StandingScene::start(&bench, |policy| policy);
    let standing = StandingText::of_script(SCRIPT).save(bench.scratch().path());
    standing.sign("reject.tool-exec@threegate", &scene.key);
    scene.submit(&standing);
    fs::remove_file(standing.path.with_extension("md.sig")).unwrap();
    standing.sign(STANDING_NAMESPACE, &scene.key);
    scene.submit(&standing);
    assert!(!scene.service.log().contains("standing-admitted"), "{}", scene.service.log());
    scene.refused(&standing.use_of(SCRIPT, "7"), "has not admitted");
}

/// The record of a request that was approved and did not run has its signers, and verifies.
#[test]
fn a_refused_use_has_a_record_that_verifies() {
    if !ssh_keygen_works("a_refused_use_has_a_record_that_verifies") {
        return;
    }
    let bench = Bench::new();
    let scene = StandingScene::start(&bench, |policy| policy);
    let text = StandingText::of_script(SCRIPT).edit("bytes_max: 1048576", "bytes_max: 10");
    let standing = scene.admit(&text);
    let record = scene.record_of(&standing.use_of(SCRIPT, "7"));
    record.assert_outcome("refused");
    record.assert_violation("approval.standing");
    assert!(record.text.contains("inputs_bytes_max"), "{}", record.text);
    scene.verify(&record.path).assert_code(0);
}

/// A slot whose files are executed must be permitted by an option, and its sizes are bounds.
#[test]
fn the_bounds_of_a_slot_are_those_of_the_options() {
    let bench = Bench::new();
    let request = RequestText::python("print(1)\n").command("python /in/script.py");
    let request = bench.save(&request.edit("Risk level: low", "Risk level: medium"));
    let draft = |more: &[&str]| {
        let mut command = bench.command("toolexec");
        command.args(["standing", "draft"]).arg(&request.path).args([
            "--slug",
            "sizes",
            "--slot",
            "code=script.py",
            "--uses",
            "2",
            "--uses-per-hour",
            "2",
            "--days",
            "1",
            "--agent",
            "core",
            "--audience",
            STANDING_HOST,
            "--effect",
            "It runs any script.",
            "--format",
            "json",
        ]);
        CliOutput::of(command.args(more))
    };
    let refused = draft(&[]);
    refused.assert_code(2);
    refused.assert_stderr(&["runs_code_of_inputs: true"]);
    let sizes = ["--slot-bytes", "1000", "--inputs-bytes", "900"];
    let output = draft(&[&sizes[..], &["--runs-code-of-inputs"]].concat());
    output.assert_code(0);
    let path = bench.home().join(output.json()["standing"].as_str().unwrap());
    let text = fs::read_to_string(path).unwrap();
    for line in ["inputs_bytes_max: 900", "bytes_max: 1000", "runs_code_of_inputs: true"] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

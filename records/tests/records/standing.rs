//! Records of runs that used a standing approval: one use has one record, and a use whose run was
//! lost is compared with the bounds that its request shows.

use std::fs;
use std::path::Path;

use model::{Language, Outcome, ResultId, Sha256};
use policies::FleetList;
use records::log::{Log, LogKey};
use records::{
    Conflict, CrossRecordCheck, ReplayOf, SkippedCheck, StatedUse, Statement, Trust, attest, sign,
    verify,
};
use validator::{
    Binding, ComposedAgent, ComposedInput, ComposedOutput, ComposedRisk, ComposedWork, Composition,
    Draft, FileLocation, OneLine, OwnerUid, Request, RequestedBy, RiskLevel, Sensitivity,
    StandingApproval, bind, quote_words,
};

use crate::fixture::{CREATED, RecordCase, RecordScratch, at, publish, put};

const ID: &str = "SA-20261121-120401Z-means";
const APPROVED: &str = "2026-11-21T12:05:00Z";
const CHECKED: &str = "2026-11-21T12:06:00Z";
const SEED: [&str; 3] =
    ["No network unless allowlisted", "No writes outside /out", "No persistence"];
/// The sizes of the two inputs.
const SIZES: &[u64] = &[700, 4000];

fn script() -> Sha256 {
    Sha256::of(b"script")
}

fn standing_approval() -> StandingApproval {
    let text = format!(
        "---
request_type: standing_approval
schema_version: 1
standing_id: \"{ID}\"
created_utc: \"2026-11-21T12:04:01Z\"
approved_by: \"alice\"
approved_utc: \"{APPROVED}\"
purpose: \"The mean of the last days of a table.\"
x-audience: \"desk-1\"
agents: [\"core\"]
subject: null
not_before_utc: \"{APPROVED}\"
not_after_utc: \"2026-12-05T00:00:00Z\"
uses_max: 200
uses_per_hour_max: 20
language: \"python\"
environment: null
network: \"none\"
network_allowlist: []
cpu_limit: \"1\"
memory_limit_mb: 512
time_limit_sec: 60
inputs_bytes_max: 9437184
runs_code_of_inputs: false
inputs:
  - name: \"means.py\"
    sha256: \"{script}\"
  - slot: \"table\"
    name: \"sales-*.csv\"
    kind: \"file\"
    count: [1, 1]
    bytes_max: 8388608
parameters:
  - name: \"last\"
    integer: [1, 3650]
outputs_expected:
  - path: \"stats.json\"
    description: \"the mean\"
risk: \"low\"
sensitivity: \"internal\"
constraints: {SEED:?}
examples:
  - admitted: true
    words: [\"python\", \"means.py\", \"/in/sales-1.csv\", \"--last=7\"]
    files: [\"sales-1.csv\"]
  - admitted: false
    words: [\"python\"]
    files: []
---

# Means

## Command

- python
- means.py
- {{in:table}}
- --last={{last}}

## Widest Effect

Any table.
",
        script = script(),
    );
    let read = StandingApproval::read(text.as_bytes(), &format!("{ID}.md"), at(CHECKED));
    read.unwrap_or_else(|violations| panic!("{violations:?}"))
}

fn line(text: &str) -> OneLine {
    text.parse().unwrap()
}

fn words(last: &str) -> Vec<String> {
    let last = format!("--last={last}");
    ["python", "means.py", "/in/sales-1.csv", last.as_str()].map(str::to_owned).to_vec()
}

/// Returns a request with this number in its id, which names the standing approval.
fn request(approval: &StandingApproval, number: u32, last: &str) -> Request {
    let input = |name: &str, sha256| ComposedInput { name: line(name), sha256 };
    let composition = Composition {
        id: format!("TR-20261121-120400Z-means-{number}").parse().unwrap(),
        created: at("2026-11-21T12:04:00Z"),
        requested_by: RequestedBy::CoreDraft,
        approval: Some((line(&format!("standing {ID}")), at(APPROVED))),
        purpose: line("The mean of a table."),
        language: Language::named("python").unwrap(),
        backend: None,
        hosts: None,
        cpu: line("1"),
        memory_limit_mb: 256,
        time_limit_sec: 30,
        inputs: vec![input("means.py", script()), input("sales-1.csv", Sha256::of(b"table"))],
        outputs_expected: vec![ComposedOutput {
            path: line("stats.json"),
            description: "the mean".to_owned(),
            patch_of: None,
        }],
        constraints: SEED.map(line).to_vec(),
        work: ComposedWork::Command(quote_words(&words(last)).unwrap()),
        risk: ComposedRisk {
            level: RiskLevel::Low,
            justification: line("a reviewed script reads one table"),
            sensitivity: Sensitivity::Internal,
            network_rationale: line("none"),
        },
        requester: None,
        agent: Some(ComposedAgent {
            name: line("core"),
            subject: line("wf-1"),
            accesscontrol: None,
        }),
        audience: Some(line("desk-1")),
        standing: Some(approval.reference()),
        environment: None,
    };
    let name = format!("{}.md", composition.id);
    let draft = Draft::new(composition.to_text().into_bytes(), &name, OwnerUid::new(1000));
    let checked = draft.unwrap().check(FileLocation::Elsewhere, at(CHECKED));
    let Ok(request) = checked.verdict else { panic!("{:?}", checked.violations) };
    request
}

/// A run that used the standing approval, before its record is signed.
struct RecordedUse {
    approval: StandingApproval,
    binding: Binding,
    case: RecordCase,
}

impl RecordedUse {
    fn new(number: u32) -> Self {
        Self::with_value(number, "7")
    }

    /// Returns a run whose request has this value, and whose record states the value 7.
    fn with_value(number: u32, last: &str) -> Self {
        let approval = standing_approval();
        let files = ["means.py", "sales-1.csv"];
        let binding = bind(approval.terms(), &words("7"), &files).unwrap();
        let mut case = RecordCase::plain();
        case.request = request(&approval, number, last);
        case.result_id = ResultId::for_request(at(CREATED), case.request.id());
        let document = (format!("{ID}.md"), approval.bytes().to_vec());
        let signature = (format!("{ID}.md.sig"), b"signature".to_vec());
        let approvals = vec![("alice".to_owned(), "SHA256:abc".to_owned())];
        let case = case.approved(approvals, vec![document, signature]);
        Self { approval, binding, case }
    }

    fn used(&self, number: Option<u64>) -> StatedUse<'_> {
        let Self { approval, binding, .. } = self;
        StatedUse { approval, number, binding, sizes: Some(SIZES) }
    }

    fn statement(&self, number: Option<u64>) -> Statement<'_> {
        Statement { standing: Some(self.used(number)), ..self.case.statement() }
    }

    /// Returns the statement that recovery makes after a crash.
    fn lost(&self, number: u64) -> Statement<'_> {
        let used = StatedUse { sizes: None, ..self.used(Some(number)) };
        let not_run = self.case.not_run(Outcome::Indeterminate);
        Statement { standing: Some(used), ..not_run }
    }
}

#[test]
fn one_use_has_one_record() {
    let scratch = RecordScratch::in_memory();
    let key = scratch.key("keys");
    let known = Trust::from_key(&key.public());
    let publish_run = |root: &str, it: &RecordedUse, statement: &Statement<'_>| {
        let record = sign(statement, &key).unwrap();
        it.case.publish_run(&scratch.path().join(root), &record)
    };
    let verified = |dir: &Path| verify(dir, &known).unwrap();
    let [one, other, third] = [1, 2, 3].map(RecordedUse::new);
    let mut across = CrossRecordCheck::default();

    let dir = publish_run("a", &one, &one.statement(Some(3)));
    let first = verified(&dir);
    let within = format!("within {ID}, use 3 of 200");
    assert_eq!(first.standing_checked(), Some(within.as_str()));
    assert_eq!(across.add(0, &first), []);
    let next = verified(&publish_run("a", &other, &other.statement(Some(4))));
    assert_eq!(across.add(1, &next), []);
    // Another record of the third use.
    let again = verified(&publish_run("a", &third, &third.statement(Some(3))));
    assert_eq!(across.add(2, &again), [(Conflict::Use(3), 0)]);
    // A copy is the same record.
    let copy = verified(&publish_run("b", &one, &one.statement(Some(3))));
    assert_eq!(across.add(3, &copy), [(Conflict::Request, 0), (Conflict::ResultId, 0)]);

    // A replay uses nothing up.
    let md = fs::read(dir.join(format!("{}.md", one.case.result_id))).unwrap();
    let replay_of = ReplayOf { result_id: &one.case.result_id, record_sha256: Sha256::of(&md) };
    let later = ResultId::for_request(at("2026-11-21T12:10:29Z"), one.case.request.id());
    let replay = Statement { result_id: &later, replay_of: Some(replay_of), ..one.statement(None) };
    let mut replay = verified(&publish_run("c", &one, &replay));
    assert_eq!(across.add(4, &replay), []);
    assert_eq!(across.check_replay(&mut replay), None);
}

#[test]
fn a_use_whose_run_was_lost_is_compared_with_its_bounds() {
    let scratch = RecordScratch::in_memory();
    let key = scratch.key("keys");
    let known = Trust::from_key(&key.public());
    let lost = |it: &RecordedUse| {
        let record = sign(&it.lost(3), &key).unwrap();
        verify(&publish(scratch.path(), &record, b"", b""), &known)
    };
    let within = lost(&RecordedUse::new(1)).unwrap();
    // The time and the sizes of the run are unknown.
    assert!(within.skipped_checks().contains(&SkippedCheck::Standing));
    assert_eq!(within.standing_checked(), None);
    let faults = lost(&RecordedUse::with_value(2, "3651")).map(|_| ()).unwrap_err();
    let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert!(texts.iter().any(|text| text.contains(&format!("beyond {ID}"))), "{texts:?}");

    // A use is one, whether its run is known or not.
    let mut across = CrossRecordCheck::default();
    let run = RecordedUse::new(4);
    let record = sign(&run.statement(Some(3)), &key).unwrap();
    let run = verify(&run.case.publish_run(scratch.path(), &record), &known).unwrap();
    assert_eq!(across.add(0, &within), []);
    assert_eq!(across.add(1, &run), [(Conflict::Use(3), 0)]);
}

/// No log is named `desk-1`. Only the signed list of a fleet gives this label to a host.
#[test]
fn a_use_for_a_label_needs_the_fleet_list() {
    let scratch = RecordScratch::in_memory();
    let key = scratch.key("keys");
    let log_key = LogKey::from_seed("host-a".parse().unwrap(), &[7; 32]);
    let mut log = Log::open_or_create(&scratch.path().join("log"), log_key).unwrap();
    let used = RecordedUse::new(1);
    let attested = attest(&used.statement(Some(3)), &key).unwrap();
    let inclusion = log.append(&attested.envelope().log_entry()).unwrap();
    let dir = used.case.publish_run(&scratch.path().join("results"), attested.record());
    for (name, bytes) in attested.proofs(&inclusion).unwrap() {
        put(&dir.join(name), &bytes);
    }
    let only_fault = |trust: &Trust| {
        let faults = verify(&dir, trust).map(|_| ()).unwrap_err();
        let [fault] = &faults[..] else { panic!("{faults:?}") };
        fault.to_string()
    };
    let alone = Trust::from_key(&key.public()).with_logs(vec![log.key().clone()]);
    let text = only_fault(&alone);
    let expected = "x-audience is desk-1, and the record is in the log of host-a; help: ";
    assert!(text.contains(expected) && text.contains("add --fleet fleet.yaml"), "{text}");

    let (record_key, log_key) = (key.public().allowed_signers_line(), log.key().verifier_line());
    let fleet = |label: &str| {
        let list = format!(
            "fleet: farm\nfleet_id: 0b1c2d3e\nserial: 1\nhosts:\n  - name: host-a\n    labels: \
             [{label}]\n    record_keys: ['{record_key}']\n    log_key: '{log_key}'\n    \
             witness_key: 'host-a-witness+01234567+BA'\n"
        );
        Trust::of_fleet(&FleetList::parse(list.as_bytes(), "fleet.yaml").unwrap()).unwrap()
    };
    assert!(verify(&dir, &fleet("desk-1")).is_ok());
    let text = only_fault(&fleet("gpu"));
    assert!(text.ends_with("x-audience: this host is another"), "{text}");
}

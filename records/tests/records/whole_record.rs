//! Verification of a whole record: statement, log, approvals and the log's history, as far as the
//! trust goes, and the report of every skipped check.

use std::fs;
use std::path::{Path, PathBuf};

use model::{Outcome, ResultId, Sha256};
use records::log::{Log, LogKey, LogView};
use records::{
    ApprovalProblem, Conflict, CrossRecordCheck, History, HistoryError, RecordBundleError,
    ReplayOf, SkippedCheck, Statement, Trust, VerifiedRecord, VerifyError, attest, sign, verify,
    verify_bundle_alone,
};

use crate::attestation::LoggedRecord;
use crate::fixture::{REQUEST_ID, RecordCase, RecordScratch, publish, put, replace, stock};
use crate::log::log_key;

fn trust(logged: &LoggedRecord) -> Trust {
    Trust::from_key(&logged.key).with_logs(vec![logged.log.key().clone()])
}

fn faults(dir: &Path, trust: &Trust) -> Vec<VerifyError> {
    verify(dir, trust).map(|_| ()).unwrap_err()
}

fn beside(dir: &Path, ending: &str) -> PathBuf {
    dir.join(format!("{}.{ending}", dir.file_name().unwrap().to_str().unwrap()))
}

#[test]
fn what_is_checked_grows_with_the_trust_and_the_rest_is_reported() {
    let logged = LoggedRecord::new(RecordCase::plain());
    let dir = logged.publish(&logged.scratch.path().join("results"));
    let verified = verify(&dir, &Trust::from_key(&logged.key)).unwrap();
    assert_eq!(verified.skipped_checks(), [SkippedCheck::Log, SkippedCheck::Approvals]);
    assert_eq!(verified.log(), None);
    let verified = verify(&dir, &trust(&logged)).unwrap();
    assert_eq!(verified.skipped_checks(), [SkippedCheck::History, SkippedCheck::Approvals]);
    let place = verified.log().unwrap();
    assert_eq!((place.index, place.size), (3, 4));
    assert_eq!(place.origin, "toolexec.host1.example");
    assert_eq!(verified.files_rehashed(), 6);
    // An older version wrote neither bundle nor proof.
    fs::remove_file(beside(&dir, "bundle.json")).unwrap();
    let missing = |file: &str| VerifyError::Missing { path: file.to_owned() };
    let name = |ending| beside(&dir, ending).file_name().unwrap().to_str().unwrap().to_owned();
    for known in [Trust::from_key(&logged.key), trust(&logged)] {
        assert_eq!(faults(&dir, &known), [missing(&name("bundle.json"))]);
    }
    fs::remove_file(beside(&dir, "tlog-proof")).unwrap();
    let verified = verify(&dir, &Trust::from_key(&logged.key)).unwrap();
    let expected = [SkippedCheck::Statement, SkippedCheck::Log, SkippedCheck::Approvals];
    assert_eq!(verified.skipped_checks(), expected);
    let both = [missing(&name("bundle.json")), missing(&name("tlog-proof"))];
    assert_eq!(faults(&dir, &trust(&logged)), both);
}

#[test]
fn a_bundle_alone_verifies_without_its_files_and_says_so() {
    let logged = LoggedRecord::new(RecordCase::plain());
    let verified = verify_bundle_alone("x", &logged.bundle, &trust(&logged)).unwrap();
    let expected = [
        SkippedCheck::Record,
        SkippedCheck::Files,
        SkippedCheck::History,
        SkippedCheck::ApprovalsOfBundle,
    ];
    assert_eq!(verified.skipped_checks(), expected);
    assert_eq!((verified.outcome(), verified.exit_code()), ("ok", 0));
    assert_eq!(verified.files_rehashed(), 0);
    assert_eq!(verified.signer_fingerprint(), logged.key.fingerprint());
    let mut changed = logged.bundle.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    assert!(verify_bundle_alone("x", &changed, &trust(&logged)).is_err());
    // The trust in the key had ended before the record was made.
    let line = format!("tool-exec valid-before=\"20260101Z\" {}", logged.key.openssh_line());
    let old = Trust::from_allowed_signers(&line).unwrap();
    let faults = verify_bundle_alone("x", &logged.bundle, &old).map(|_| ()).unwrap_err();
    assert!(matches!(faults[..], [VerifyError::Signature { .. }]), "{faults:?}");
}

#[test]
fn a_log_may_have_had_several_keys_and_no_other_counts() {
    let logged = LoggedRecord::new(RecordCase::plain());
    let dir = logged.publish(&logged.scratch.path().join("results"));
    let origin = || "toolexec.host1.example".parse().unwrap();
    let other = LogKey::from_seed(origin(), &[1; 32]).public().clone();
    let known = Trust::from_key(&logged.key);
    let both = known.with_logs(vec![other.clone(), logged.log.key().clone()]);
    assert!(verify(&dir, &both).is_ok());
    let stranger = Trust::from_key(&logged.key).with_logs(vec![other]);
    let found = faults(&dir, &stranger);
    assert!(
        matches!(found[..], [VerifyError::Bundle { problem: RecordBundleError::OtherLog, .. }]),
        "{found:?}"
    );
}

#[test]
fn the_record_and_its_statement_are_of_one_key_though_two_are_trusted() {
    let logged = LoggedRecord::new(RecordCase::plain());
    let dir = logged.publish(&logged.scratch.path().join("results"));
    let other = logged.scratch.key("other");
    let attested = attest(&logged.case.statement(), &other).unwrap();
    let (name, sig) = &attested.record().files()[1];
    replace(&dir.join(name), sig);
    let lines = [&logged.key, &other.public()].map(|key| key.allowed_signers_line()).join("\n");
    let both = Trust::from_allowed_signers(&lines).unwrap();
    let both = both.with_logs(vec![logged.log.key().clone()]);
    let found = faults(&dir, &both);
    assert!(
        matches!(found[..], [VerifyError::Bundle { problem: RecordBundleError::OtherSigner, .. }]),
        "{found:?}"
    );
}

#[test]
fn what_never_ran_verifies_with_its_log_too() {
    for outcome in [Outcome::Refused, Outcome::SetupError, Outcome::Indeterminate] {
        let logged = LoggedRecord::new(RecordCase::plain());
        let attested = attest(&logged.case.not_run(outcome), &logged.scratch.key("keys")).unwrap();
        let mut log = Log::open_or_create(&logged.scratch.path().join("two"), log_key()).unwrap();
        let inclusion = log.append(&attested.envelope().log_entry()).unwrap();
        let dir = publish(&logged.scratch.path().join("results"), attested.record(), b"", b"");
        for (name, bytes) in attested.proofs(&inclusion).unwrap() {
            put(&dir.join(name), &bytes);
        }
        let verified = verify(&dir, &trust(&logged)).unwrap();
        assert_eq!((verified.outcome(), verified.exit_code()), (outcome.as_str(), -1));
    }
}

#[test]
fn a_log_that_was_cut_back_or_written_anew_contradicts_what_was_saved() {
    let mut logged = LoggedRecord::new(RecordCase::plain());
    let dir = logged.publish(&logged.scratch.path().join("results"));
    let place = logged.scratch.path().join("log");
    let origin = logged.log.key().origin().clone();
    let saved = logged.log.head().clone();
    let key = logged.log.key().clone();
    let open = |place: &Path| LogView::open(place, &key).unwrap();
    for number in 0..300_u32 {
        logged.log.append(&number.to_be_bytes()).unwrap();
    }
    let later = logged.log.head().clone();
    let history = History::of(open(&place), origin.clone(), Some((&saved, &origin))).unwrap();
    let verified = verify(&dir, &trust(&logged).with_history(history)).unwrap();
    assert_eq!(verified.skipped_checks(), [SkippedCheck::Approvals]);
    // Without a saved checkpoint only record and log are compared, and a skip is reported.
    let history = History::of(open(&place), origin.clone(), None).unwrap();
    let verified = verify(&dir, &trust(&logged).with_history(history)).unwrap();
    assert_eq!(verified.skipped_checks(), [SkippedCheck::History, SkippedCheck::Approvals]);

    let anew = logged.scratch.path().join("anew");
    let mut log = Log::open_or_create(&anew, log_key()).unwrap();
    log.append(b"another").unwrap();
    let smaller = History::of(open(&anew), origin.clone(), Some((&later, &origin)));
    let expected = HistoryError::Smaller { was: 304, is: 1 };
    assert_eq!(smaller.map(|_| ()).unwrap_err(), expected);
    let history = History::of(open(&anew), origin.clone(), None).unwrap();
    let found = faults(&dir, &trust(&logged).with_history(history));
    assert!(matches!(found[..], [VerifyError::History { .. }]), "{found:?}");
    for number in 0..10_u32 {
        log.append(&number.to_be_bytes()).unwrap();
    }
    let rewritten = History::of(open(&anew), origin.clone(), Some((&saved, &origin)));
    let expected = HistoryError::Rewritten { was: 4, is: 11 };
    assert_eq!(rewritten.map(|_| ()).unwrap_err(), expected);
    let history = History::of(open(&anew), origin.clone(), None).unwrap();
    let found = faults(&dir, &trust(&logged).with_history(history));
    assert!(matches!(found[..], [VerifyError::History { .. }]), "{found:?}");
    let other = History::of(open(&place), "other.example".parse().unwrap(), None).unwrap();
    let found = faults(&dir, &trust(&logged).with_history(other));
    let origin_differs = VerifyError::History {
        file: beside(&dir, "bundle.json").file_name().unwrap().to_str().unwrap().into(),
        problem: HistoryError::Origin,
    };
    assert_eq!(found, [origin_differs]);
}

#[test]
fn across_records_nothing_is_used_twice() {
    let logged = LoggedRecord::new(RecordCase::plain());
    let first = logged.publish(&logged.scratch.path().join("a"));
    let copy = logged.publish(&logged.scratch.path().join("b"));
    let known = trust(&logged);
    let mut across = CrossRecordCheck::default();
    let verified = |dir: &Path| verify(dir, &known).unwrap();
    assert_eq!(across.add(0, &verified(&first)), []);
    let clashes = across.add(1, &verified(&copy));
    let expected =
        [Conflict::Request, Conflict::ResultId, Conflict::LogIndex(3), Conflict::LogLeaf];
    assert_eq!(clashes, expected.map(|clash| (clash, 0)));

    // The same request again a second later, in the same log.
    let mut again = RecordCase::plain();
    again.result_id = "TS-20261121-121029Z-TR-20261121-120000Z-stats".parse().unwrap();
    let place = logged.scratch.path().join("log");
    let LoggedRecord { scratch, mut log, case, .. } = logged;
    let key = scratch.key("keys");
    let mut logs = |case: &RecordCase, log: &mut Log, root: &str| {
        let attested = attest(&case.statement(), &key).unwrap();
        let inclusion = log.append(&attested.envelope().log_entry()).unwrap();
        let dir = case.publish_run(&scratch.path().join(root), attested.record());
        for (name, bytes) in attested.proofs(&inclusion).unwrap() {
            put(&dir.join(name), &bytes);
        }
        across.add(2, &verified(&dir))
    };
    assert_eq!(logs(&again, &mut log, "c"), [(Conflict::Request, 0)]);
    // Another request of the same number in a log of the same name: the log shows two histories.
    drop(log);
    fs::remove_dir_all(&place).unwrap();
    let mut log = Log::open_or_create(&place, log_key()).unwrap();
    for number in 0..3_u32 {
        log.append(&number.to_be_bytes()).unwrap();
    }
    drop(case);
    let clashes = logs(&RecordCase::numbered(8), &mut log, "d");
    assert_eq!(clashes, [(Conflict::LogIndex(3), 0), (Conflict::LogFork(4), 0)]);
}

#[test]
fn a_replay_is_held_against_the_record_that_it_names() {
    let scratch = RecordScratch::in_memory();
    let (key, case) = (scratch.key("keys"), RecordCase::plain());
    let known = Trust::from_key(&key.public());
    let first = case.publish(&scratch.path().join("a"), &key);
    let later: ResultId = "TS-20261121-121029Z-TR-20261121-120000Z-stats".parse().unwrap();
    let original = case.result_id.clone();
    let md = Sha256::of(&fs::read(beside(&first, "md")).unwrap());
    let replay = |root: &str, record_sha256| {
        let replay_of = Some(ReplayOf { result_id: &original, record_sha256 });
        let statement = Statement { result_id: &later, replay_of, ..case.statement() };
        let record = sign(&statement, &key).unwrap();
        let dir = case.publish_run(&scratch.path().join(root), &record);
        verify(&dir, &known).unwrap()
    };
    let not_here = |verified: &VerifiedRecord| {
        verified.skipped_checks().contains(&SkippedCheck::ReplayedRecord)
    };
    let mut good = replay("b", md);
    assert!(not_here(&good));
    let mut across = CrossRecordCheck::default();
    assert!(across.awaits_original(&good));
    assert_eq!(across.add(0, &good), []);
    assert_eq!(across.check_replay(&mut good), None);
    assert!(not_here(&good), "nobody looked at the other record");
    let of = verify(&first, &known).unwrap();
    assert!(!not_here(&of) && !across.awaits_original(&of));
    assert_eq!(across.add(1, &of), []);
    assert!(!across.awaits_original(&good));
    assert_eq!(across.check_replay(&mut good), None);
    assert!(!not_here(&good));
    let mut forged = replay("c", Sha256::of(b"another record"));
    assert_eq!(across.check_replay(&mut forged), Some((Conflict::Replay, 1)));
}

struct ApprovedRecord {
    scratch: RecordScratch,
    case: RecordCase,
    fingerprint: String,
    line: String,
}

const TEST: &str = "approvals_are_verified_again";

impl ApprovedRecord {
    fn new(namespace: &str) -> Option<Self> {
        let scratch = RecordScratch::in_memory();
        let (key, request) = (scratch.path().join("alice"), scratch.path().join("request"));
        let (key_file, request_file) = (key.to_str().unwrap(), request.to_str().unwrap());
        let case = RecordCase::plain();
        put(&request, case.request.bytes());
        stock(TEST, "ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", key_file], b"")?;
        let sign = ["-q", "-Y", "sign", "-f", key_file, "-n", namespace, request_file];
        let (signed, output) = stock(TEST, "ssh-keygen", &sign, b"")?;
        assert!(signed, "{output}");
        let line = fs::read_to_string(key.with_extension("pub")).unwrap();
        let fingerprint = policies::SignerKey::read(line.trim()).unwrap().fingerprint();
        let signature = fs::read(request.with_extension("sig")).unwrap();
        let approvals = vec![("alice".to_owned(), fingerprint.clone())];
        let files = vec![(format!("{REQUEST_ID}.md.alice.sig"), signature)];
        let case = case.approved(approvals, files);
        Some(Self { scratch, case, fingerprint, line })
    }

    fn verify(&self, approvers: &str, revoked: &str) -> Result<usize, Vec<VerifyError>> {
        let key = self.scratch.key("keys");
        let root = self.scratch.path().join("results");
        fs::remove_dir_all(&root).ok();
        let dir = self.case.publish(&root, &key);
        let signers = policies::AllowedSigners::parse(approvers).unwrap();
        let revoked = policies::RevokedKeys::parse(revoked.as_bytes()).unwrap();
        let known = Trust::from_key(&key.public()).with_approvers(signers.with_revoked(revoked));
        verify(&dir, &known).map(|verified| {
            assert!(!verified.skipped_checks().contains(&SkippedCheck::Approvals));
            verified.approvals_checked()
        })
    }

    #[track_caller]
    fn refused(&self, approvers: &str, revoked: &str) -> String {
        let faults = self.verify(approvers, revoked).unwrap_err();
        let [VerifyError::Approval { approval, problem, .. }] = &faults[..] else {
            panic!("{faults:?}");
        };
        if *problem != ApprovalProblem::Rejected {
            assert_eq!(*approval, format!("alice {}", self.fingerprint));
        }
        problem.to_string()
    }
}

#[test]
fn approvals_are_verified_again() {
    let Some(approved) = ApprovedRecord::new("approve.tool-exec@threegate") else { return };
    let line = &approved.line;
    assert_eq!(approved.verify(&format!("alice {line}"), ""), Ok(1));
    // At approved_utc, 12:05, and for approving.
    let valid = format!("alice valid-before=\"20261121120500Z\" {line}");
    assert_eq!(approved.verify(&valid, ""), Ok(1));
    let refusals = [
        (format!("bob {line}"), "no approver has this name and key"),
        (String::new(), "no approver has this name and key"),
        (format!("alice valid-before=\"20261121120459Z\" {line}"), "was not valid at approved_utc"),
        (format!("alice namespaces=\"reject.*\" {line}"), "not allowed to approve"),
    ];
    for (approvers, expected) in &refusals {
        let output = approved.refused(approvers, "");
        assert!(output.contains(expected), "{approvers}: {output}");
    }
    assert_eq!(approved.refused(&format!("alice {line}"), line), "the key is revoked");
}

#[test]
fn a_signature_for_another_use_backs_no_approval() {
    let Some(approved) = ApprovedRecord::new("file") else { return };
    let output = approved.refused(&format!("alice {}", approved.line), "");
    assert_eq!(output, "no file in request/ has this signature");
    let Some(rejected) = ApprovedRecord::new("reject.tool-exec@threegate") else { return };
    let rejected = ApprovedRecord { case: rejected.case.approved(vec![], vec![]), ..rejected };
    // The daemon decided without approvals and without a rejection.
    assert_eq!(rejected.verify(&format!("alice {}", rejected.line), ""), Ok(0));
}

#[test]
fn a_rejection_is_found_where_no_approval_is_stated_and_under_any_name() {
    let Some(rejected) = ApprovedRecord::new("reject.tool-exec@threegate") else { return };
    let (_, rejection) = rejected.case.statement().request_files[0].clone();
    let line = format!("alice {}", rejected.line);
    for name in [format!("{REQUEST_ID}.md.sig"), "notes.txt".to_owned()] {
        let files = vec![(name, rejection.clone())];
        let key = rejected.scratch.key("keys");
        let case = RecordCase::plain().approved(vec![], files);
        let root = rejected.scratch.path().join("results");
        fs::remove_dir_all(&root).ok();
        let dir = case.publish(&root, &key);
        let known = |line: &str| {
            let signers = policies::AllowedSigners::parse(line).unwrap();
            Trust::from_key(&key.public()).with_approvers(signers)
        };
        let found = faults(&dir, &known(&line));
        let [VerifyError::Approval { problem: ApprovalProblem::Rejected, .. }] = &found[..] else {
            panic!("{found:?}");
        };
        // A rejection by an unknown key does not count, and the missing approval is reported.
        let verified = verify(&dir, &known("")).unwrap();
        assert_eq!(
            verified.skipped_checks(),
            [SkippedCheck::Statement, SkippedCheck::Log, SkippedCheck::NoApproval]
        );
    }
}

#[test]
fn a_run_whose_request_was_rejected_is_no_good_run() {
    let Some(first) = ApprovedRecord::new("approve.tool-exec@threegate") else { return };
    let Some(second) = ApprovedRecord::new("reject.tool-exec@threegate") else { return };
    let statement = second.case.statement();
    let (_, rejection) = statement.request_files[0].clone();
    let statement = first.case.statement();
    let mut files = statement.request_files.to_vec();
    let approvals = statement.approvals.to_vec();
    files.push((format!("{REQUEST_ID}.md.bob.sig"), rejection));
    let lines = format!("alice {}\nbob {}", first.line, second.line);
    let both = ApprovedRecord { case: RecordCase::plain().approved(approvals, files), ..first };
    assert_eq!(both.refused(&lines, ""), "the request was rejected but ran");
}

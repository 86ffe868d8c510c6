//! Records that are gathered and not yet published: their faults are found at that point. The
//! minimal record, which replaces one that does not verify, must verify for every subject.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::Path;

use model::{Outcome, ResultId, Sha256};
use policies::Rationale;
use records::{
    AttestedRecord, RecordSubject, ReplayOf, ResultKey, Statement, Trust, VerifyError, attest,
    verify_gathered,
};

use crate::fixture::{CREATED, RecordCase, RecordScratch, at, flip, publish, put};
use crate::hostile_everywhere::hostile_texts;

fn gathered(
    dir: &Path,
    attested: &AttestedRecord,
    key: &ResultKey,
) -> Result<(), Vec<VerifyError>> {
    let dir = File::open(dir).unwrap();
    verify_gathered(dir.as_fd(), attested, &Trust::from_key(&key.public())).map(drop)
}

#[test]
fn what_is_wrong_with_a_gathered_record_is_found() {
    let scratch = RecordScratch::in_memory();
    let (key, other, case) = (scratch.key("keys"), scratch.key("other"), RecordCase::plain());
    let attested = attest(&case.statement(), &key).unwrap();
    let there = |name: &str| case.publish_run(&scratch.path().join(name), attested.record());
    assert_eq!(gathered(&there("good"), &attested, &key), Ok(()));
    assert!(gathered(&there("key"), &attested, &other).is_err());
    let dir = there("stray");
    put(&dir.join("stray"), b"x");
    let stray = VerifyError::NotNamed { path: "stray".into() };
    assert_eq!(gathered(&dir, &attested, &key), Err(vec![stray]));
    for name in ["stdout", "artifacts/stats.json", "request/TR-20261121-120000Z-stats.md"] {
        let dir = there(&name.replace('/', "-"));
        flip(&dir.join(name));
        let faults = gathered(&dir, &attested, &key).unwrap_err();
        assert!(
            faults.iter().any(|it| matches!(it, VerifyError::Digest { path, .. } if path == name))
        );
    }
    // The statement of another record of the same run.
    let statement = Statement { policy_name: "another", ..case.statement() };
    let foreign = attest(&statement, &key).unwrap();
    let faults = gathered(&there("foreign"), &foreign, &key).unwrap_err();
    assert!(faults.iter().any(|it| matches!(it, VerifyError::FactsDiffer { .. })), "{faults:?}");
}

#[test]
fn a_record_that_contradicts_itself_is_found_before_it_is_published() {
    let scratch = RecordScratch::in_memory();
    let (key, case) = (scratch.key("keys"), RecordCase::plain());
    let record_sha256 = Sha256::of(b"record");
    let replay_of = Some(ReplayOf { result_id: &case.result_id, record_sha256 });
    let attested = attest(&Statement { replay_of, ..case.statement() }, &key).unwrap();
    let dir = case.publish_run(scratch.path(), attested.record());
    let faults = gathered(&dir, &attested, &key).unwrap_err();
    assert!(matches!(faults[..], [VerifyError::Inconsistency { .. }]), "{faults:?}");
}

/// Builds the record as the daemon does: the bytes of the request, its name and its outcome.
#[test]
fn the_least_of_all_records_verifies() {
    let scratch = RecordScratch::in_memory();
    let (key, case) = (scratch.key("keys"), RecordCase::plain());
    let rationale = Rationale::default();
    let own = case.request.bytes().to_vec();
    let mut number = 0;
    for bytes in hostile_texts().into_iter().chain([own]).filter(|bytes| bytes.len() < 4096) {
        let file_name = String::from_utf8_lossy(&bytes).chars().take(100).collect::<String>();
        let id = ResultId::for_refused(at(CREATED), &Sha256::of(&bytes));
        let (named, unnamed) = ((Some(case.request.id()), &case.result_id), (None, &id));
        let of = "TS-20261120-121030Z-TR-20261121-120000Z-stats".parse().unwrap();
        let replay_of = ReplayOf { result_id: &of, record_sha256: Sha256::of(b"record") };
        for (outcome, (request_id, result_id), replay_of) in [
            (Outcome::Refused, unnamed, None),
            (Outcome::Refused, named, None),
            (Outcome::SetupError, named, None),
            (Outcome::Cancelled, named, None),
            (Outcome::Indeterminate, named, None),
            (Outcome::Indeterminate, named, Some(replay_of)),
        ] {
            let statement = Statement {
                result_id,
                subject: RecordSubject::Unusable {
                    file_name: &file_name,
                    bytes: &bytes,
                    request_id,
                },
                replay_of,
                reason: Some("the full record did not verify; this one is reduced"),
                violations: &[],
                rationale: Some(&rationale),
                approval: "none",
                approvals: &[],
                request_files: &[],
                ..case.not_run(outcome)
            };
            let attested = attest(&statement, &key).unwrap();
            let root = scratch.path().join(number.to_string());
            let dir = publish(&root, attested.record(), b"", b"");
            let found = gathered(&dir, &attested, &key);
            assert_eq!(found, Ok(()), "{outcome} {file_name:?}");
            number += 1;
        }
    }
    assert!(number > 400, "{number}");
}

//! The summary of a result in lists: the record's claims, without verification.

use std::fs;
use std::path::Path;

use model::{Outcome, RequestId, ResultId};
use records::{RecordSubject, Statement, sign, summary};

use crate::fixture::{CREATED, REQUEST_ID, RecordCase, RecordScratch, at, publish, put, replace};

fn summarized(dir: &Path) -> (String, String, String, String, i32) {
    let it = summary(dir).unwrap();
    (it.result_id, it.request_id, it.created_utc, it.outcome, it.exit_code)
}

#[test]
fn it_says_what_the_record_says() {
    let (case, scratch) = (RecordCase::plain(), RecordScratch::new());
    let key = scratch.key("keys");
    let dir = case.publish(scratch.path(), &key);
    let id = case.result_id.to_string();
    let expected = |outcome: &str, code| {
        (id.clone(), REQUEST_ID.to_owned(), CREATED.to_owned(), outcome.to_owned(), code)
    };
    assert_eq!(summarized(&dir), expected("ok", 0));
    // Nothing is verified: neither the files nor the signature.
    fs::remove_file(dir.join("stdout")).unwrap();
    fs::remove_file(dir.join(format!("{id}.md.sig"))).unwrap();
    assert_eq!(summarized(&dir), expected("ok", 0));
    let record = sign(&case.not_run(Outcome::Refused), &key).unwrap();
    let refused = publish(&scratch.path().join("refused"), &record, b"", b"");
    assert_eq!(summarized(&refused), expected("refused", -1));
}

#[test]
fn a_masked_id_is_read_as_it_is() {
    let id: RequestId = "TR-20261121-120000Z-AKIAABCDEFGHIJKLMNOP".parse().unwrap();
    let result_id = ResultId::for_request(at(CREATED), &id);
    let (case, scratch) = (RecordCase::plain(), RecordScratch::new());
    let subject = RecordSubject::Unusable { file_name: "x.md", bytes: b"x", request_id: Some(&id) };
    let not_run = case.not_run(Outcome::Refused);
    let statement = Statement { result_id: &result_id, subject, ..not_run };
    let record = sign(&statement, &scratch.key("keys")).unwrap();
    let dir = publish(scratch.path(), &record, b"", b"");
    assert_eq!(summarized(&dir).0, result_id.as_str());
    assert_eq!(summarized(&dir).1, id.as_str());
}

#[test]
fn where_there_is_no_record_there_is_none() {
    let (case, scratch) = (RecordCase::plain(), RecordScratch::new());
    assert!(summary(&scratch.path().join("nothing")).is_none());
    let dir = case.publish(scratch.path(), &scratch.key("keys"));
    let md = dir.join(format!("{}.md", case.result_id));
    let text = fs::read_to_string(&md).unwrap();
    let bad: [&[u8]; 5] =
        [b"", b"\xff", b"---\n---\n", b"---\nresult_id: [\n---\n", &[b'a'; 5 << 20]];
    for bytes in bad {
        replace(&md, bytes);
        assert!(summary(&dir).is_none());
    }
    replace(&md, text.replace("exit_code: 0", "exit_code: zero").as_bytes());
    assert!(summary(&dir).is_none());
    fs::remove_file(&md).unwrap();
    put(&scratch.path().join("elsewhere.md"), text.as_bytes());
    std::os::unix::fs::symlink(scratch.path().join("elsewhere.md"), &md).unwrap();
    assert!(summary(&dir).is_none());
}

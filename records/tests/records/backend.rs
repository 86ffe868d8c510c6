//! Records of runs in a further backend: a record states its files, and the verifier finds every
//! other statement. A record of the sandbox alone has no such facts.

use model::Sha256;
use policies::{BackendFile, BackendKind, GrantedBackend};
use records::{Statement, Trust, sign, verify};

use crate::environment::faults_of_signed;
use crate::fixture::{RecordCase, RecordScratch, checked, markdown, request_text};

fn monty() -> GrantedBackend {
    let sha256 = Sha256::of(b"the interpreter");
    let path = "/usr/libexec/toolexec/toolexec-monty".into();
    GrantedBackend {
        name: "monty".to_owned(),
        kind: BackendKind::Interpreter,
        program: Some("/cache/backend/toolexec-monty".into()),
        files: vec![BackendFile { role: "program".to_owned(), path, sha256 }],
        machine: None,
    }
}

fn ran_in<'a>(case: &'a RecordCase, granted: &'a GrantedBackend) -> Statement<'a> {
    Statement { backend: &granted.name, backend_detail: Some(granted), ..case.statement() }
}

/// Returns a run whose request names this backend.
pub(crate) fn case_with(name: &str) -> RecordCase {
    let last = "  - \"Be quick about it\"\n";
    let named = format!("{last}backend: \"{name}\"\n");
    let text = request_text("Statistics of the weather.").replacen(last, &named, 1);
    let mut case = RecordCase::plain();
    case.request = checked(&text).unwrap();
    case
}

#[test]
fn a_record_states_the_files_of_its_backend() {
    let scratch = RecordScratch::in_memory();
    let key = scratch.key("keys");
    let (case, granted) = (RecordCase::plain(), monty());
    let record = sign(&ran_in(&case, &granted), &key).unwrap();
    let md = markdown(&record);
    let sha256 = &granted.files[0].sha256;
    for line in
        ["- Backend: monty, tool-exec 0.1.0", &format!("- Backend file: program, sha256 {sha256}")]
    {
        assert!(md.lines().any(|it| it == line), "{line} is not in {md}");
    }
    let dir = case.publish_run(scratch.path(), &record);
    let _record = verify(&dir, &Trust::from_key(&key.public())).unwrap();
}

#[test]
fn the_sandbox_alone_has_no_further_facts() {
    let scratch = RecordScratch::in_memory();
    let (case, confined) = (RecordCase::plain(), GrantedBackend::confined());
    let record = sign(&ran_in(&case, &confined), &scratch.key("keys")).unwrap();
    let md = markdown(&record);
    assert!(!md.contains("backend_detail") && !md.contains("Backend file"), "{md}");
}

#[test]
fn another_backend_than_that_of_the_request_is_a_fault() {
    let scratch = RecordScratch::in_memory();
    let key = scratch.key("keys");
    let trust = Trust::from_key(&key.public());
    let (case, granted) = (case_with("confined"), monty());
    let record = sign(&ran_in(&case, &granted), &key).unwrap();
    let dir = case.publish_run(scratch.path(), &record);
    let faults = verify(&dir, &trust).unwrap_err();
    let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let expected = "backend is \"monty\" and the request's is confined";
    assert!(texts.iter().any(|it| it.contains(expected)), "{texts:?}");
}

#[test]
fn an_altered_block_is_a_fault() {
    let test = "an_altered_block_is_a_fault";
    let scratch = RecordScratch::new();
    let key = scratch.key("keys");
    let private = scratch.path().join("keys/result");
    let (case, granted) = (RecordCase::plain(), monty());
    let record = sign(&ran_in(&case, &granted), &key).unwrap();
    let (dir, md) = (case.publish_run(scratch.path(), &record), markdown(&record));
    let Some(faults) = faults_of_signed(test, (&dir, &private), &md) else { return };
    assert!(faults.is_empty(), "{faults:?}");
    let sha256 = granted.files[0].sha256.to_string();
    let other = Sha256::of(b"another program").to_string();
    let line = format!("- Backend file: program, sha256 {sha256}\n");
    let changes = [
        // The first is in the front matter, the last in the text.
        (sha256.as_str(), other.as_str(), "its text"),
        (line.as_str(), "", "its text does not have"),
        ("kind: interpreter", "kind: container", "unexpected value"),
        ("kind: interpreter", "kind: sandbox", "not of a further backend"),
        ("role: \"program\"", "role: \"another\"", "no file has the role program"),
        ("backend: \"monty\"", "backend: \"confined\"", "backend_detail is of monty"),
    ];
    for (from, to, expected) in changes {
        assert!(md.contains(from), "{from} is not in {md}");
        let changed = md.replacen(from, to, 1);
        let faults = faults_of_signed(test, (&dir, &private), &changed).unwrap();
        assert!(faults.iter().any(|it| it.contains(expected)), "{from} → {to}: {faults:?}");
    }
}

//! Records of requests that name an environment: a record names the same one, and the verifier
//! finds every other statement.

use std::fs;
use std::path::Path;

use model::{Outcome, Sha256};
use records::{RESULT_NAMESPACE, Trust, sign, verify};

use crate::fixture::{
    RecordCase, RecordScratch, checked, markdown, publish, replace, request_text, stock,
};

fn reference(name: &str) -> String {
    format!("{name}@sha256:{}", Sha256::of(name.as_bytes()))
}

/// Returns the line of the body for an environment.
fn body_line(reference: &str) -> String {
    let (name, sha256) = reference.split_once("@sha256:").unwrap();
    format!("- Environment: {name}, sha256 {sha256}")
}

/// Returns a run whose request names this environment.
fn case_with(reference: &str) -> RecordCase {
    let last = "  - \"Be quick about it\"\n";
    let named = format!("{last}x-environment: \"{reference}\"\n");
    let text = request_text("Statistics of the weather.").replacen(last, &named, 1);
    let mut case = RecordCase::plain();
    case.request = checked(&text).unwrap();
    case
}

#[track_caller]
fn assert_line(md: &str, line: &str) {
    assert!(md.lines().any(|have| have == line), "no line `{line}` in:\n{md}");
}

#[test]
fn a_record_names_the_environment_of_its_request() {
    let (scratch, charts) = (RecordScratch::in_memory(), reference("charts"));
    let key = scratch.key("keys");
    let trust = Trust::from_key(&key.public());
    let case = case_with(&charts);

    let ran = sign(&case.statement(), &key).unwrap();
    let refused = sign(&case.not_run(Outcome::Refused), &key).unwrap();
    for record in [&ran, &refused] {
        let md = markdown(record);
        assert_line(&md, &format!("environment: \"{charts}\""));
        assert_line(&md, &body_line(&charts));
    }
    let dir = case.publish_run(&scratch.path().join("ran"), &ran);
    assert!(verify(&dir, &trust).is_ok());
    let dir = publish(&scratch.path().join("refused"), &refused, b"", b"");
    assert!(verify(&dir, &trust).is_ok());

    let md = markdown(&sign(&RecordCase::plain().statement(), &key).unwrap());
    assert_line(&md, "environment: null");
    assert!(!md.contains("- Environment: "), "{md}");
}

/// Signs a changed record with the key of the host, as its holder could. Returns the faults, or
/// `None` without `ssh-keygen`.
pub(crate) fn faults_of_signed(
    test: &str,
    (dir, key): (&Path, &Path),
    md: &str,
) -> Option<Vec<String>> {
    let trust = fs::read_to_string(key.with_extension("pub")).unwrap();
    let trust = Trust::from_allowed_signers(&format!("tool-exec {trust}")).unwrap();
    let path = dir.join(format!("{}.md", dir.file_name()?.to_str()?));
    replace(&path, md.as_bytes());
    fs::remove_file(path.with_extension("md.sig")).unwrap();
    let args = ["-q", "-Y", "sign", "-n", RESULT_NAMESPACE, "-f", key.to_str()?, path.to_str()?];
    let (signed, output) = stock(test, "ssh-keygen", &args, b"")?;
    assert!(signed, "{output}");
    match verify(dir, &trust) {
        Ok(_) => Some(Vec::new()),
        Err(faults) => Some(faults.iter().map(ToString::to_string).collect()),
    }
}

#[test]
fn another_environment_than_the_one_of_the_request_is_a_fault() {
    let test = "another_environment_than_the_one_of_the_request_is_a_fault";
    let scratch = RecordScratch::new();
    let key = scratch.key("keys");
    let private = scratch.path().join("keys/result");
    let (charts, other) = (reference("charts"), reference("other"));
    let stated = |it: &str| format!("environment: \"{it}\"\n");
    let absent = || "environment: null\n".to_owned();
    let line = |it: &str| format!("{}\n", body_line(it));
    let (of_request, of_text) = ("environment is ", "name different environments");
    let changes = [
        (stated(&charts), stated(&other), of_request),
        (stated(&charts), absent(), of_request),
        // Without the key, as in a record of an earlier version, the text has no line of it.
        (stated(&charts), String::new(), of_text),
        (line(&charts), line(&other), of_text),
        (line(&charts), String::new(), of_text),
        (line(&charts), line(&charts).repeat(2), of_text),
    ];
    let case = case_with(&charts);
    let record = sign(&case.statement(), &key).unwrap();
    let (dir, md) = (case.publish_run(scratch.path(), &record), markdown(&record));
    let Some(faults) = faults_of_signed(test, (&dir, &private), &md) else { return };
    assert!(faults.is_empty(), "{faults:?}");
    for (from, to, expected) in changes {
        assert!(md.contains(&from), "{from} is not in {md}");
        let changed = md.replacen(&from, &to, 1);
        let faults = faults_of_signed(test, (&dir, &private), &changed).unwrap();
        assert!(faults.iter().any(|it| it.contains(expected)), "{from} → {to}: {faults:?}");
    }

    let case = RecordCase::plain();
    let record = sign(&case.statement(), &key).unwrap();
    let (dir, md) = (case.publish_run(&scratch.path().join("plain"), &record), markdown(&record));
    let changed = md.replacen(&absent(), &stated(&charts), 1);
    let faults = faults_of_signed(test, (&dir, &private), &changed).unwrap();
    assert!(faults.iter().any(|it| it.contains(of_request)), "{faults:?}");
}

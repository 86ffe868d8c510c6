//! `approve` writes nothing if a signature would not count, or a file differs from the review.

use std::fs;
use std::path::Path;

use serde_json::json;
use toolexec_tests::{Bench, SavedRequest, at_a_terminal_with, ssh_keygen_works};

use super::approvers::{ED25519, approve, key, saved, signers, unapproved};
use super::policy;

/// Asserts that nothing was written into the request or beside it.
#[track_caller]
fn assert_untouched(request: &SavedRequest, before: &[u8]) {
    assert_eq!(fs::read(&request.path).unwrap(), before, "the request was changed");
    let beside = fs::read_dir(request.path.parent().unwrap()).unwrap();
    let names = beside.map(|it| it.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> =
        names.filter(|it| it.contains(&request.id) && it.contains(".md.")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_signature_that_would_not_count_is_not_left() {
    if !ssh_keygen_works("a_signature_that_would_not_count_is_not_left") {
        return;
    }
    let bench = Bench::new();
    let (alice, mallory) = (key(&bench, "alice", ED25519), key(&bench, "mallory", ED25519));
    let (bob, late) = (key(&bench, "bob", ED25519), key(&bench, "late", ED25519));
    let trusted = signers(&bench, &[("alice", &alice), ("bob", &bob)]);
    let public = |key: &Path| fs::read_to_string(key.with_extension("pub")).unwrap();
    let text = format!(
        "{}late valid-before=\"20200101Z\" {}asks namespaces=\"file\" {}",
        fs::read_to_string(&trusted).unwrap(),
        public(&late),
        public(&key(&bench, "asks", ED25519))
    );
    fs::write(&trusted, text).unwrap();
    fs::copy(bob.with_extension("pub"), bench.home().join("revoked")).unwrap();
    let asks = bench.home().join("asks");
    let rules = policy(&bench);
    let none = ("purpose", "purpose");
    for (by, key, edit, more, why) in [
        ("Alice", &alice, none, &[][..], "belongs to alice"),
        ("bob", &alice, none, &[], "belongs to alice"),
        ("mallory", &mallory, none, &[], "is not in"),
        ("late", &late, none, &[], "is not"),
        ("asks", &asks, none, &[], "does not let key"),
        ("bob", &bob, none, &["--revoked", "revoked"], "is revoked"),
        ("alice", &alice, ("purpose", "x-requester: alice\npurpose"), &[], "is the requester"),
        ("alice", &alice, ("approved_by: \"\"", "approved_by: bob"), &[], "bob did not sign"),
    ] {
        let request = saved(&bench, &unapproved("print(1)\n").edit(edit.0, edit.1));
        let before = fs::read(&request.path).unwrap();
        let trusted = ["--policy", &rules, "--approvers", trusted.to_str().unwrap()];
        let output = approve(&bench, &request, by, key, &[&trusted[..], more].concat());
        output.assert_code(2);
        output.assert_stderr(&[why, "not signed"]);
        let object = output.json();
        assert_eq!(object["request"], json!(request.path.to_str().unwrap()));
        assert!(object["refused"].as_str().unwrap().contains(why), "{object}");
        assert_untouched(&request, &before);
    }
}

#[test]
fn what_was_changed_while_it_was_shown_is_not_signed() {
    let test = "what_was_changed_while_it_was_shown_is_not_signed";
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let alice = key(&bench, "alice", ED25519);
    for approved_by in ["\"\"", "alice"] {
        let text = unapproved("print(1)\n");
        let text = match approved_by {
            "alice" => text
                .edit("approved_by: \"\"", "approved_by: alice")
                .edit("approved_utc: \"\"", &format!("approved_utc: \"{}\"", now(&bench))),
            _ => text,
        };
        let request = saved(&bench, &text);
        let path = request.path.to_str().unwrap();
        let pager = format!("cat; echo ' ' >> {path}");
        let mut changed = fs::read(&request.path).unwrap();
        changed.extend(b" \n");
        let words = ["approve", path, "--approver", "alice", "--key", alice.to_str().unwrap()];
        let answers = [("to sign: ", "approve")];
        let output = at_a_terminal_with(&bench, test, &pager, &answers, &words);
        let Some(output) = output else { return };
        output.assert_code(2);
        assert!(output.stdout.contains("changed after it was read"), "{output:#?}");
        assert_untouched(&request, &changed);
    }
}

fn now(bench: &Bench) -> String {
    let mut command = bench.command("date");
    let output = toolexec_tests::CliOutput::of(command.args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]));
    output.stdout.trim().to_owned()
}

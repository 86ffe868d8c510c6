//! Several requests approved with one signature: OpenSSH and sha256sum confirm it, each request runs
//! once with the list in its record, and the list approves nothing else. Also several submitted by
//! one command.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use model::{Sha256, digest_words};
use serde_json::json;
use toolexec_tests::{
    Bench, CliOutput, Record, RequestText, SavedRequest, SmallDisk, StandingText, at_a_terminal,
    list, skip, ssh_keygen_works,
};

use super::approvers::{ED25519, approve, codes, explain, key, rule, saved, signers, unapproved};
use super::policy;

const BATCH: &str = "batch.tool-exec@threegate";

/// An approver, the file that trusts the key, and a policy that requires one signature.
struct BatchApprover {
    alice: PathBuf,
    trusted: PathBuf,
    policy: String,
}

impl BatchApprover {
    fn new(bench: &Bench) -> Self {
        let alice = key(bench, "alice", ED25519);
        let trusted = signers(bench, &[("alice", &alice)]);
        Self { alice, trusted, policy: policy(bench) }
    }
}

fn signature_of(request: &SavedRequest) -> PathBuf {
    request.path.with_extension("md.sig")
}

fn requests(bench: &Bench, count: usize) -> Vec<SavedRequest> {
    (0..count).map(|it| saved(bench, &unapproved(&format!("print({it})\n")))).collect()
}

fn approve_all(bench: &Bench, requests: &[&SavedRequest], key: &Path, more: &[&str]) -> CliOutput {
    let mut command = bench.command("toolexec");
    command.arg("approve").args(requests.iter().map(|request| &request.path));
    command.args(["--approver", "alice", "--yes", "--format", "json", "--key"]).arg(key);
    CliOutput::of(command.args(more))
}

/// Creates a spool without a daemon, and returns its `approved/`.
fn approved_of_a_spool(bench: &Bench) -> PathBuf {
    let approved = bench.home().join("spool/approved");
    fs::create_dir_all(&approved).unwrap();
    approved
}

fn submit_all(bench: &Bench, files: &[&Path], more: &[&str]) -> CliOutput {
    let mut command = bench.command("toolexec");
    command.arg("submit").args(files).args(["--spool", "spool", "--format", "json"]);
    CliOutput::of(command.args(more))
}

/// Returns the list in a signature file.
fn list_in(signature: &Path) -> String {
    let text = fs::read_to_string(signature).unwrap();
    text.split_once("-----END SSH SIGNATURE-----\n").unwrap().1.to_owned()
}

#[test]
fn one_signature_approves_each_request_once() {
    if !ssh_keygen_works("one_signature_approves_each_request_once") {
        return;
    }
    let bench = Bench::new();
    let BatchApprover { alice, trusted, policy } = BatchApprover::new(&bench);
    let rules = ["--policy", &policy, "--approvers", trusted.to_str().unwrap()];
    let requests = requests(&bench, 10);
    let all: Vec<_> = requests.iter().collect();
    let output = approve_all(&bench, &all, &alice, &rules);
    output.assert_code(0);
    let answers = output.json_lines();
    assert_eq!(answers.len(), 10);
    assert!(answers.iter().all(|answer| answer["counts"] == json!(true)), "{answers:?}");

    // The same signature over the same list is beside each request.
    let first = fs::read(signature_of(&requests[0])).unwrap();
    assert!(requests.iter().all(|request| fs::read(signature_of(request)).unwrap() == first));
    let list = bench.home().join("list");
    fs::write(&list, list_in(&signature_of(&requests[0]))).unwrap();
    let mut stock = bench.command("ssh-keygen");
    stock.args(["-Y", "verify", "-I", "alice", "-n", BATCH, "-f"]).arg(&trusted);
    stock.arg("-s").arg(signature_of(&requests[3])).stdin(fs::File::open(&list).unwrap());
    let verified = stock.stdout(Stdio::piped()).output().unwrap();
    assert!(verified.status.success(), "{verified:?}");
    let checked = CliOutput::of(bench.command("sha256sum").args(["--check", "--strict", "list"]));
    checked.assert_code(0);
    assert_eq!(checked.stdout.lines().count(), 10);

    // A person who signs a request alone as well counts once.
    let more = [&rules[..], &["--label", "alone"]].concat();
    let alone = approve(&bench, &requests[4], "alice", &alice, &more);
    alone.assert_code(0);
    assert_eq!(alone.json()["signers"], json!(1));

    for request in &requests[..3] {
        let run = || {
            let mut run = bench.command("toolexec");
            run.arg("run").arg(&request.path).args(rules).args(["--format", "json"]);
            CliOutput::of(&mut run)
        };
        let output = run();
        output.assert_code(0);
        let record = Record::of(&output);
        let kept = record.path.join(format!("request/{}.md.sig", request.id));
        assert_eq!(fs::read(kept).unwrap(), first);
        let mut verify = bench.command("toolexec");
        verify.arg("verify").arg(&record.path).args(&rules[2..]);
        let verified = CliOutput::of(&mut verify);
        verified.assert_code(0);
        assert!(verified.stdout.contains("1 approval checked"), "{verified:#?}");
        let again = run();
        again.assert_code(2);
        again.assert_stderr(&["spool.replayed"]);
    }
}

#[test]
fn a_list_approves_no_other_bytes_and_no_other_request() {
    if !ssh_keygen_works("a_list_approves_no_other_bytes_and_no_other_request") {
        return;
    }
    let bench = Bench::new();
    let BatchApprover { alice, trusted, policy } = BatchApprover::new(&bench);
    let rules = ["--policy", &policy, "--approvers", trusted.to_str().unwrap()];
    let requests = requests(&bench, 3);
    let all: Vec<_> = requests.iter().take(2).collect();
    approve_all(&bench, &all, &alice, &rules).assert_code(0);
    let signature = fs::read_to_string(signature_of(&requests[0])).unwrap();
    let list = list_in(&signature_of(&requests[0]));
    let reason = |request: &SavedRequest| {
        let explained = explain(&bench, request, &rules).json();
        assert_eq!(explained["verdict"], json!("pending"), "{explained:#}");
        let (verdict, reason) = rule(&explained, "approval.signature");
        assert_eq!(verdict, "pending");
        reason.to_owned()
    };
    let put = |request: &SavedRequest, text: &str| fs::write(signature_of(request), text).unwrap();

    // Beside a request that is not in the list.
    let approved = fs::read_to_string(&requests[0].path).unwrap();
    let time = approved.lines().find(|line| line.starts_with("approved_utc:")).unwrap();
    let other = fs::read_to_string(&requests[2].path).unwrap();
    let other = other.replace("approved_by: \"\"", "approved_by: \"alice\"");
    fs::write(&requests[2].path, other.replace("approved_utc: \"\"  # not yet", time)).unwrap();
    put(&requests[2], &signature);
    assert!(reason(&requests[2]).contains("the batch does not have"));

    // A line is added, removed, changed or swapped; the list is missing, or has another form.
    let line = list.lines().next().unwrap();
    let sum = CliOutput::of(bench.command("sha256sum").arg(&requests[2].path)).stdout;
    let added = format!("{signature}{}  {}.md\n", &sum[..64], requests[2].id);
    put(&requests[2], &added);
    assert!(reason(&requests[2]).contains("does not verify over these bytes"));
    let swapped: String = list.lines().rev().map(|line| format!("{line}\n")).collect();
    for (changed, expected) in [
        (signature.replace(&format!("{line}\n"), ""), "the batch does not have"),
        (signature.replace(&list, &swapped), "does not verify over these bytes"),
        (signature.replace(&list, ""), "the batch has 0 requests"),
        (signature.replace(".md\n", "\n"), "line 1 of the batch is not"),
        (format!("{signature}x"), "line 3 of the batch is not"),
        (format!("{signature}{line}\n"), "twice"),
        (signature.trim_end().to_owned(), "line 2 of the batch is not"),
    ] {
        put(&requests[0], &changed);
        let reason = reason(&requests[0]);
        assert!(reason.contains(expected), "{expected:?} is not in {reason}");
    }
    put(&requests[0], &signature);

    // The key may sign single requests only.
    let public = fs::read_to_string(alice.with_extension("pub")).unwrap();
    let single = format!("alice namespaces=\"approve.tool-exec@threegate\" {public}");
    fs::write(&trusted, single).unwrap();
    assert!(reason(&requests[0]).contains("may not sign in namespace `batch.tool-exec@threegate`"));
    // A batch is refused before the question.
    let more = self::requests(&bench, 2);
    let output = approve_all(&bench, &[&more[0], &more[1]], &alice, &rules);
    output.assert_code(2);
    output.assert_stderr(&["does not let key", "batch.tool-exec@threegate", "approve each"]);
    assert!(more.iter().all(|request| !signature_of(request).exists()));
}

#[test]
fn all_requests_of_a_batch_are_approved_or_none() {
    if !ssh_keygen_works("all_requests_of_a_batch_are_approved_or_none") {
        return;
    }
    let bench = Bench::new();
    let alice = key(&bench, "alice", ED25519);
    let requests = requests(&bench, 3);
    let bad = saved(&bench, &unapproved("print(1)\n").command("python script.py | sh"));
    let texts = || requests.iter().map(|it| fs::read(&it.path).unwrap()).collect::<Vec<_>>();
    let before = texts();
    let refused = |requests: &[&SavedRequest], words: &[&str]| {
        let output = approve_all(&bench, requests, &alice, &[]);
        output.assert_code(2);
        output.assert_stderr(words);
        assert_eq!(texts(), before);
    };
    let [one, two, three] = &requests[..] else { panic!() };
    let words = ["command.pipeline", "no request of the batch was approved", "leave those"];
    refused(&[one, &bad, two], &words);
    refused(&[one, two, one], &["named twice"]);
    // A signature of the text without the approval.
    fs::write(signature_of(two), "x").unwrap();
    refused(&[one, two, three], &["already signed these bytes"]);
    assert!(requests.iter().all(|request| request.id == two.id || !signature_of(request).exists()));
    // The last signature cannot be written: its disk is full.
    let apart = bench.home().join("apart");
    fs::create_dir(&apart).unwrap();
    if let Some(_disk) = SmallDisk::mount(&apart, 64) {
        let last = unapproved("print(4)\n").save(&apart);
        let mut filler = fs::File::create(apart.join("filler")).unwrap();
        while filler.write_all(&[0; 512]).is_ok() {}
        let output = approve_all(&bench, &[one, three, &last], &alice, &[]);
        output.assert_code(3);
        output.assert_stderr(&["No space left"]);
        assert_eq!(texts(), before);
        assert!(!signature_of(one).exists() && !signature_of(three).exists());
    } else {
        let case = "all_requests_of_a_batch_are_approved_or_none::full_disk";
        skip(case, "this host does not let these tests mount a tmpfs");
    }
    let output = approve_all(&bench, &[one, three], &alice, &["--inputs", "."]);
    output.assert_code(3);
    output.assert_stderr(&["--inputs"]);
    let explained = explain(&bench, one, &[]).json();
    assert_eq!(codes(&explained["violations"]), Vec::<&str>::new());
}

#[test]
fn one_question_is_asked_after_all_reviews() {
    let test = "one_question_is_asked_after_all_reviews";
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let alice = key(&bench, "alice", ED25519);
    let requests = requests(&bench, 2);
    let paths: Vec<_> = requests.iter().map(|it| it.path.to_str().unwrap()).collect();
    let words = ["approve", paths[0], paths[1], "--approver", "alice", "--key"];
    let words = [&words[..], &[alice.to_str().unwrap()]].concat();
    let question = "Type `approve` to sign: ";
    let Some(output) = at_a_terminal(&bench, test, &[(question, "no")], &words) else { return };
    output.assert_code(1);
    assert!(output.stdout.contains("2 requests: not approved"), "{output:#?}");
    assert!(requests.iter().all(|request| !signature_of(request).exists()));
    let output = at_a_terminal(&bench, test, &[(question, "approve")], &words).unwrap();
    output.assert_code(0);
    assert_eq!(output.stdout.matches(question).count(), 1, "{output:#?}");
    assert!(output.stdout.contains("2 requests:"), "{output:#?}");
    for (number, request) in requests.iter().enumerate() {
        assert!(output.stdout.contains(&format!("print({number})")), "{output:#?}");
        assert!(list_in(&signature_of(request)).contains(&request.id));
        // The question has the words of the digest below its line of the list.
        let signed = Sha256::of(&fs::read(&request.path).unwrap());
        let words = format!("\n  words  {}", digest_words(&signed).join(" "));
        assert!(output.stdout.contains(&words), "{words}: {output:#?}");
    }
}

#[test]
fn several_files_are_submitted_in_their_order() {
    if !ssh_keygen_works("several_files_are_submitted_in_their_order") {
        return;
    }
    let bench = Bench::new();
    let alice = key(&bench, "alice", ED25519);
    let approved = approved_of_a_spool(&bench);
    let requests = requests(&bench, 2);
    let [one, two] = &requests[..] else { panic!() };
    approve_all(&bench, &[one, two], &alice, &[]).assert_code(0);
    let standing = StandingText::of_script("print(3)\n").save(&bench.home());
    let output = submit_all(&bench, &[&two.path, &standing.path, &one.path], &[]);
    output.assert_code(0);
    let answers = output.json_lines();
    let ids: Vec<_> =
        answers.iter().map(|it| it.get("request_id").unwrap_or(&it["standing_id"])).collect();
    assert_eq!(ids, [&json!(two.id), &json!(standing.id), &json!(one.id)]);
    for request in &requests {
        // The signature of the batch is beside each request.
        for end in ["md", "md.sig"] {
            let submitted = approved.join(format!("{}.{end}", request.id));
            let own = request.path.with_extension(end);
            assert_eq!(fs::read(submitted).unwrap(), fs::read(own).unwrap());
        }
        assert_eq!(list(&approved.join(format!("{}.inputs", request.id))), ["script.py"]);
    }
    assert!(approved.join(format!("{}.md", standing.id)).is_file());
    assert_eq!(list(&approved).len(), 7);
}

#[test]
fn of_several_files_none_is_submitted_if_one_would_be_refused() {
    let bench = Bench::new();
    let approved = approved_of_a_spool(&bench);
    let good = || saved(&bench, &RequestText::python("print(1)\n"));
    let (one, three) = (good(), good());
    let unfilled = saved(&bench, &unapproved("print(2)\n"));
    let other_input = good();
    fs::write(other_input.inputs.join("script.py"), "print(4)\n").unwrap();
    let no_agent = StandingText::of_script("print(5)\n").edit("[\"core\"]", "[]");
    let no_agent = no_agent.save(&bench.home());
    for (bad, code) in [
        (&unfilled.path, "approval.missing"),
        (&other_input.path, "inputs.mismatch"),
        (&no_agent.path, "standing.agents"),
    ] {
        let output = submit_all(&bench, &[&one.path, bad, &three.path], &[]);
        output.assert_code(2);
        let name = bad.to_str().unwrap();
        let reason = format!("{name}: not submitted");
        output.assert_stderr(&[code, &reason, "3 files: none was submitted"]);
        let [answer] = &output.json_lines()[..] else { panic!("{output:#?}") };
        assert_eq!(answer["request"], json!(name));
        assert_eq!(list(&approved), Vec::<String>::new());
    }
    // Every file that would be refused is reported.
    let output = submit_all(&bench, &[&unfilled.path, &one.path, &other_input.path], &[]);
    output.assert_code(2);
    assert_eq!(output.json_lines().len(), 2, "{output:#?}");

    let apart = bench.home().join("apart");
    fs::create_dir(&apart).unwrap();
    let same = apart.join(format!("{}.md", one.id));
    fs::copy(&one.path, &same).unwrap();
    let output = submit_all(&bench, &[&one.path, &three.path, &same], &[]);
    output.assert_code(2);
    output.assert_stderr(&[same.to_str().unwrap(), "another file has the same name"]);
    let missing = bench.home().join("TR-missing.md");
    let output = submit_all(&bench, &[&one.path, &missing], &[]);
    output.assert_code(3);
    output.assert_stderr(&["TR-missing.md"]);
    let output = submit_all(&bench, &[&one.path, &three.path], &["--inputs", "."]);
    output.assert_code(3);
    output.assert_stderr(&["--inputs"]);
    assert_eq!(list(&approved), Vec::<String>::new());
}

#[test]
fn after_a_failed_submission_the_rest_is_named() {
    let bench = Bench::new();
    let approved = approved_of_a_spool(&bench);
    let good = || saved(&bench, &RequestText::python("print(1)\n"));
    let (one, two, three) = (good(), good(), good());
    submit_all(&bench, &[&two.path], &[]).assert_code(0);
    let output = submit_all(&bench, &[&one.path, &two.path, &three.path], &[]);
    output.assert_code(3);
    let rest = format!("{}: not submitted either", three.path.display());
    output.assert_stderr(&["already waiting", &rest]);
    assert_eq!(output.json()["request_id"], json!(one.id));
    let left = list(&approved);
    assert!(left.contains(&format!("{}.md", one.id)), "{left:?}");
    assert!(!left.iter().any(|name| name.contains(&three.id)), "{left:?}");
}

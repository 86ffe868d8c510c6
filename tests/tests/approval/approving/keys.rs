//! Keys and prompts for signing: files with and without a passphrase, agents, each refused kind.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use model::{Sha256, digest_words};
use serde_json::json;
use toolexec_tests::{Bench, CliOutput, at_a_terminal, ssh_keygen_works};

use super::APPROVE;
use super::approvers::{
    ED25519, P256, TestSshAgent, approve, assert_verifies, key, locked_key, saved, signers,
    unapproved,
};

#[test]
fn an_agent_signs_with_the_key_that_was_meant() {
    if !ssh_keygen_works("an_agent_signs_with_the_key_that_was_meant") {
        return;
    }
    let bench = Bench::new();
    let (alice, other) = (key(&bench, "alice", ED25519), key(&bench, "other", P256));
    let rsa = key(&bench, "rsa", &["-t", "rsa", "-b", "2048"]);
    let trusted = signers(&bench, &[("alice", &alice), ("other", &other)]);
    let agent = TestSshAgent::start(&bench);
    let approve = |more: &[&str]| {
        let request = saved(&bench, &unapproved("print(1)\n"));
        let mut command = bench.command("toolexec");
        command.env("SSH_AUTH_SOCK", &agent.socket).arg("approve").arg(&request.path);
        command.args(["--approver", "alice", "--ssh-agent", "--yes", "--format", "json"]);
        command.arg("--approvers").arg(&trusted).args(more);
        (CliOutput::of(&mut command), request)
    };
    let (empty, _) = approve(&[]);
    empty.assert_code(2);
    empty.assert_stderr(&["no keys", "ssh-add"]);
    agent.add(&bench, &rsa);
    let (unfit, _) = approve(&[]);
    unfit.assert_code(2);
    unfit.assert_stderr(&["rsa: key type `ssh-rsa` is not accepted"]);
    agent.add(&bench, &alice);
    let (output, request) = approve(&[]);
    output.assert_code(0);
    assert_eq!(output.json()["counts"], json!(true));
    assert_verifies(&bench, &request, "alice", APPROVE, &request.path.with_extension("md.sig"));
    let fingerprint = output.json()["fingerprint"].as_str().unwrap().to_owned();
    agent.add(&bench, &other);
    let (several, _) = approve(&[]);
    several.assert_code(2);
    several.assert_stderr(&["--fingerprint", &fingerprint]);
    let (chosen, _) = approve(&["--fingerprint", &fingerprint]);
    chosen.assert_code(0);
    assert_eq!(chosen.json()["fingerprint"], json!(fingerprint));
    let unknown = format!("SHA256:{}", "A".repeat(43));
    let (unknown, _) = approve(&["--fingerprint", &unknown]);
    unknown.assert_code(2);
    let (malformed, _) = approve(&["--fingerprint", "SHA256:x"]);
    malformed.assert_code(3);
    malformed.assert_stderr(&["not a fingerprint of the form SHA256:"]);
}

#[test]
fn keys_that_may_not_sign_are_refused_by_name() {
    if !ssh_keygen_works("keys_that_may_not_sign_are_refused_by_name") {
        return;
    }
    let bench = Bench::new();
    let request = saved(&bench, &unapproved("print(1)\n"));
    let rsa = key(&bench, "rsa", &["-t", "rsa", "-b", "2048"]);
    let p384 = key(&bench, "p384", &["-t", "ecdsa", "-b", "384"]);
    let pem = key(&bench, "pem", &["-t", "ecdsa", "-b", "256", "-m", "PEM"]);
    let good = key(&bench, "good", ED25519);
    let open = bench.home().join("open");
    fs::copy(&good, &open).unwrap();
    fs::set_permissions(&open, Permissions::from_mode(0o644)).unwrap();
    for (key, why) in [
        (&rsa, "key type `ssh-rsa` is not accepted"),
        (&p384, "key type `ecdsa-sha2-nistp384` is not accepted"),
        (&pem, "ssh-keygen -p"),
        (&good.with_extension("pub"), "a public key"),
        (&open, "chmod 600"),
    ] {
        let output = approve(&bench, &request, "alice", key, &[]);
        output.assert_code(2);
        output.assert_stderr(&[why]);
    }
    assert!(!request.path.with_extension("md.sig").exists());
    let neither = bench.toolexec(["approve", "x.md", "--approver", "alice"]);
    neither.assert_code(3);
    let unconfirmed =
        bench.toolexec(["approve", "x.md", "--approver", "a", "--ssh-agent", "--format", "json"]);
    unconfirmed.assert_code(3);
    unconfirmed.assert_stderr(&["--yes"]);
}

#[test]
fn the_person_at_the_terminal_reads_answers_and_unlocks() {
    let test = "the_person_at_the_terminal_reads_answers_and_unlocks";
    if !ssh_keygen_works(test) {
        return;
    }
    let bench = Bench::new();
    let request = saved(&bench, &unapproved("print('what will run')\n"));
    let phrase = ["correct", "horse"].join(" ");
    let alice = locked_key(&bench, "alice", ED25519, &phrase);
    signers(&bench, &[("alice", &alice)]);
    let (path, key) = (request.path.to_str().unwrap(), alice.to_str().unwrap());
    let words = ["approve", path, "--approver", "alice", "--key", key];
    let before = fs::read(&request.path).unwrap();
    let wrong = ("Passphrase for ", "wrong");
    for (answers, code, says) in [
        (vec![("to sign: ", "yes")], 1, "not approved"),
        (vec![("to sign: ", "approve"), wrong, wrong, wrong], 3, "wrong passphrase"),
    ] {
        let Some(output) = at_a_terminal(&bench, test, &answers, &words) else { return };
        output.assert_code(code);
        assert!(output.stdout.contains(says), "{output:#?}");
        assert!(output.stdout.contains("1 | print('what will run')"), "{output:#?}");
        assert_eq!(fs::read(&request.path).unwrap(), before);
        assert!(!request.path.with_extension("md.sig").exists());
    }
    let answers = [("to sign: ", "approve"), wrong, ("Passphrase for ", phrase.as_str())];
    let output = at_a_terminal(&bench, test, &answers, &words).unwrap();
    output.assert_code(0);
    assert!(!output.stdout.contains(&phrase), "the passphrase was shown: {output:#?}");
    assert_verifies(&bench, &request, "alice", APPROVE, &request.path.with_extension("md.sig"));
    let sha256 = Sha256::of(&fs::read(&request.path).unwrap());
    let line = format!("\nwords  {}", digest_words(&sha256).join(" "));
    assert!(output.stdout.contains(&line), "{line}: {output:#?}");
    // It does not prompt through a pipe.
    let mut command = bench.command("setsid");
    command.arg("-w").arg(bench.scratch().path().join("bin/toolexec")).args(words);
    let piped = CliOutput::of(command.args(["--label", "x"]));
    piped.assert_code(3);
    piped.assert_stderr(&["no terminal", "--yes"]);
}

/// OpenSSH omits the leading zeros of an ECDSA private number. One key in 256 has some.
#[test]
fn a_p256_key_with_a_short_number_signs() {
    if !ssh_keygen_works("a_p256_key_with_a_short_number_signs") {
        return;
    }
    let bench = Bench::new();
    let short = (0..10_000).find_map(|number| {
        let path = key(&bench, &format!("key-{number}"), P256);
        let is_short = number_bytes(&fs::read_to_string(&path).unwrap()) < 32;
        if !is_short {
            fs::remove_file(&path).unwrap();
        }
        is_short.then_some(path)
    });
    let short = short.unwrap();
    signers(&bench, &[("alice", &short)]);
    let request = saved(&bench, &unapproved("print(1)\n"));
    approve(&bench, &request, "alice", &short, &[]).assert_code(0);
    let signature = request.path.with_extension("md.sig");
    assert_verifies(&bench, &request, "alice", APPROVE, &signature);
}

/// Returns the length of a P-256 private number, which follows the last copy of the point.
fn number_bytes(file: &str) -> u8 {
    let text: String = file.lines().filter(|line| !line.starts_with('-')).collect();
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for four in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = four.iter().fold(0u32, |bits, c| bits << 6 | u32::from(digit(*c)));
        let bits = bits << (6 * (4 - four.len()));
        bytes.extend(&bits.to_be_bytes()[1..four.len()]);
    }
    let point = bytes.windows(5).rposition(|five| five == [0, 0, 0, 65, 4]).unwrap();
    bytes[point + 4 + 65 + 3]
}

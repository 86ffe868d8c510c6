//! Records of several hosts: `verify --fleet` names the host of each, and `show --fleet` fetches one
//! through a program in place of `toolexec-fleet`.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot prepare its files must fail, and keeps none of them"
)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use toolexec_tests::{Bench, CliOutput, Record, RequestText, ssh_keygen_works};

const FLEET_ID: &str = "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0";
const NAMESPACE: &str = "fleet.tool-exec@threegate";

/// A host with a log of its own name, and one record.
struct RecordedHost {
    name: &'static str,
    bench: Bench,
    record: Record,
}

impl RecordedHost {
    fn new(name: &'static str) -> Self {
        let bench = Bench::new();
        bench.toolexec(["keys", "init", "--origin", name]).assert_code(0);
        let (output, record) = bench.run_recorded(&RequestText::python("print('ran')"));
        output.assert_code(0);
        Self { name, bench, record }
    }

    fn key(&self, format: &str) -> String {
        let output = self.bench.toolexec(["keys", "show", "--format", format]);
        output.assert_code(0);
        output.stdout.lines().next().unwrap().to_owned()
    }

    fn rows(&self) -> String {
        let (name, record_key, log_key) =
            (self.name, self.key("allowed-signers"), self.key("verifier"));
        format!(
            "  - name: {name}\n    record_keys: ['{record_key}']\n    log_key: '{log_key}'\n    \
             witness_key: '{name}-witness+01234567+{}'\n",
            name.replace('-', "")
        )
    }
}

/// Writes the list of these hosts into the home of the first, and copies all records there.
fn collected(hosts: &[&RecordedHost]) -> PathBuf {
    let home = hosts[0].bench.home();
    let rows: String = hosts.iter().map(|host| host.rows()).collect();
    let text = format!("fleet: farm\nfleet_id: {FLEET_ID}\nserial: 1\nhosts:\n{rows}");
    fs::write(home.join("fleet.yaml"), text).unwrap();
    let tree = home.join("collected");
    fs::create_dir(&tree).unwrap();
    for host in hosts {
        let copied = Command::new("cp").arg("-r").arg(&host.record.path).arg(&tree).status();
        assert!(copied.unwrap().success());
    }
    tree
}

fn verify(bench: &Bench, tree: &Path, words: &[&str]) -> CliOutput {
    let tree = tree.to_str().unwrap();
    bench.toolexec(["verify", tree, "--fleet", "fleet.yaml"].iter().chain(words))
}

#[test]
fn verify_names_the_host_of_each_record() {
    let (a, b) = (RecordedHost::new("host-a"), RecordedHost::new("host-b"));
    let tree = collected(&[&a, &b]);
    let output = verify(&a.bench, &tree, &[]);
    output.assert_code(0);
    for host in ["host-a", "host-b"] {
        let line = output.stdout.lines().find(|line| line.contains(&format!(" of host {host},")));
        let log = format!(" in the log {host}");
        assert!(line.is_some_and(|line| line.contains(&log)), "{host}: {output:#?}");
    }
    let unsigned = "the signature of the fleet list (no approvers given)";
    assert!(output.stdout.lines().all(|line| line.contains(unsigned)), "{output:#?}");
    let rows = verify(&a.bench, &tree, &["--format", "json"]).json_lines();
    let mut hosts: Vec<_> = rows.iter().map(|row| row["host"].as_str().unwrap()).collect();
    hosts.sort_unstable();
    assert_eq!(hosts, ["host-a", "host-b"]);
    // A host that is not in the list has no key.
    let path = a.bench.home().join("fleet.yaml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.split("  - name: host-b").next().unwrap()).unwrap();
    let output = verify(&a.bench, &tree, &[]);
    output.assert_code(1);
    assert_eq!(output.stdout.matches("NOT VERIFIED").count(), 1, "{output:#?}");
    fs::write(&path, "fleet: farm\n").unwrap();
    let output = verify(&a.bench, &tree, &[]);
    output.assert_code(3);
    output.assert_stderr(&["fleet.yaml", "missing", "help: "]);
}

#[test]
fn with_approvers_the_list_counts_only_if_one_of_them_signed_it() {
    if !ssh_keygen_works("with_approvers_the_list_counts_only_if_one_of_them_signed_it") {
        return;
    }
    let host = RecordedHost::new("host-a");
    let tree = collected(&[&host]);
    let script = format!(
        "ssh-keygen -q -t ed25519 -N '' -f operator.key\n\
         echo \"olga namespaces=\\\"{NAMESPACE}\\\" $(cut -d' ' -f1,2 operator.key.pub)\" > signers\n\
         ssh-keygen -q -Y sign -f operator.key -n {NAMESPACE} fleet.yaml\n"
    );
    CliOutput::of(&mut host.bench.shell(&script)).assert_code(0);
    let output = verify(&host.bench, &tree, &["--approvers", "signers"]);
    output.assert_code(0);
    assert!(!output.stdout.contains("the signature of the fleet list"), "{output:#?}");
    let home = host.bench.home();
    let signers = fs::read_to_string(home.join("signers")).unwrap();
    fs::write(home.join("others"), signers.replace("fleet.tool-exec", "approve.tool-exec"))
        .unwrap();
    let output = verify(&host.bench, &tree, &["--approvers", "others"]);
    output.assert_code(3);
    output.assert_stderr(&["fleet.yaml: the signature: ", "may not sign for a fleet", "help: "]);
    let text = fs::read_to_string(home.join("fleet.yaml")).unwrap();
    fs::write(home.join("fleet.yaml"), text.replace("serial: 1", "serial: 2")).unwrap();
    let output = verify(&host.bench, &tree, &["--approvers", "signers"]);
    output.assert_code(3);
    output.assert_stderr(&["fleet.yaml: the signature: does not verify"]);
    fs::remove_file(home.join("fleet.yaml.sig")).unwrap();
    let output = verify(&host.bench, &tree, &["--approvers", "signers"]);
    output.assert_code(3);
    output.assert_stderr(&["fleet.yaml.sig: does not exist\nhelp: sign the list with `ssh-keygen"]);
}

/// Answers `show` with the line of a file, and `fetch` by a copy of the record.
const FAKE: &str = r#"#!/bin/sh
read -r line
case $line in
*'"show"'*) cat "HOME/request" ;;
*) into=$(printf '%s' "$line" | sed -n 's/.*"into":"\([^"]*\)".*/\1/p')
   cp -r "RECORD" "$into"
   echo '{"fetched":{"directory":"'"$into/RESULT"'","left_out":["artifacts/big"]}}' ;;
esac
"#;

#[test]
fn show_fetches_the_record_and_keeps_it_if_asked() {
    let host = RecordedHost::new("host-a");
    let (home, record) = (host.bench.home(), &host.record);
    let id = record.front_matter_value("request_id");
    let request = json!({ "request": {
        "request": id,
        "document_sha256": "ab".repeat(32),
        "audience": null,
        "state": "ended",
        "submitted_by": "alice",
        "submitted_utc": "2026-02-09T16:05:02Z",
        "host": "host-a",
        "result": record.id(),
        "outcome": "ok",
        "exit_code": 0,
    }});
    fs::write(home.join("request"), format!("{request}\n")).unwrap();
    let program = host.bench.scratch().path().join("bin/toolexec-fleet");
    fs::remove_file(&program).unwrap_or_default();
    let fake = FAKE.replace("HOME", home.to_str().unwrap());
    let fake = fake.replace("RECORD", record.path.to_str().unwrap()).replace("RESULT", record.id());
    fs::write(&program, fake).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let show = |words: &[&str]| {
        host.bench.toolexec(["show", id, "--fleet", "postgres:///x"].iter().chain(words))
    };
    let output = show(&[]);
    output.assert_code(0);
    for line in [
        "state      ok",
        "host       host-a",
        &format!("record     {}, not kept", record.id()),
        "  too large, on its host only: artifacts/big",
    ] {
        assert!(output.stdout.lines().any(|it| it == line), "{line}: {output:#?}");
    }
    fs::create_dir(home.join("out")).unwrap();
    let output = show(&["--out", "out", "--format", "json"]);
    output.assert_code(0);
    let kept = home.join("out").join(record.id());
    assert_eq!(output.json()["records"][0]["record"], kept.to_str().unwrap(), "{output:#?}");
    assert_eq!(output.json()["host"], "host-a");
    CliOutput::of(host.bench.command("toolexec").arg("verify").arg(&kept)).assert_code(0);
    let output = show(&["--html"]);
    output.assert_code(0);
    assert!(output.stdout.contains("<html"), "{output:#?}");
}

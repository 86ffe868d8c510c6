//! Snapshots of the texts for users: reviews, findings, states, pages and refusals, all of the
//! golden files. Only parts that depend on the time or the host may be replaced.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use toolexec_tests::{Bench, CliOutput, assert_snapshot, edited_policy};

use super::files::{self, Golden, versions};

/// The length of a UTC time.
const TIME: usize = "2026-02-09T16:05:01Z".len();

/// Copies the newest version's files.
fn newest(bench: &Bench) -> Golden<'_> {
    Golden::copy(bench, versions().last().unwrap())
}

/// Replaces each time that follows this text.
fn mask_time(text: &str, before: &str) -> String {
    let mut parts = text.split(before);
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_time = part.get(..TIME).is_some_and(|it| it.starts_with("20") && it.ends_with('Z'));
        let rest = if is_time { &part[TIME..] } else { part };
        write!(masked, "{before}{}{rest}", if is_time { "TIME" } else { "" }).unwrap();
    }
    masked
}

/// Replaces the parts that depend on the time and the host.
fn masked(bench: &Bench, text: &str) -> String {
    let mut text = text.replace(&bench.home().display().to_string(), "HOME");
    for before in ["now ", "until ", "before ", "submitted  "] {
        text = mask_time(&text, before);
    }
    // Each Debian release has another version.
    let version = text.find("/usr/bin/python3.").map(|at| {
        let rest = &text[at + "/usr/bin/python3".len()..];
        rest.chars().take_while(|c| *c == '.' || c.is_ascii_digit()).collect::<String>()
    });
    if let Some(version) = version {
        text = text.replace(&format!("python3{version}"), "python3.X");
    }
    text
}

/// Returns the output of a command in a home that has `golden/`.
fn output_of(bench: &Bench, words: &str) -> String {
    let mut words = words.split(' ');
    let mut command = bench.command(words.next().unwrap());
    let output = CliOutput::of(command.args(words));
    let code = output.code.unwrap_or(-1);
    assert!(!output.stderr.contains("panicked"), "{output:#?}");
    masked(bench, &format!("{}{}exit code {code}\n", output.stdout, output.stderr))
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn findings_and_reviews_match_the_snapshots() {
    let bench = Bench::new();
    let golden = newest(&bench);
    let ok = name_of(&golden.only("input", "-ok.md"));
    assert_snapshot("lint.txt", &output_of(&bench, "toolexec lint golden/input/bad.md"));
    let review = format!("toolexec review golden/input/{ok} --policy golden/policy.yaml");
    // The review names the user who types the command.
    let user = CliOutput::of(bench.command("id").arg("-un")).stdout;
    let review = output_of(&bench, &review);
    let typed_by = format!("{} typed the command", user.trim());
    assert_snapshot("review.txt", &review.replace(&typed_by, "NAME typed the command"));
    let explain = "toolexec explain golden/input/bad.md --policy golden/policy.yaml";
    assert_snapshot("explain.txt", &output_of(&bench, explain));
    // With one second the approval is too old at any time.
    let strict = fs::read_to_string(golden.at("input/strict.yaml")).unwrap();
    assert!(strict.contains("age_sec_max: 604800"), "{strict}");
    let strict = strict.replace("age_sec_max: 604800", "age_sec_max: 1");
    fs::write(bench.home().join("strict.yaml"), strict).unwrap();
    let signers = "--approvers golden/service/allowed_signers";
    let explain = format!("toolexec explain golden/input/{ok} --policy strict.yaml {signers}");
    assert_snapshot("explain-strict.txt", &output_of(&bench, &explain));
    let policy = fs::read_to_string(golden.at("policy.yaml")).unwrap();
    fs::write(bench.home().join("policy.yaml"), edited_policy(policy, &BAD_LINES)).unwrap();
    assert_snapshot("policy.txt", &output_of(&bench, "toolexec policy check policy.yaml"));
}

/// Lines of a policy, each with a wrong one to replace it.
const BAD_LINES: [(&str, &str); 8] = [
    ("name: golden", "name: \"\""),
    ("backend: confined", "backend: cloud"),
    ("low: 0", "low: 1"),
    ("words: [ruby]", "words: [python]"),
    ("mounts: [/usr]", "mounts: [usr]"),
    ("cpu_cores_max: 8", "cpu_cores_max: 0"),
    ("pids_max: 64", "pids_max: 0"),
    ("hosts: []", "hosts: [{host: a..b, ports: [0], private: []}]"),
];

#[test]
fn states_match_the_snapshots() {
    let bench = Bench::new();
    let golden = newest(&bench);
    let ok = name_of(&golden.only("state/results", "-ok"));
    let held = name_of(&golden.only("service/spool/approved", "-service-held.md"));
    let held = held.trim_end_matches(".md");
    let status = output_of(&bench, "toolexec status --spool golden/service/spool");
    let status = mask_line(&status, "free         ", "ROOM");
    assert_snapshot("status.txt", &mask_line(&status, "is held by ", "NAME"));
    for (file, words) in [
        ("list.txt", "list --state golden/state".to_owned()),
        ("list-service.txt", "list --spool golden/service/spool".to_owned()),
        ("show.txt", format!("show {ok} --state golden/state")),
        ("show-held.txt", format!("show {held} --spool golden/service/spool")),
        ("verify.txt", "verify golden/state/results --state golden/state".to_owned()),
        ("permissions.txt", "permission list --trail --state golden/state".to_owned()),
    ] {
        let output = output_of(&bench, &format!("toolexec {words}"));
        // The owner of the copy holds the request.
        assert_snapshot(file, &mask_line(&output, "is held by ", "NAME"));
    }
}

/// Replaces the rest of each line that contains this text.
fn mask_line(text: &str, before: &str, word: &str) -> String {
    let masked = |line: &str| match line.split_once(before) {
        Some((start, _)) => format!("{start}{before}{word}\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(masked).collect()
}

/// Checks the faults for one changed byte in each file.
#[test]
fn faults_match_the_snapshots() {
    let bench = Bench::new();
    let golden = newest(&bench);
    let ok = golden.only("state/results", "-ok");
    let mut text = String::new();
    for file in files::files(&ok) {
        let good = files::change(&ok.join(&file));
        let output = golden.verify(&ok, &[]);
        writeln!(text, "{file}\n{}", masked(&bench, &(output.stdout + &output.stderr))).unwrap();
        fs::write(ok.join(file), good).unwrap();
    }
    assert_snapshot("faults.txt", &text);
}

#[test]
fn pages_match_the_snapshots() {
    let bench = Bench::new();
    let golden = newest(&bench);
    for outcome in ["ok", "refused", "output-limit", "indeterminate"] {
        let path = golden.only("state/results", &format!("Z-{outcome}"));
        let mut show = bench.command("toolexec");
        show.arg("show").arg(path).arg("--html").arg("--result-keys");
        let output = CliOutput::of(show.arg(golden.at("keys/signers")));
        output.assert_code(0);
        let page = output.stdout.replace(&bench.home().display().to_string(), "HOME");
        assert_snapshot(&format!("pages/{outcome}.html"), &page);
    }
}

/// Commands that fail: a wrong argument, a missing file, a wrong state.
const REFUSALS: &str = "\
toolexec
toolexec nonsense
toolexec run
toolexec run missing.md
toolexec run golden/input/bad.md --state missing/state --policy missing.yaml
toolexec draft
toolexec lint missing.md
toolexec lint --explain nonsense
toolexec lint --explain command.pipelin
toolexec review missing.md
toolexec explain missing.md
toolexec approve golden/input/bad.md
toolexec approve golden/input/bad.md --approver alice --key missing
toolexec reject golden/input/bad.md --approver alice --key missing --reason x
toolexec gate missing.json
toolexec gate golden/policy.yaml
toolexec verify missing
toolexec verify golden/state/results
toolexec verify golden/state/results --result-keys missing
toolexec verify golden/state/results --result-keys golden/policy.yaml
toolexec verify golden/input --state golden/state
toolexec replay missing
toolexec submit missing.md --spool golden/service/spool
toolexec submit golden/input/bad.md --spool golden/service/spool
toolexec submit golden/input/bad.md --spool missing
toolexec list --spool missing
toolexec status --spool missing
toolexec show TR-nonsense --spool golden/service/spool
toolexec show TR- --spool golden/service/spool
toolexec wait TR-nonsense --spool golden/service/spool
toolexec hold TR-nonsense --spool golden/service/spool
toolexec release TR-nonsense --spool golden/service/spool
toolexec cancel TR-nonsense --spool golden/service/spool
toolexec log head --log missing
toolexec log head --log golden/state/log
toolexec log head --log golden/state/log --log-key golden/service/state/keys/log.pub
toolexec log prove 99 --state golden/state
toolexec log consistency 99 --state golden/state
toolexec log fsck --state golden/state --results golden/service/spool/results
toolexec keys show
toolexec keys rotate --key result --state golden/state
toolexec permission get toolexec.run.python
toolexec permission get --agent core --subject wf-1 third --state golden/state
toolexec permission set missing.json --state golden/state
toolexec permission request --agent core --subject wf-1 third --state golden/state
toolexec permission revoke --agent core --subject wf-1 nothing --state golden/state
toolexec policy check missing.yaml
toolexec policy show nonsense
toolexec ais verify missing.json --trust missing.yaml --request missing.md
toolexec doctor --spool missing
toolexec gc --keep-results nonsense
toolexec completions nonsense
toolexecd
toolexecd --config missing.yaml
toolexecd --config golden/policy.yaml --check
toolexec-launch
toolexec-launch --nonsense
toolexec-egress --nonsense";

#[test]
fn refusals_match_the_snapshots() {
    let bench = Bench::new();
    let _golden = newest(&bench);
    let mut text = String::new();
    for words in REFUSALS.lines() {
        writeln!(text, "$ {words}\n{}", output_of(&bench, words)).unwrap();
    }
    assert_snapshot("messages/commands.txt", &text);
}

//! Withholding of text when the lint refuses a document, with lints stricter than the real one.

use model::LauncherMode;
use sandbox::outcome::{OutcomeFacts, ToolEnd};
use sandbox::report::{
    Accounting, CapabilitySets, CollectedArtifact, CollectedOutput, Confinement, FinishedRun,
    Stream,
};
use validator::Code;

use super::*;
use crate::NetworkUse;
use crate::statement::{RecordSubject, StartedRun};

const NAMES: [&str; 3] = ["kept.txt", "evil.txt", "other.txt"];

fn finished() -> FinishedRun {
    let stream = Stream { kept_bytes: 9, produced_bytes: 9, sha256: [3; 32] };
    let artifact = |path: &str| CollectedArtifact {
        path: path.to_owned(),
        size_bytes: 1,
        mode: 0o644,
        sha256: [1; 32],
    };
    FinishedRun {
        facts: OutcomeFacts {
            tool: Some(ToolEnd::Exited(0)),
            killed: None,
            oom_kills: 0,
            pids_limit_hit: false,
            out_full: false,
            file_full: false,
            output_rejected: false,
            collected_all: true,
        },
        denied: Vec::new(),
        violation: None,
        accounting: Accounting::default(),
        stdout: stream,
        stderr: stream,
        collected: CollectedOutput {
            artifacts: NAMES.map(artifact).to_vec(),
            rejected: Vec::new(),
            work: None,
            complete: true,
        },
        lost: None,
    }
}

fn confinement() -> Confinement {
    Confinement {
        mode: LauncherMode::User,
        uid: 1000,
        groups: Vec::new(),
        namespaces: Vec::new(),
        landlock_abi: 5,
        landlock_handled: Vec::new(),
        seccomp_sha256: Vec::new(),
        seccomp_mode: 2,
        no_new_privs: true,
        capabilities: CapabilitySets::default(),
        mounts_sha256: [9; 32],
        limits: Vec::new(),
        degraded: Vec::new(),
    }
}

/// Renders the document of one run with this lint instead of the real one.
fn recorded(lint: ResultLint<'_>) -> Result<String, SignError> {
    let result_id = "TS-20261121-121030Z-TR-20261121-120000Z-stats".parse().unwrap();
    let at = "2026-11-21T12:10:30Z".parse().unwrap();
    let (finished, confinement) = (finished(), confinement());
    let ran = StartedRun {
        confinement: &confinement,
        finished: &finished,
        started: at,
        ended: at,
        guest: None,
    };
    let statement = Statement {
        result_id: &result_id,
        created: at,
        subject: RecordSubject::Unusable { file_name: "request.md", bytes: b"x", request_id: None },
        replay_of: None,
        outcome: Outcome::Ok,
        reason: None,
        violations: &[],
        rationale: None,
        policy_name: "house-policy",
        policy_sha256: Sha256::of(b"policy"),
        approval: "signed by alice",
        approvals: &[],
        touches: &[],
        standing: None,
        backend: "confined",
        backend_detail: None,
        executor_version: "0",
        run: Some(ran),
        network: &NetworkUse::Nothing,
        confinement_ready: None,
        stdout_head: b"one\nevil\n",
        stderr_head: b"two\nthree",
        request_files: &[],
    };
    document_with_lint(&statement, &RequestFiles::of(&statement), lint).map(|(md, _)| md)
}

fn on_lines(md: &[u8], refused: impl Fn(&str) -> bool) -> Vec<Violation> {
    let text = String::from_utf8_lossy(md).into_owned();
    let lines = text.lines().zip(1..).filter(|(line, _)| refused(line));
    lines.map(|(_, line)| Violation::error(Code::ResultDigest, "refused").at(line, 1)).collect()
}

#[track_caller]
fn has(md: &str, words: &[&str]) {
    for word in words {
        assert!(md.contains(word), "no {word:?} in {md}");
    }
}

const OURS: [&str; 3] = [
    "- Policy: house-policy, sha256 ",
    "- Approval: signed by alice\n",
    "name: \"house-policy\"\n",
];

#[test]
fn a_refused_line_takes_the_text_on_it_and_nothing_else() {
    let md = recorded(&|md, _| on_lines(md, |line| line.contains("evil"))).unwrap();
    has(&md, &OURS);
    has(
        &md,
        &["- /out/kept.txt  sha256: ", "- /out/other.txt  sha256: ", "    one\n", "    two\n"],
    );
    has(&md, &["- [withheld: result.digest]  sha256: ", "    [withheld: result.digest]\n"]);
    has(&md, &["Unexpected behavior: 1 lines of output withheld"]);
    assert!(!md.contains("evil"), "{md}");
}

#[test]
fn words_of_ours_stay_whatever_the_lint_says_of_them_beside_a_tools() {
    let refuse = |md: &[u8], _: &str| {
        let evil = String::from_utf8_lossy(md).contains("evil");
        on_lines(md, |line| evil && line.starts_with("- Policy: "))
    };
    let md = recorded(&refuse).unwrap();
    has(&md, &OURS);
    has(&md, &["; all text of the tool withheld, the lint refused it (result.digest)"]);
    assert!(!md.contains("evil"), "{md}");
}

#[test]
fn words_of_ours_that_are_refused_by_themselves_take_nothing_of_the_tools() {
    let md = recorded(&|md, _| on_lines(md, |line| line.contains("house-policy"))).unwrap();
    has(&md, &["- /out/evil.txt  sha256: ", "    evil\n", "- Policy: [withheld: result.digest], "]);
}

#[test]
fn a_document_that_is_refused_in_every_form_is_not_signed() {
    let refused = recorded(&|md, _| on_lines(md, |line| line.starts_with("- Outcome: ")));
    assert!(matches!(refused, Err(SignError::Invalid { .. })));
}

//! Synthetic requests, runs and directories. Only keys and names of scratch directories are random.

#[path = "../../../tests/src/skip.rs"]
pub(crate) mod skip;

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use model::{LauncherMode, LimitName, Mechanism, Outcome, ResultId, Sha256, UtcTime};
use policies::Touch;
use records::{
    NetworkUse, Rationale, RecordSubject, ResultKey, RuleVerdict, SignedRecord, StartedRun,
    Statement, Verdict, sign,
};
use sandbox::outcome::{OutcomeFacts, ToolEnd};
use sandbox::report::{
    Accounting, CapabilitySets, CollectedArtifact, CollectedOutput, Confinement, EffectiveLimit,
    FinishedRun, Stream,
};
use skip::skip;
use validator::{Draft, FileLocation, OwnerUid, Request};

pub(crate) const REQUEST_ID: &str = "TR-20261121-120000Z-stats";

pub(crate) fn at(text: &str) -> UtcTime {
    text.parse().unwrap()
}

/// Returns a well-formed request with this purpose, which is double-quoted YAML text.
pub(crate) fn request(purpose: &str) -> Request {
    checked(&request_text(purpose)).unwrap()
}

/// Returns the request in this text, if the validator accepts it.
pub(crate) fn checked(text: &str) -> Option<Request> {
    let name = format!("{REQUEST_ID}.md");
    let draft = Draft::new(text.as_bytes().to_vec(), &name, OwnerUid::new(1000)).ok()?;
    draft.check(FileLocation::Elsewhere, at("2026-11-21T12:06:00Z")).verdict.ok()
}

pub(crate) fn request_text(purpose: &str) -> String {
    text_of(REQUEST_ID, purpose)
}

fn text_of(id: &str, purpose: &str) -> String {
    let sha256 = Sha256::of(b"script");
    format!(
        "---
request_type: tool_request
schema_version: 1
request_id: \"{id}\"
created_utc: \"2026-11-21T12:00:00Z\"
requested_by: \"human\"
approved_by: \"alice\"
approved_utc: \"2026-11-21T12:05:00Z\"
purpose: \"{purpose}\"
language: \"python\"
network: \"none\"
network_allowlist: []
cpu_limit: \"1\"
memory_limit_mb: 256
time_limit_sec: 30
inputs:
  - name: \"stats.py\"
    sha256: \"{sha256}\"
outputs_expected:
  - path: \"stats.json\"
    description: \"Statistics per month.\"
  - path: \"chart.svg\"
    description: \"A chart.\"
constraints:
  - \"No network unless allowlisted\"
  - \"No writes outside /out\"
  - \"No persistence\"
  - \"Be quick about it\"
---

## Command

python /in/stats.py --out /out/stats.json

## Input Files

- /in/stats.py

## Output Expectations

- /out/stats.json
- /out/chart.svg

## Risk Assessment

- Risk level: low
- Justification: a short reviewed script reads one public table.
- Data sensitivity: public
- Network rationale: none
"
    )
}

pub(crate) fn confinement() -> Confinement {
    let limit = |name, mechanism, value| EffectiveLimit {
        name,
        mechanism,
        requested: value,
        effective: value,
    };
    Confinement {
        mode: LauncherMode::User,
        uid: 1000,
        groups: vec![27, 1000],
        namespaces: vec![("pid".into(), 4_026_532_281), ("net".into(), 4_026_532_283)],
        landlock_abi: 5,
        landlock_handled: vec!["fs.write_file".into(), "net.connect_tcp".into()],
        seccomp_sha256: vec![[7; 32]],
        seccomp_mode: 2,
        no_new_privs: true,
        capabilities: CapabilitySets::default(),
        mounts_sha256: [9; 32],
        limits: vec![
            limit(LimitName::WallMs, Mechanism::Timer, 30_000),
            limit(LimitName::MemoryBytes, Mechanism::Sampled, 256 << 20),
        ],
        degraded: vec!["cgroup".into()],
    }
}

/// A run with its results, and everything that a statement borrows.
pub(crate) struct RecordCase {
    pub(crate) request: Request,
    pub(crate) confinement: Confinement,
    pub(crate) finished: FinishedRun,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) artifacts: Vec<(String, Vec<u8>)>,
    pub(crate) result_id: ResultId,
    rationale: Rationale,
    approvals: Vec<(String, String)>,
    touches: Vec<(String, Touch)>,
    request_files: Vec<(String, Vec<u8>)>,
}

pub(crate) const CREATED: &str = "2026-11-21T12:10:30Z";

impl RecordCase {
    pub(crate) fn new(purpose: &str, stdout: &[u8], artifacts: &[(&str, &[u8])]) -> Self {
        let stderr = b"warning: slow\n".to_vec();
        let request = request(purpose);
        let result_id = ResultId::for_request(at(CREATED), request.id());
        let artifacts: Vec<(String, Vec<u8>)> =
            artifacts.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())).collect();
        let rule = |rule: &str, verdict| RuleVerdict {
            rule: rule.into(),
            verdict,
            reason: "because: it says so".into(),
        };
        Self {
            finished: finished(stdout, &stderr, &artifacts),
            request,
            confinement: confinement(),
            stdout: stdout.to_vec(),
            stderr,
            artifacts,
            result_id,
            rationale: Rationale {
                rules: vec![
                    rule("approval.signature", Verdict::NotApplicable),
                    rule("limits.memory", Verdict::Pass),
                ],
                ..Rationale::default()
            },
            approvals: vec![("alice@host".into(), "SHA256:abc".into())],
            touches: Vec::new(),
            request_files: vec![(format!("{REQUEST_ID}.md.sig"), b"signature".to_vec())],
        }
    }

    /// Returns the same run of another request, with this number in its id.
    pub(crate) fn numbered(number: u32) -> Self {
        let mut case = Self::plain();
        let id = format!("{REQUEST_ID}-{number}");
        let text = text_of(&id, "Statistics of the weather.");
        let draft = Draft::new(text.into_bytes(), &format!("{id}.md"), OwnerUid::new(1000));
        let checked = draft.unwrap().check(FileLocation::Elsewhere, at("2026-11-21T12:06:00Z"));
        case.request = checked.verdict.ok().unwrap();
        case.result_id = ResultId::for_request(at(CREATED), case.request.id());
        case
    }

    /// States these approvals, with these signature files next to the request.
    pub(crate) fn approved(
        self,
        approvals: Vec<(String, String)>,
        request_files: Vec<(String, Vec<u8>)>,
    ) -> Self {
        Self { approvals, request_files, ..self }
    }

    /// States these touches of security keys.
    pub(crate) fn touched(self, touches: Vec<(String, Touch)>) -> Self {
        Self { touches, ..self }
    }

    pub(crate) fn plain() -> Self {
        let artifacts: [(&str, &[u8]); 2] = [("stats.json", b"{}"), ("sub/extra.txt", b"extra")];
        Self::new("Statistics of the weather.", b"done\n", &artifacts)
    }

    pub(crate) fn statement(&self) -> Statement<'_> {
        Statement {
            result_id: &self.result_id,
            created: at(CREATED),
            subject: RecordSubject::Request(&self.request),
            outcome: Outcome::Ok,
            reason: None,
            violations: &[],
            rationale: Some(&self.rationale),
            policy_name: "embedded",
            policy_sha256: Sha256::of(b"policy"),
            approval: "unsigned, by the invoker",
            approvals: &self.approvals,
            touches: &self.touches,
            standing: None,
            replay_of: None,
            backend: "confined",
            backend_detail: None,
            executor_version: "0.1.0",
            run: Some(StartedRun {
                confinement: &self.confinement,
                finished: &self.finished,
                started: at("2026-11-21T12:10:26Z"),
                ended: at("2026-11-21T12:10:30Z"),
                guest: None,
            }),
            network: &NetworkUse::Nothing,
            confinement_ready: None,
            stdout_head: &self.stdout,
            stderr_head: &self.stderr,
            request_files: &self.request_files,
        }
    }

    /// Describes the artifacts again after a change.
    pub(crate) fn collect(&mut self) {
        self.finished = finished(&self.stdout, &self.stderr, &self.artifacts);
    }

    /// Returns the statement of the same request without a run.
    pub(crate) fn not_run(&self, outcome: Outcome) -> Statement<'_> {
        Statement {
            outcome,
            reason: Some("the host: has no user namespaces\n## Summary"),
            run: None,
            stdout_head: b"",
            stderr_head: b"",
            ..self.statement()
        }
    }

    /// Publishes the record as the daemon does, but not durably.
    pub(crate) fn publish(&self, root: &Path, key: &ResultKey) -> PathBuf {
        let record = sign(&self.statement(), key).unwrap();
        self.publish_run(root, &record)
    }

    /// Publishes this record with all results of the run.
    pub(crate) fn publish_run(&self, root: &Path, record: &SignedRecord) -> PathBuf {
        let dir = publish(root, record, &self.stdout, &self.stderr);
        for (path, bytes) in &self.artifacts {
            put(&dir.join("artifacts").join(path), bytes);
        }
        dir
    }
}

pub(crate) fn publish(root: &Path, record: &SignedRecord, out: &[u8], err: &[u8]) -> PathBuf {
    let dir = root.join(record.result_id().as_str());
    for (path, bytes) in record.files() {
        put(&dir.join(path), bytes);
    }
    put(&dir.join("stdout"), out);
    put(&dir.join("stderr"), err);
    dir
}

fn finished(stdout: &[u8], stderr: &[u8], artifacts: &[(String, Vec<u8>)]) -> FinishedRun {
    let length = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap();
    let stream = |bytes: &[u8]| Stream {
        kept_bytes: length(bytes),
        produced_bytes: length(bytes),
        sha256: *Sha256::of(bytes).as_bytes(),
    };
    let artifact = |(path, bytes): &(String, Vec<u8>)| CollectedArtifact {
        path: path.clone(),
        size_bytes: length(bytes),
        mode: 0o644,
        sha256: *Sha256::of(bytes).as_bytes(),
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
        accounting: Accounting { wall_us: Some(3_400_000), ..Accounting::default() },
        stdout: stream(stdout),
        stderr: stream(stderr),
        collected: CollectedOutput {
            artifacts: artifacts.iter().map(artifact).collect(),
            rejected: Vec::new(),
            work: None,
            complete: true,
        },
        lost: None,
    }
}

/// Returns the Markdown of a record, which must pass its lint.
pub(crate) fn markdown(record: &SignedRecord) -> String {
    let (name, bytes) = &record.files()[0];
    let violations = validator::check_result(bytes, name);
    assert!(violations.is_empty(), "{violations:?}");
    String::from_utf8(bytes.clone()).unwrap()
}

pub(crate) fn headings(md: &str) -> Vec<&str> {
    md.lines().filter(|line| line.starts_with('#')).collect()
}

pub(crate) const SECTIONS: [&str; 6] =
    ["## Summary", "## Provenance", "## Outputs", "## Stdout", "## Stderr", "## Safety Notes"];

/// A directory that is deleted after the test.
pub(crate) struct RecordScratch(PathBuf);

impl RecordScratch {
    pub(crate) fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// Makes a directory in memory if possible, so that a sync is free.
    pub(crate) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { Self::below(memory) } else { Self::new() }
    }

    fn below(parent: &Path) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("records-{}-{number}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Self(path),
                // A killed process with this pid may have left it.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => panic!("{}: {error}", path.display()),
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Makes a key in the scratch directory.
    pub(crate) fn key(&self, name: &str) -> ResultKey {
        ResultKey::open_or_create(&self.0.join(name)).unwrap()
    }
}

impl Drop for RecordScratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

pub(crate) fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

pub(crate) fn replace(path: &Path, bytes: &[u8]) {
    fs::remove_file(path).unwrap();
    put(path, bytes);
}

/// Flips one bit in the middle of a file.
pub(crate) fn flip(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    replace(path, &bytes);
}

/// Runs a program with this standard input; `None` and a reported skip if it does not exist.
pub(crate) fn stock(
    test: &str,
    program: &str,
    args: &[&str],
    input: &[u8],
) -> Option<(bool, String)> {
    let child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            skip(test, &format!("{program}: {error}"));
            return None;
        }
    };
    // A program that refuses early closes the pipe; that is not a failure of the test.
    child.stdin.take().unwrap().write_all(input).ok();
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
}

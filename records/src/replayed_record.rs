//! The facts of a record that a replay needs. They must come from the bytes that were verified.

use model::{ResultId, Sha256, UtcTime};
use policies::MACHINE_REPORT_FILE;
use serde::Deserialize;
use serde_json::Value;

/// The facts of a verified record that a replay uses or compares.
#[derive(Debug)]
pub struct ReplayedRecord {
    /// The result id.
    pub result_id: ResultId,
    /// The digest of the record's Markdown.
    pub record_sha256: Sha256,
    /// The request id.
    pub request_id: String,
    /// The digest of the request.
    pub request_sha256: Sha256,
    /// The name of the policy.
    pub policy_name: String,
    /// The digest of the policy.
    pub policy_sha256: String,
    /// The number of input files.
    pub inputs_total: usize,
    /// The start of the run; `None` if nothing ran.
    pub started: Option<UtcTime>,
    /// The outcome.
    pub outcome: String,
    /// The exit code of the tool.
    pub exit_code: i32,
    /// Every file that the run left, by its path in the result directory; without the report about
    /// a virtual machine.
    pub files: Vec<RunOutputFile>,
}

/// A file that a run left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutputFile {
    /// The path in the result directory.
    pub path: String,
    /// The digest, in lower-case hexadecimal digits.
    pub sha256: String,
    /// The mode of an artifact, in octal digits.
    pub mode: Option<String>,
}

#[derive(Deserialize)]
struct RawReplayFacts {
    request_id: String,
    request_sha256: String,
    inputs: Vec<serde::de::IgnoredAny>,
    policy: RawReplayPolicy,
    started_utc: Option<String>,
    outcome: String,
    exit_code: i32,
    stdout_sha256: String,
    stderr_sha256: String,
    artifacts: Vec<RawReplayArtifact>,
}

#[derive(Deserialize)]
struct RawReplayPolicy {
    name: String,
    sha256: String,
}

#[derive(Deserialize)]
struct RawReplayArtifact {
    path: String,
    sha256: String,
    mode: String,
}

impl ReplayedRecord {
    /// Reads the facts of a verified record. Returns `None` if they are not those of a record.
    pub(crate) fn of(result_id: ResultId, record_sha256: Sha256, facts: &Value) -> Option<Self> {
        // The times in the report about a virtual machine are never the same twice.
        let report = facts["backend_detail"]["machine"].is_object().then_some(MACHINE_REPORT_FILE);
        let facts = RawReplayFacts::deserialize(facts).ok()?;
        let started = facts.started_utc.as_deref().map(str::parse).transpose().ok()?;
        let stream = |path: &str, sha256: String| RunOutputFile {
            path: path.to_owned(),
            sha256,
            mode: None,
        };
        let streams =
            [stream("stdout", facts.stdout_sha256), stream("stderr", facts.stderr_sha256)];
        let artifacts = facts.artifacts.into_iter();
        let artifacts = artifacts.filter(|artifact| Some(artifact.path.as_str()) != report);
        let artifacts = artifacts.map(|artifact| RunOutputFile {
            path: format!("artifacts/{}", artifact.path),
            sha256: artifact.sha256,
            mode: Some(artifact.mode),
        });
        Some(Self {
            result_id,
            record_sha256,
            request_id: facts.request_id,
            request_sha256: facts.request_sha256.parse().ok()?,
            policy_name: facts.policy.name,
            policy_sha256: facts.policy.sha256,
            inputs_total: facts.inputs.len(),
            started,
            outcome: facts.outcome,
            exit_code: facts.exit_code,
            files: streams.into_iter().chain(artifacts).collect(),
        })
    }
}

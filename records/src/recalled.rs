//! What of a record matters to whoever does its run again: under which policy, when, and what came of
//! it. It must never be made of other bytes than those that verified.

use model::{ResultId, Sha256, UtcTime};
use serde::Deserialize;
use serde_json::Value;

/// The facts of a record that a replay needs or is compared by.
#[derive(Debug)]
pub struct Recalled {
    pub result_id: ResultId,
    /// Of the record's Markdown.
    pub record_sha256: Sha256,
    pub request_id: String,
    pub request_sha256: Sha256,
    pub policy_name: String,
    pub policy_sha256: String,
    /// How many input files it was given.
    pub inputs_total: usize,
    /// When the run began; none where nothing ran.
    pub started: Option<UtcTime>,
    pub outcome: String,
    pub exit_code: i32,
    /// Everything that the run left, by its path in the directory of the record.
    pub left: Vec<LeftFile>,
}

/// One file that a run left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftFile {
    pub path: String,
    pub sha256: String,
    /// Of an artifact, in octal digits.
    pub mode: Option<String>,
}

#[derive(Deserialize)]
struct Facts {
    request_id: String,
    request_sha256: String,
    inputs: Vec<serde::de::IgnoredAny>,
    policy: PolicyFacts,
    started_utc: Option<String>,
    outcome: String,
    exit_code: i32,
    stdout_sha256: String,
    stderr_sha256: String,
    artifacts: Vec<Artifact>,
}

#[derive(Deserialize)]
struct PolicyFacts {
    name: String,
    sha256: String,
}

#[derive(Deserialize)]
struct Artifact {
    path: String,
    sha256: String,
    mode: String,
}

impl Recalled {
    /// From the facts of a record that verified. `None` where they are not those of a record.
    pub(crate) fn of(result_id: ResultId, record_sha256: Sha256, facts: &Value) -> Option<Self> {
        let facts = Facts::deserialize(facts).ok()?;
        let started = facts.started_utc.as_deref().map(str::parse).transpose().ok()?;
        let stream =
            |path: &str, sha256: String| LeftFile { path: path.to_owned(), sha256, mode: None };
        let streams =
            [stream("stdout", facts.stdout_sha256), stream("stderr", facts.stderr_sha256)];
        let artifacts = facts.artifacts.into_iter().map(|artifact| LeftFile {
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
            left: streams.into_iter().chain(artifacts).collect(),
        })
    }
}

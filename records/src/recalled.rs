//! What of a record matters to whoever does its run again: under which policy, when, and what came of
//! it. Read from a record that was verified before; must never be taken for a verification.

use std::os::fd::AsFd as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use serde::Deserialize;
use validator::{ResultId, Sha256, UtcTime};

use crate::tree::read_bounded;
use crate::verify::RECORD_BYTES_MAX;

/// The facts of a record that a replay needs or is compared by.
#[derive(Debug)]
pub struct Recalled {
    pub result_id: ResultId,
    /// Of the record's Markdown.
    pub record_sha256: Sha256,
    pub request_id: String,
    pub request_sha256: String,
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

/// Reads the record of a result directory. `None` where there is none that can be read.
#[must_use]
pub fn recall(dir: &Path) -> Option<Recalled> {
    let name = dir.file_name()?.to_str()?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open(dir, flags, Mode::empty()).ok()?;
    let md = read_bounded(root.as_fd(), &format!("{name}.md"), RECORD_BYTES_MAX).ok()??;
    let text = std::str::from_utf8(&md).ok()?;
    let (front, _) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
    let facts: Facts = serde_yaml::from_str(front).ok()?;
    let started = facts.started_utc.as_deref().map(str::parse).transpose().ok()?;
    let stream =
        |path: &str, sha256: String| LeftFile { path: path.to_owned(), sha256, mode: None };
    let streams = [stream("stdout", facts.stdout_sha256), stream("stderr", facts.stderr_sha256)];
    let artifacts = facts.artifacts.into_iter().map(|artifact| LeftFile {
        path: format!("artifacts/{}", artifact.path),
        sha256: artifact.sha256,
        mode: Some(artifact.mode),
    });
    Some(Recalled {
        result_id: name.parse().ok()?,
        record_sha256: Sha256::of(&md),
        request_id: facts.request_id,
        request_sha256: facts.request_sha256,
        policy_name: facts.policy.name,
        policy_sha256: facts.policy.sha256,
        inputs_total: facts.inputs.len(),
        started,
        outcome: facts.outcome,
        exit_code: facts.exit_code,
        left: streams.into_iter().chain(artifacts).collect(),
    })
}

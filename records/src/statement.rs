//! What a record says, before it is words: plain data that the daemon fills in. Nothing here is a
//! proof, and nothing here may be computed from anything but what it was given.

use model::{Outcome, RequestId, ResultId, Sha256, UtcTime};
use sandbox::report::{Artifact, Confinement, Finished};
use validator::{ExpectedOutput, Request, Violation};

use policies::{Grounds, RuleVerdict, Touch};

use crate::network::NetworkUse;

/// What the record is about.
#[derive(Clone, Copy)]
pub enum Subject<'a> {
    /// A well-formed request.
    Request(&'a Request),
    /// A file that is none.
    Unusable {
        /// As it was named where it was found; any text.
        file_name: &'a str,
        bytes: &'a [u8],
        /// Where the file names an id that can be used.
        request_id: Option<&'a RequestId>,
    },
}

/// The record whose run was done again.
#[derive(Clone, Copy)]
pub struct ReplayOf<'a> {
    pub result_id: &'a ResultId,
    /// Of its Markdown.
    pub record_sha256: Sha256,
}

/// A run that started, and when.
#[derive(Clone, Copy)]
pub struct Ran<'a> {
    pub confinement: &'a Confinement,
    pub finished: &'a Finished,
    pub started: UtcTime,
    pub ended: UtcTime,
}

/// Everything that the record says.
#[derive(Clone, Copy)]
pub struct Statement<'a> {
    pub result_id: &'a ResultId,
    pub created: UtcTime,
    pub subject: Subject<'a>,
    /// Where this is no request's own run.
    pub replay_of: Option<ReplayOf<'a>>,
    pub outcome: Outcome,
    /// Why it could not be set up or is indeterminate; of a refusal, only where its violations do not say it.
    pub reason: Option<&'a str>,
    pub violations: &'a [Violation],
    /// Why it was decided as it was; none where nobody is left to say.
    pub grounds: Option<&'a Grounds>,
    pub policy_name: &'a str,
    pub policy_sha256: Sha256,
    /// What the approval was worth, e.g. `unsigned, by the invoker`.
    pub approval: &'a str,
    /// Principal and key fingerprint of each verified approval.
    pub approvals: &'a [(String, String)],
    /// What security keys among them said when they signed, by fingerprint.
    pub touches: &'a [(String, Touch)],
    /// `confined`.
    pub backend: &'a str,
    pub executor_version: &'a str,
    pub ran: Option<Ran<'a>>,
    /// Also of a run of which nothing else is known: what it reached was reached.
    pub network: &'a NetworkUse,
    /// The confinement of a cell that was built but in which nothing started.
    pub confinement_ready: Option<&'a Confinement>,
    /// The first bytes of the kept streams, to be shown; 64 KiB and one more are enough.
    pub stdout_head: &'a [u8],
    pub stderr_head: &'a [u8],
    /// Files beside the request, as they were named there (any text): signatures, the AIS bundle.
    pub request_files: &'a [(String, Vec<u8>)],
}

/// A statement without anything that a run could have changed: what request, policy, rules and
/// approvals say. How they are shown is decided from this alone, so no tool can decide it.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a>(Statement<'a>);

impl<'a> Given<'a> {
    /// As the statement of a request that never ran.
    pub(crate) fn as_statement(&self) -> &Statement<'a> {
        &self.0
    }
}

impl<'a> Statement<'a> {
    /// The part of it that no tool had a say in.
    pub(crate) fn given(&self) -> Given<'a> {
        let Self { result_id, created, subject, replay_of, reason, violations, .. } = *self;
        let Self { grounds, policy_name, policy_sha256, approval, approvals, touches, .. } = *self;
        let Self { backend, executor_version, request_files, .. } = *self;
        // Every field is named here: a new one has to be put on one side.
        Given(Statement {
            result_id,
            created,
            subject,
            replay_of,
            outcome: Outcome::Refused,
            // After a run it is about the run.
            reason: reason.filter(|_| self.ran.is_none()),
            violations,
            grounds,
            policy_name,
            policy_sha256,
            approval,
            approvals,
            touches,
            backend,
            executor_version,
            ran: None,
            network: &NetworkUse::Nothing,
            confinement_ready: None,
            stdout_head: b"",
            stderr_head: b"",
            request_files,
        })
    }

    /// What every rule said, as far as anybody knows.
    pub(crate) fn rules(&self) -> &'a [RuleVerdict] {
        self.grounds.map_or(&[], |grounds| &grounds.rules)
    }

    pub(crate) fn request(&self) -> Option<&'a Request> {
        match self.subject {
            Subject::Request(request) => Some(request),
            Subject::Unusable { .. } => None,
        }
    }

    pub(crate) fn request_bytes(&self) -> &'a [u8] {
        match self.subject {
            Subject::Request(request) => request.bytes(),
            Subject::Unusable { bytes, .. } => bytes,
        }
    }

    /// The request's id, or the word `unusable`.
    pub(crate) fn request_id(&self) -> &'a str {
        match self.subject {
            Subject::Request(request) => request.id().as_str(),
            Subject::Unusable { request_id: Some(id), .. } => id.as_str(),
            Subject::Unusable { request_id: None, .. } => "unusable",
        }
    }

    pub(crate) fn confinement(&self) -> Option<&'a Confinement> {
        self.ran.map(|ran| ran.confinement).or(self.confinement_ready)
    }

    pub(crate) fn artifacts(&self) -> &'a [Artifact] {
        self.ran.map_or(&[], |ran| &ran.finished.collected.artifacts)
    }

    pub(crate) fn expected(&self) -> &'a [ExpectedOutput] {
        self.request().map_or(&[], |request| request.outputs_expected())
    }

    /// The declaration of this artifact, if the request has one.
    pub(crate) fn declaration(&self, artifact: &Artifact) -> Option<&'a ExpectedOutput> {
        self.expected().iter().find(|output| relative(output.path()) == artifact.path)
    }

    /// Paths that the request expected and the run did not leave; empty where nothing ran.
    pub(crate) fn missing(&self) -> Vec<&'a str> {
        if self.ran.is_none() {
            return Vec::new();
        }
        let left = |path: &str| self.artifacts().iter().any(|artifact| artifact.path == path);
        let expected = self.expected().iter().map(|output| relative(output.path()));
        expected.filter(|path| !left(path)).collect()
    }

    /// The tool's own exit code; -1 where nothing ran or nobody knows.
    pub(crate) fn exit_code(&self) -> i32 {
        self.ran.and_then(|ran| ran.finished.facts.tool).map_or(-1, |end| end.exit_code())
    }

    /// Wall time in microseconds: measured, else by the two clock readings; zero if nothing ran.
    pub(crate) fn runtime_us(&self) -> u64 {
        let Some(ran) = self.ran else { return 0 };
        ran.finished.accounting.wall_us.unwrap_or_else(|| {
            let seconds = ran.ended.unix().saturating_sub(ran.started.unix());
            u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000)
        })
    }
}

/// `output.json` and `/out/output.json` are one.
fn relative(path: &str) -> &str {
    path.strip_prefix("/out/").unwrap_or(path)
}

//! The contents of a record as plain data, filled in by the daemon. Nothing here is a proof, and
//! every method here computes only from the statement's own fields.

use model::{Outcome, RequestId, ResultId, Sha256, UtcTime};
use sandbox::report::{CollectedArtifact, Confinement, FinishedRun};
use validator::{Binding, ExpectedOutput, Request, StandingApproval, Violation, Work};

use policies::{
    BackendKind, GrantedBackend, MACHINE_REPORT_FILE, RESULT_FILE, Rationale, RuleVerdict, Touch,
};

use crate::guest_report::GuestReport;
use crate::network::NetworkUse;

/// The subject of a record.
#[derive(Clone, Copy)]
pub enum RecordSubject<'a> {
    /// A well-formed request.
    Request(&'a Request),
    /// A file that is not a well-formed request.
    Unusable {
        /// The name of the submitted file; any text.
        file_name: &'a str,
        /// The bytes of the file.
        bytes: &'a [u8],
        /// The id that the file names, if it is usable.
        request_id: Option<&'a RequestId>,
    },
}

/// The record whose run was replayed.
#[derive(Clone, Copy)]
pub struct ReplayOf<'a> {
    /// The result id.
    pub result_id: &'a ResultId,
    /// The digest of its Markdown.
    pub record_sha256: Sha256,
}

/// A run that started.
#[derive(Clone, Copy)]
pub struct StartedRun<'a> {
    /// The confinement that was read back.
    pub confinement: &'a Confinement,
    /// The end of the run.
    pub finished: &'a FinishedRun,
    /// The time of the start.
    pub started: UtcTime,
    /// The time of the end.
    pub ended: UtcTime,
    /// The report about the virtual machine, if the run had one that left it.
    pub guest: Option<&'a GuestReport>,
}

/// The use of a standing approval by a run.
#[derive(Clone, Copy)]
pub struct StatedUse<'a> {
    /// The document.
    pub approval: &'a StandingApproval,
    /// The number of the use, from 1; `None` in a replay, which uses none up.
    pub number: Option<u64>,
    /// The values that the request has chosen.
    pub binding: &'a Binding,
    /// The size of each input in bytes, in the order of the request; `None` after a crash.
    pub sizes: Option<&'a [u64]>,
}

/// The contents of a record.
#[derive(Clone, Copy)]
pub struct Statement<'a> {
    /// The result id.
    pub result_id: &'a ResultId,
    /// The time when the record is made.
    pub created: UtcTime,
    /// The request or the unusable file.
    pub subject: RecordSubject<'a>,
    /// Set if the run is a replay.
    pub replay_of: Option<ReplayOf<'a>>,
    /// The outcome.
    pub outcome: Outcome,
    /// The reason for a failed setup or an unknown end. For a refusal, set only if the violations
    /// do not contain the reason.
    pub reason: Option<&'a str>,
    /// The findings of the request's check.
    pub violations: &'a [Violation],
    /// The reasons of the decision; `None` if they are lost.
    pub rationale: Option<&'a Rationale>,
    /// The name of the policy.
    pub policy_name: &'a str,
    /// The digest of the policy.
    pub policy_sha256: Sha256,
    /// The kind of the approval, e.g. `unsigned, by the invoker`.
    pub approval: &'a str,
    /// The principal and the key fingerprint of each verified approval.
    pub approvals: &'a [(String, String)],
    /// The signed state of security keys (user verification, counter), by key fingerprint.
    pub touches: &'a [(String, Touch)],
    /// The use of a standing approval, if the run uses one.
    pub standing: Option<StatedUse<'a>>,
    /// The name of the backend, such as `confined`.
    pub backend: &'a str,
    /// The backend with its files, if the run was granted one.
    pub backend_detail: Option<&'a GrantedBackend>,
    /// The version of this program.
    pub executor_version: &'a str,
    /// The run, if one started.
    pub run: Option<StartedRun<'a>>,
    /// The network use. Also set for a run of which nothing else is known.
    pub network: &'a NetworkUse,
    /// The confinement of a sandbox that was built but in which nothing started.
    pub confinement_ready: Option<&'a Confinement>,
    /// The first bytes of the kept standard output, for display; 64 KiB and one byte are enough.
    pub stdout_head: &'a [u8],
    /// The same of standard error.
    pub stderr_head: &'a [u8],
    /// The sidecar files with their original names (any text): signatures, the AIS bundle.
    pub request_files: &'a [(String, Vec<u8>)],
}

/// A statement without anything that a run could have changed: the text of request, policy, rules
/// and approvals. How this text is shown is decided from it alone, so no tool can influence that.
#[derive(Clone, Copy)]
pub(crate) struct PreRunStatement<'a>(Statement<'a>);

impl<'a> PreRunStatement<'a> {
    /// Returns it as the statement of a request that never ran.
    pub(crate) fn as_statement(&self) -> &Statement<'a> {
        &self.0
    }
}

impl<'a> Statement<'a> {
    /// Returns the part that no tool influenced.
    pub(crate) fn pre_run(&self) -> PreRunStatement<'a> {
        let Self { result_id, created, subject, replay_of, reason, violations, .. } = *self;
        let Self { rationale, policy_name, policy_sha256, approval, .. } = *self;
        let Self { approvals, touches, standing, backend, backend_detail, .. } = *self;
        let Self { executor_version, .. } = *self;
        let Self { request_files, .. } = *self;
        // Names every field, so that a new one must be classified.
        PreRunStatement(Statement {
            result_id,
            created,
            subject,
            replay_of,
            outcome: Outcome::Refused,
            // The reason of a run is about the run.
            reason: reason.filter(|_| self.run.is_none()),
            violations,
            rationale,
            policy_name,
            policy_sha256,
            approval,
            approvals,
            touches,
            standing,
            backend,
            backend_detail,
            executor_version,
            run: None,
            network: &NetworkUse::Nothing,
            confinement_ready: None,
            stdout_head: b"",
            stderr_head: b"",
            request_files,
        })
    }

    /// Returns the verdict of every rule, as far as known.
    pub(crate) fn rules(&self) -> &'a [RuleVerdict] {
        self.rationale.map_or(&[], |rationale| &rationale.rules)
    }

    pub(crate) fn request(&self) -> Option<&'a Request> {
        match self.subject {
            RecordSubject::Request(request) => Some(request),
            RecordSubject::Unusable { .. } => None,
        }
    }

    pub(crate) fn request_bytes(&self) -> &'a [u8] {
        match self.subject {
            RecordSubject::Request(request) => request.bytes(),
            RecordSubject::Unusable { bytes, .. } => bytes,
        }
    }

    /// Returns the request's id, or `unusable`.
    pub(crate) fn request_id(&self) -> &'a str {
        match self.subject {
            RecordSubject::Request(request) => request.id().as_str(),
            RecordSubject::Unusable { request_id: Some(id), .. } => id.as_str(),
            RecordSubject::Unusable { request_id: None, .. } => "unusable",
        }
    }

    pub(crate) fn confinement(&self) -> Option<&'a Confinement> {
        self.run.map(|ran| ran.confinement).or(self.confinement_ready)
    }

    pub(crate) fn artifacts(&self) -> &'a [CollectedArtifact] {
        self.run.map_or(&[], |ran| &ran.finished.collected.artifacts)
    }

    pub(crate) fn expected(&self) -> &'a [ExpectedOutput] {
        self.request().map_or(&[], |request| request.outputs_expected())
    }

    pub(crate) fn declaration(&self, artifact: &CollectedArtifact) -> Option<&'a ExpectedOutput> {
        self.expected().iter().find(|output| relative_to_out(output.path()) == artifact.path)
    }

    /// Returns whether the file is the value of the request's code, which its form declares.
    pub(crate) fn is_code_value(&self, artifact: &CollectedArtifact) -> bool {
        let has_code = self.request().is_some_and(|it| matches!(it.work(), Work::Code(_)));
        has_code && artifact.path == RESULT_FILE
    }

    /// Returns whether the file is the report about the virtual machine, which no request declares.
    pub(crate) fn is_machine_report(&self, artifact: &CollectedArtifact) -> bool {
        let has_machine = self.backend_detail.is_some_and(|granted| granted.machine.is_some());
        has_machine && artifact.path == MACHINE_REPORT_FILE
    }

    /// Returns the report about the virtual machine of the run.
    pub(crate) fn guest(&self) -> Option<&'a GuestReport> {
        self.run.and_then(|ran| ran.guest)
    }

    /// Returns the backend of a run that had more than the sandbox alone.
    pub(crate) fn further_backend(&self) -> Option<&'a GrantedBackend> {
        self.backend_detail.filter(|granted| granted.kind != BackendKind::Sandbox)
    }

    /// Returns the expected paths that the run did not leave; empty if nothing ran.
    pub(crate) fn missing(&self) -> Vec<&'a str> {
        if self.run.is_none() {
            return Vec::new();
        }
        let left = |path: &str| self.artifacts().iter().any(|artifact| artifact.path == path);
        let expected = self.expected().iter().map(|output| relative_to_out(output.path()));
        expected.filter(|path| !left(path)).collect()
    }

    /// Returns the tool's exit code; -1 if nothing ran or it is unknown.
    pub(crate) fn exit_code(&self) -> i32 {
        self.run.and_then(|ran| ran.finished.facts.tool).map_or(-1, |end| end.exit_code())
    }

    /// Returns the wall time in microseconds, measured or from the two clock readings; zero if
    /// nothing ran.
    pub(crate) fn runtime_us(&self) -> u64 {
        let Some(ran) = self.run else { return 0 };
        ran.finished.accounting.wall_us.unwrap_or_else(|| {
            let seconds = ran.ended.unix().saturating_sub(ran.started.unix());
            u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000)
        })
    }
}

/// Makes `output.json` and `/out/output.json` equal.
fn relative_to_out(path: &str) -> &str {
    path.strip_prefix("/out/").unwrap_or(path)
}

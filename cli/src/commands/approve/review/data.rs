//! The data of a review, read once: the shown, the decided and the signed bytes are the same.

use std::path::{Path, PathBuf};

use daemon::{BackendScope, DigestCache, preview, user_name};
use model::{HostAudience, Sha256, UtcTime};
use policies::ais::EnvironmentDigests;
use policies::{
    AisEvidence, AisFile, DecisionEvidence, DecisionPreview, EnvironmentEvidence, ExpectedVerdict,
    LedgerEvidence, PermissionEvidence, REJECT_NAMESPACE, SignatureFile, SshSignature,
    StandingEvidence, preview_decision,
};
use sandbox::plan::Plan;
use spool::{SpoolError, SubmissionFiles};
use validator::{Code, Draft, DraftCheck, FileLocation, FillError, OneLine, OwnerUid, Violation};

use super::filled_document::FilledDocument;
use super::inputs::{self, DeclaredInput};
use super::model::{InputTexts, ReviewVerdict, ShownFile};
use super::named_environment::NamedEnvironment;
use super::rules::HostRules;
use crate::args::StateOption;
use crate::args::files::{named_directory, open_document};
use crate::clock;
use crate::failure::Failure;
use crate::output::human;

/// Limit of kept bytes per input. The rest is not shown.
const TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;

pub(crate) struct ReviewData {
    /// The path of the request, as typed.
    pub(crate) path: PathBuf,
    pub(crate) rules: HostRules,
    /// The file, unchanged.
    pub(crate) original: Vec<u8>,
    /// The file with an empty approval filled in.
    pub(crate) bytes: Vec<u8>,
    /// The approval keys that are empty in the file, or the reason why they cannot be filled in.
    pub(crate) filled: Result<Vec<&'static str>, FillError>,
    /// The filled-in keys for which no approver is known yet.
    pub(crate) filled_on_approval: Vec<&'static str>,
    pub(crate) signature_files: Vec<String>,
    /// The names of the rejections among the signature files, valid or not.
    pub(crate) rejection_files: Vec<String>,
    /// The reason why each unreadable signature file was not read.
    unread_signatures: Vec<String>,
    ais: AisFile,
    /// Errors that no approval can change, and warnings.
    pub(crate) violations: Vec<Violation>,
    pub(crate) preview: Option<DecisionPreview>,
    /// The environment that the request names, if any.
    pub(super) environment: Option<NamedEnvironment>,
    pub(crate) inputs: Vec<DeclaredInput>,
    /// The plan that the launcher would receive, or the reason why it is unknown.
    pub(crate) plan: Result<Plan, String>,
}

impl ReviewData {
    /// Reads everything. An empty approval is evaluated as if this approver had given it.
    pub(crate) fn read(
        request: &Path,
        inputs: Option<&Path>,
        rules: HostRules,
        approver: Option<(&OneLine, UtcTime)>,
        texts: InputTexts,
    ) -> Result<Self, Failure> {
        open_document(request)?;
        let inputs = inputs.map(|dir| named_directory("--inputs", dir)).transpose()?;
        let mut case = Self {
            path: request.to_owned(),
            rules,
            original: Vec::new(),
            bytes: Vec::new(),
            filled: Ok(Vec::new()),
            filled_on_approval: Vec::new(),
            signature_files: Vec::new(),
            rejection_files: Vec::new(),
            unread_signatures: Vec::new(),
            ais: AisFile::Missing,
            violations: Vec::new(),
            preview: None,
            environment: None,
            inputs: Vec::new(),
            plan: Err("the request would not run".to_owned()),
        };
        let submission = match SubmissionFiles::read(request, inputs.as_deref()) {
            Ok(submission) => submission,
            Err(SpoolError::TooLarge { path, bytes_max }) if path == request => {
                case.violations.push(human::too_large(bytes_max));
                return Ok(case);
            }
            Err(error) => return Err(error.into()),
        };
        case.load(&submission, approver);
        case.check(&submission, texts)?;
        Ok(case)
    }

    fn load(&mut self, submission: &SubmissionFiles, approver: Option<(&OneLine, UtcTime)>) {
        self.original = submission.bytes().to_vec();
        self.signature_files =
            submission.signatures().iter().map(|file| file.name.clone()).collect();
        let rejections = submission.signatures().iter().filter(|file| is_rejection(file));
        self.rejection_files = rejections.map(|file| file.name.clone()).collect();
        self.unread_signatures = submission.unread_signatures().to_vec();
        self.ais = submission.ais().clone();
        let document = FilledDocument::of(&self.original, approver);
        self.bytes = document.bytes;
        self.filled = document.filled;
        self.filled_on_approval = document.filled_on_approval;
    }

    fn check(&mut self, submission: &SubmissionFiles, texts: InputTexts) -> Result<(), Failure> {
        let owner = OwnerUid::new(rustix::process::geteuid().as_raw());
        let draft = Draft::new(self.bytes.clone(), submission.file_name(), owner)
            .map_err(|error| Failure::Message(format!("{}: {error}", self.path.display())))?;
        let DraftCheck { violations, verdict } = draft.check(FileLocation::Spool, clock::now());
        self.violations = violations;
        let Ok(request) = verdict else { return Ok(()) };
        let kept_max = if texts == InputTexts::None { 0 } else { TEXT_BYTES_MAX };
        let bytes_max = self.rules.policy.ceilings().input_bytes;
        self.inputs = inputs::hash_inputs(submission, &request, bytes_max, kept_max)?;
        self.violations.extend(self.inputs.iter().filter_map(DeclaredInput::violation));
        // A signature of the unfilled text does not cover the text that will be approved.
        let signatures = if self.is_filled() { submission.signatures() } else { &[] };
        self.decide(request, signatures)
    }

    /// Evaluates the rules. The present user is assumed to be the submitter.
    fn decide(
        &mut self,
        request: validator::Request,
        signatures: &[SignatureFile],
    ) -> Result<(), Failure> {
        let HostRules { policy, signers, origin, ais_trust, environments, .. } = &self.rules;
        let uid = rustix::process::geteuid().as_raw();
        let submission = if policy.accepts_invoker() {
            policies::SubmissionOrigin::Invoked { uid, name: user_name(uid) }
        } else {
            let owner = OwnerUid::new(uid);
            policies::SubmissionOrigin::Submitted { owner, owner_name: user_name(uid) }
        };
        let state = StateOption { dir: None }.path().unwrap_or_default();
        let backends = BackendScope::of(policy, &request);
        let binaries = preview::installed(policy, &state, &backends);
        let permission = self.permission_of(&request)?;
        let digests = match policy.requires_ais(&request) && self.ais != AisFile::Missing {
            true => DigestCache::default().of(policy, &binaries)?.digests,
            false => EnvironmentDigests::default(),
        };
        let named = request.environment().map(|it| NamedEnvironment::of(it, environments));
        let environment = match &named {
            Some(named) => preview::environment(&request, named.store()),
            None => EnvironmentEvidence::Unnamed,
        };
        let evidence = DecisionEvidence {
            submission,
            signatures,
            unread_signatures: &self.unread_signatures,
            signers: signers.as_ref(),
            host: HostAudience::of(origin.as_deref()),
            ledger: LedgerEvidence::NotQueried,
            standing: StandingEvidence::NotQueried,
            environment: &environment,
            permission,
            ais: AisEvidence {
                file: &self.ais,
                trust: ais_trust.as_ref(),
                supply: &digests,
                nonces_used: None,
            },
            binaries: &binaries,
            now: clock::now(),
        };
        let preview = preview_decision(request, policy, &evidence);
        self.violations.extend_from_slice(preview.violations());
        if let Some(grant) = preview.grant() {
            self.plan = preview::plan_of(grant);
            self.violations.extend(preview::missing_proxy(preview.request(), grant));
        }
        self.preview = Some(preview);
        self.environment = named;
        Ok(())
    }

    /// Returns the host's permission state, if this user may read it. Creates no files.
    fn permission_of(&self, request: &validator::Request) -> Result<PermissionEvidence, Failure> {
        let rules = &self.rules;
        let usual = || StateOption { dir: None }.path().ok().map(|state| state.join("permissions"));
        let store = rules.permissions.clone().or_else(|| usual().filter(|it| it.is_dir()));
        let Some(store) = store.filter(|_| rules.policy.requires_permission(request)) else {
            return Ok(PermissionEvidence::NotQueried);
        };
        preview::permission(request, &store).map_err(|error| Failure::Message(error.to_string()))
    }

    /// Evaluates the rules again, with an additional signature of the same bytes.
    pub(crate) fn with_signature(&mut self, signatures: Vec<SignatureFile>) -> Result<(), Failure> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let owner = OwnerUid::new(rustix::process::geteuid().as_raw());
        let unfit = |what: &str| Failure::Message(format!("{}: {what}", self.path.display()));
        let draft = Draft::new(self.bytes.clone(), &name, owner)
            .map_err(|error| unfit(&error.to_string()))?;
        let checked = draft.check(FileLocation::Spool, clock::now());
        let request = checked
            .verdict
            .map_err(|_| unfit("no longer a valid request; help: report this as a bug"))?;
        self.decide(request, &signatures)
    }

    pub(crate) fn preview(&self) -> Result<&DecisionPreview, Failure> {
        self.preview.as_ref().ok_or_else(|| {
            Failure::Message("no decision was made; help: report this as a bug".into())
        })
    }

    /// Returns the file as it was shown.
    pub(crate) fn shown(&self) -> ShownFile<'_> {
        ShownFile { path: &self.path, original: &self.original, bytes: &self.bytes }
    }

    /// Returns the digest of the file, or of the bytes that an approver is about to sign.
    pub(crate) fn sha256(&self) -> Sha256 {
        Sha256::of(if self.filled_on_approval.is_empty() { &self.bytes } else { &self.original })
    }

    /// Returns whether the text names the approver and the time of approval.
    pub(super) fn is_filled(&self) -> bool {
        self.filled.as_ref().is_ok_and(Vec::is_empty)
    }

    pub(crate) fn outcome(&self) -> ReviewVerdict {
        let Some(preview) = self.preview.as_ref().filter(|_| !human::has_error(&self.violations))
        else {
            return ReviewVerdict::Refused;
        };
        match self.is_filled() && is_settled(preview) {
            true => ReviewVerdict::Ready,
            false => ReviewVerdict::Pending,
        }
    }

    /// Returns the verdict once this approver's name is filled in, without a signature.
    pub(crate) fn outcome_filled(&self) -> ReviewVerdict {
        match (self.outcome(), &self.preview) {
            (ReviewVerdict::Pending, Some(preview)) if is_settled(preview) => ReviewVerdict::Ready,
            (outcome, _) => outcome,
        }
    }

    /// Returns what keeps the request from running, except for rules that depend on the ledger.
    pub(crate) fn pending(&self) -> Vec<&Violation> {
        let all = self.preview.iter().flat_map(|preview| preview.pending());
        let of_ledger = [Code::SpoolReplayed, Code::Ais("ibe-replay")];
        all.filter(|row| !of_ledger.contains(&row.code)).collect()
    }
}

/// Returns whether no rule waits for a person. The ledger decides only at the run.
fn is_settled(preview: &DecisionPreview) -> bool {
    let settled = |(row, prospect): &(policies::RuleVerdict, ExpectedVerdict)| {
        *prospect != ExpectedVerdict::Pending || LEDGER_RULES.contains(&row.rule.as_str())
    };
    preview.rules().iter().all(settled)
}

/// Returns whether the name or the namespace makes it a rejection. The rules decide if it counts.
pub(crate) fn is_rejection(file: &SignatureFile) -> bool {
    let signed = SshSignature::parse(&file.bytes);
    file.name.ends_with(".reject.sig")
        || signed.is_ok_and(|signature| signature.namespace() == REJECT_NAMESPACE)
}

/// Rules that depend on the host's ledger, which an approver cannot know. They count as settled.
const LEDGER_RULES: [&str; 2] = ["approval.single-use", "ais.ledger"];

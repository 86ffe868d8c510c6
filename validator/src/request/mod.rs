//! A well-formed request: the proof that the text was checked. Only the check may create one, so it
//! has no public field, no `Clone` and no `Default`. It proves nothing about approval.

mod intent;
mod model;

use ::model::{EnvironmentReference, Language, RequestId, Sha256, StandingReference, UtcTime};

use crate::declarations::Input;
use crate::extension::RequestAgent;
use crate::limits::CpuCores;
use crate::network::Network;
use crate::outputs::{self, ExpectedOutput, PatchOutput};
use crate::risk::Risk;

pub(crate) use self::model::RequestParts;
pub use self::model::{Backend, Constraint, OwnerUid, RequestedBy, Work};

/// A request well-formed under the schema (seed 002). It says nothing about approval or permission.
#[must_use]
pub struct Request {
    bytes: Vec<u8>,
    sha256: Sha256,
    file_name: String,
    owner: OwnerUid,
    intent_sha256: Sha256,
    parts: RequestParts,
}

impl Request {
    pub(crate) fn new(
        (bytes, sha256): (Vec<u8>, Sha256),
        file_name: String,
        owner: OwnerUid,
        parts: RequestParts,
    ) -> Self {
        let intent_sha256 = intent::digest(&parts);
        Self { bytes, sha256, file_name, owner, intent_sha256, parts }
    }

    /// The exact bytes that were checked.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The digest of the exact bytes.
    #[must_use]
    pub fn sha256(&self) -> Sha256 {
        self.sha256
    }

    /// The user who owns the file.
    #[must_use]
    pub fn owner(&self) -> OwnerUid {
        self.owner
    }

    /// The name of the file, without directories.
    #[must_use]
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// `request_id`.
    #[must_use]
    pub fn id(&self) -> &RequestId {
        &self.parts.id
    }

    /// `created_utc`.
    #[must_use]
    pub fn created(&self) -> UtcTime {
        self.parts.created
    }

    /// `approved_utc`.
    #[must_use]
    pub fn approved(&self) -> UtcTime {
        self.parts.approved
    }

    /// `approved_by`: a name in the text, not verified yet.
    #[must_use]
    pub fn approved_by(&self) -> &str {
        &self.parts.approved_by
    }

    /// `requested_by`.
    #[must_use]
    pub fn requested_by(&self) -> RequestedBy {
        self.parts.requested_by
    }

    /// `purpose`: one sentence.
    #[must_use]
    pub fn purpose(&self) -> &str {
        &self.parts.purpose
    }

    /// `language`.
    #[must_use]
    pub fn language(&self) -> Language {
        self.parts.language
    }

    /// `backend`; None means the policy's default backend.
    #[must_use]
    pub fn backend(&self) -> Option<Backend> {
        self.parts.backend
    }

    /// `network` with `network_allowlist`.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.parts.network
    }

    /// `cpu_limit`, in cores.
    #[must_use]
    pub fn cpu(&self) -> CpuCores {
        self.parts.cpu
    }

    /// `memory_limit_mb`, in MiB.
    #[must_use]
    pub fn memory_limit_mb(&self) -> u64 {
        self.parts.memory_limit_mb
    }

    /// `time_limit_sec`, in seconds.
    #[must_use]
    pub fn time_limit_sec(&self) -> u64 {
        self.parts.time_limit_sec
    }

    /// `inputs`, in the order of the text.
    #[must_use]
    pub fn inputs(&self) -> &[Input] {
        &self.parts.inputs
    }

    /// `outputs_expected`, in the order of the text.
    #[must_use]
    pub fn outputs_expected(&self) -> &[ExpectedOutput] {
        &self.parts.outputs_expected
    }

    /// The output that is a patch of a folder.
    #[must_use]
    pub fn patch(&self) -> Option<PatchOutput<'_>> {
        outputs::patch(&self.parts.outputs_expected)
    }

    /// `constraints`, in the order of the text.
    #[must_use]
    pub fn constraints(&self) -> &[Constraint] {
        &self.parts.constraints
    }

    /// The work to run.
    #[must_use]
    pub fn work(&self) -> &Work {
        &self.parts.work
    }

    /// The words of the command, at least one; empty if the work is code.
    #[must_use]
    pub fn argv(&self) -> &[String] {
        match &self.parts.work {
            Work::Command { argv, .. } => argv,
            Work::Code(_) => &[],
        }
    }

    /// Returns true for a command of `python` or `python3` and the name of an input file.
    #[must_use]
    pub fn is_python_script(&self) -> bool {
        let inputs: Vec<&str> = self.inputs().iter().map(Input::name).collect();
        crate::monty::is_python_script(self.argv(), &inputs)
    }

    /// Returns true if the line of a known program contains program text, which no file shows.
    #[must_use]
    pub fn has_inline_code(&self) -> bool {
        crate::command::has_inline_code(self.argv())
    }

    /// The risk assessment.
    #[must_use]
    pub fn risk(&self) -> &Risk {
        &self.parts.risk
    }

    /// `x-requester`.
    #[must_use]
    pub fn requester(&self) -> Option<&str> {
        self.parts.requester.as_deref()
    }

    /// `x-audience`.
    #[must_use]
    pub fn audience(&self) -> Option<&str> {
        self.parts.audience.as_deref()
    }

    /// `x-agent`.
    #[must_use]
    pub fn agent(&self) -> Option<&RequestAgent> {
        self.parts.agent.as_ref()
    }

    /// `x-standing`: the standing approval that the request uses.
    #[must_use]
    pub fn standing(&self) -> Option<&StandingReference> {
        self.parts.standing.as_ref()
    }

    /// `x-environment`: the environment with the libraries and programs of the run.
    #[must_use]
    pub fn environment(&self) -> Option<&EnvironmentReference> {
        self.parts.environment.as_ref()
    }

    /// The extension keys that this version does not read.
    #[must_use]
    pub fn unknown_extensions(&self) -> &[String] {
        &self.parts.unknown_extensions
    }

    /// The intent of the request, as a digest that filling in the approval does not change.
    #[must_use]
    pub fn intent_sha256(&self) -> Sha256 {
        self.intent_sha256
    }
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Request({})", self.parts.id)
    }
}

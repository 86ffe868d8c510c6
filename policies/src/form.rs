//! The policy file as written: keys, and the spelling of values. It must never supply a missing
//! value. Only `check` may use these types, because nothing here is checked yet.

use std::collections::BTreeMap;

use crate::ais::AisRules;
pub(crate) use crate::number::{ByteCount, Count, MilliCores, MilliPercent};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyForm {
    /// The version of this format: 1.
    pub(crate) policy_version: Count,
    /// The name that every record carries beside the digest of the file.
    pub(crate) name: String,
    /// The lane of requests that name none. `confined` is the only one there is.
    pub(crate) backend: String,
    /// Whose word is an approval.
    pub(crate) approval: ApprovalForm,
    /// The least risk class of a request that has such a thing in it. The text can raise its class and
    /// never lower it.
    pub(crate) risk: RiskForm,
    /// What may be executed, by a name of your own for each. The first word of a command chooses one.
    pub(crate) runtimes: BTreeMap<String, RuntimeForm>,
    /// Ceilings. A request above one is refused, never cut down to it.
    pub(crate) limits: LimitsForm,
    /// What a run may reach.
    pub(crate) network: NetworkForm,
    /// How a run is confined. Where the host cannot give what is asked, the run is refused and the layer
    /// named.
    pub(crate) layers: LayersForm,
    /// How long a sandbox may take until it is ready for its tool, in seconds; 30 if left out. After that
    /// nothing is run, and the record says `setup_error` and which step hung.
    pub(crate) start_sec_max: Option<Count>,
    /// What becomes of a run whose declared outputs are missing, or which leaves others: `lenient` names
    /// them in the record, `strict` rejects the output.
    pub(crate) outputs: OutputsForm,
    /// What becomes of constraints beyond the three of the schema: `stated` copies them to the record, not
    /// enforced; `refuse` refuses the request.
    pub(crate) constraints: ConstraintsForm,
    /// How long a request may wait in `approved/` for what a person can still answer, in seconds since it
    /// was dropped. After that it is refused.
    pub(crate) held_sec_max: Count,
    /// The AANA gate (docs/gate.md).
    pub(crate) aana: AanaForm,
    /// Which agent may call which tool (docs/permissions.md).
    pub(crate) permissions: PermissionsForm,
    /// Whose requests must be bound to a user's intent (docs/ais.md).
    pub(crate) ais: AisForm,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AisForm {
    /// Of whom a bundle is asked: `nobody`, `core_draft` (an agent's drafts) or `everybody`. Anything but
    /// `nobody` needs `ais_trust` in the daemon's configuration.
    pub(crate) covers: CoveredForm,
    /// How a bundle is judged. What is left out is as shipped.
    pub(crate) rules: AisRules,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PermissionsForm {
    /// Whose requests need a permission for their agent: those of `nobody`, `core_draft` (an agent's
    /// drafts) or `everybody`.
    pub(crate) covers: CoveredForm,
    /// Directories below it, by which questions find the people who answer; `null` is none.
    #[serde(deserialize_with = "Option::deserialize")]
    pub(crate) domains: Option<Vec<String>>,
    /// Whether a question shows the command that it is about.
    pub(crate) inputs_shown: bool,
    /// Users of this host, by number, whose unsigned answers count. Signed ones do by a key of
    /// `allowed_signers`.
    pub(crate) answer_uids: Vec<u32>,
    /// After so many seconds without a request, a run or an answer, the workflow of an `x-agent` has ended,
    /// and its permissions with it; never if left out. At least `held_sec_max`.
    pub(crate) workflow_idle_sec: Option<Count>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CoveredForm {
    Nobody,
    CoreDraft,
    Everybody,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AanaForm {
    /// `enforce`: `ask` and `defer` hold the request, `refuse` refuses it. `shadow` records the answer and
    /// lets it decide nothing.
    pub(crate) mode: GateModeForm,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GateModeForm {
    Enforce,
    Shadow,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApprovalForm {
    /// Whether whoever types `toolexec run` has approved by that. A dropped file never counts by it.
    pub(crate) invoker: bool,
    /// Users, by name or number, whose files count as approved by their owner, where `signatures_min` is 0
    /// for the risk.
    pub(crate) owners: Vec<String>,
    /// Different people with a valid signature over the exact bytes of the request, by its risk class.
    pub(crate) signatures_min: SignaturesMinForm,
    /// How old an approval may be when the run begins, in seconds; `null` is no limit.
    // The function makes the key mandatory, so that "no limit" is always written explicitly.
    #[serde(deserialize_with = "Option::deserialize")]
    pub(crate) age_sec_max: Option<Count>,
    /// Whether whoever asks for a run may be one of its approvers.
    pub(crate) self_approval: bool,
    /// Whether it must be known who asks: `x-requester`, or a signature that says so.
    pub(crate) requester_required: bool,
    /// Whether a request must say for which host it is meant (`x-audience`). One that names another host is
    /// always refused.
    pub(crate) audience_required: bool,
    /// Whether a security key must have asked for a PIN or a finger; a touch is always asked for. Keys in
    /// software can say neither.
    pub(crate) user_verification: bool,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignaturesMinForm {
    /// At a low risk.
    pub(crate) low: Count,
    /// At a medium risk.
    pub(crate) medium: Count,
    /// At a high risk.
    pub(crate) high: Count,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RiskForm {
    /// Of a request that names hosts: `low`, `medium` or `high`.
    pub(crate) hosts: RiskLevelForm,
    /// Of one whose text says `Data sensitivity: confidential`.
    pub(crate) confidential: RiskLevelForm,
    /// Of one whose text says `Data sensitivity: internal`.
    pub(crate) internal: RiskLevelForm,
    /// Of one with code among its words (`-c`, `-e`), which lies in no file of its own.
    pub(crate) inline_code: RiskLevelForm,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RiskLevelForm {
    Low,
    Medium,
    High,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuntimeForm {
    /// What requests for it must declare.
    pub(crate) language: String,
    /// The first words of commands that mean this one.
    pub(crate) words: Vec<String>,
    /// The program, by its absolute path; links are followed, `PATH` is never searched. `auto`, where
    /// `approval.invoker` is true: the one that the invoker would get.
    pub(crate) binary: String,
    /// For `binary: auto`: the names of programs to look for; `words` if left out.
    pub(crate) names: Option<Vec<String>>,
    /// A directory that is a root file system of its own, whose `usr`, `bin`, `sbin`, `lib` and `opt` are
    /// shown instead of the host's. `mounts` is empty then, and `binary` is a path inside it.
    pub(crate) root: Option<String>,
    /// Directories of the host that the run sees, read-only.
    pub(crate) mounts: Vec<String>,
    /// Directories with what a language needs once per host.
    pub(crate) caches: Option<Vec<CacheForm>>,
    /// Words between the program and those of the request.
    pub(crate) arguments: Option<Vec<String>>,
    /// What may lie in `/tmp`: `data`, or `programs`, which may be executed.
    pub(crate) tmp: TmpForm,
    /// What of `/proc` is shown: `none`, `pid` (its own processes), or `full` (the machine's processors,
    /// memory and load too).
    pub(crate) proc: ProcForm,
    /// Variables of the run beside `PATH`, `HOME`, `LANG` and `TZ`. Nothing is inherited.
    pub(crate) env: BTreeMap<String, String>,
    /// Processes and threads that it needs. A run that may have fewer is refused.
    pub(crate) pids_min: Count,
    /// A long option by which the program is told three quarters of the memory limit, in MiB. At most one
    /// of the two.
    pub(crate) heap_flag: Option<String>,
    /// A variable by which it is told the same.
    pub(crate) heap_variable: Option<String>,
    /// For the AANA gate: `public_read`, `private_read`, `write` or `unknown`.
    pub(crate) tool_category: String,
    /// For the AANA gate: the domain whose rules apply, as docs/gate.md lists them.
    pub(crate) risk_domain: String,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ProcForm {
    None,
    Pid,
    Full,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TmpForm {
    Data,
    Programs,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CacheForm {
    /// The directory on the host; `toolexec doctor --warm LANGUAGE --to PARENT` makes it.
    pub(crate) from: String,
    /// Where the run sees it, read-only.
    pub(crate) to: String,
    /// A variable that names it.
    pub(crate) variable: Option<String>,
    /// Where it is missing: `run` without it, or `refuse`.
    pub(crate) without: WithoutCacheForm,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WithoutCacheForm {
    Run,
    Refuse,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitsForm {
    /// Cores; at most three decimals.
    pub(crate) cpu_cores_max: MilliCores,
    /// Memory, MiB.
    pub(crate) memory_mb_max: Count,
    /// Wall-clock time, seconds.
    pub(crate) time_sec_max: Count,
    /// CPU time, seconds; `null` is cores asked times seconds asked.
    #[serde(deserialize_with = "Option::deserialize")]
    pub(crate) cpu_seconds_max: Option<Count>,
    /// Processes and threads.
    pub(crate) pids_max: Count,
    /// Open files of one process.
    pub(crate) open_files_max: Count,
    /// Of one file, wherever it is; never more than the memory limit.
    pub(crate) file_bytes_max: ByteCount,
    /// Of stdout, and of stderr.
    pub(crate) stream_bytes_max: ByteCount,
    /// The share of `memory_limit_mb` that `/out` may fill; at most three decimals.
    pub(crate) out_percent: MilliPercent,
    /// The same for `/tmp`.
    pub(crate) tmp_percent: MilliPercent,
    /// The same for `/dev/shm`.
    pub(crate) shm_percent: MilliPercent,
    /// Files and directories in `/out`.
    pub(crate) out_inodes_max: Count,
    /// Files kept as artifacts; at most 1,000.
    pub(crate) artifacts_max: Count,
    /// Directories below each other in `/out`.
    pub(crate) artifact_depth_max: Count,
    /// All inputs of one request together.
    pub(crate) input_bytes_max: ByteCount,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NetworkForm {
    /// Hosts that a request may name.
    pub(crate) hosts: Vec<HostForm>,
    /// Of one run, to and from all its hosts together.
    pub(crate) bytes_max: ByteCount,
    /// Of one run at once.
    pub(crate) connections_max: Count,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostForm {
    /// A name, or an address; never a pattern.
    pub(crate) host: String,
    /// The ports that may be reached there.
    pub(crate) ports: Vec<Count>,
    /// Single addresses that this host, and no other, may lead to although they are not public.
    pub(crate) private: Vec<String>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LayersForm {
    /// The layers, every one of them: `namespaces`, `mounts`, `landlock.fs`, `seccomp`, `capabilities`,
    /// `cgroup`.
    pub(crate) required: Vec<String>,
    /// Those that may be missing: only `cgroup`, behind which there is another mechanism. The record says
    /// so under `degraded`.
    pub(crate) exceptions: Vec<String>,
    /// The least ABI of Landlock that the kernel must have.
    pub(crate) landlock_abi_min: Count,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OutputsForm {
    Lenient,
    Strict,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ConstraintsForm {
    Stated,
    Refuse,
}

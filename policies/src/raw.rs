//! The policy file as written: keys, and the spelling of values. It must never supply a missing
//! value. Only `check` may use these types, because nothing here is checked yet.

use std::collections::BTreeMap;

use crate::ais::AisRules;
use crate::backends::RawBackend;
use crate::covered_requests::CoveredRequests;
pub(crate) use crate::number::{ByteCount, MilliCores, MilliPercent, WholeNumber};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawPolicy {
    /// The version of this format: 1.
    pub(crate) policy_version: WholeNumber,
    /// The name that every record contains, with the digest of the file.
    pub(crate) name: String,
    /// The backend of requests that name none: `confined`, or a name of `backends`.
    pub(crate) backend: String,
    /// The backends that a request may name besides `confined` (docs/backends.md); none if left out.
    pub(crate) backends: Option<BTreeMap<String, RawBackend>>,
    /// The approvals that count.
    pub(crate) approval: RawApproval,
    /// The minimum risk class of a request with such a feature. The text can raise its class and
    /// never lower it.
    pub(crate) risk: RawRiskFloors,
    /// The programs that may be executed, each under a name of your own. The first word of a
    /// command chooses one.
    pub(crate) runtimes: BTreeMap<String, RawRuntime>,
    /// The environments that a request may name (docs/environments.md); none if left out.
    pub(crate) environments: Option<RawEnvironments>,
    /// Ceilings. A request above one is refused and never reduced to it.
    pub(crate) limits: RawCeilings,
    /// The hosts that a run may reach.
    pub(crate) network: RawNetworkRules,
    /// The confinement of a run. If the host lacks a required layer, the run is refused and the
    /// record names the layer.
    pub(crate) layers: RawLayers,
    /// The seconds that a sandbox may take until it is ready for its tool; 30 if left out. After
    /// that nothing is run, and the record has `setup_error` and the step that hung.
    pub(crate) start_sec_max: Option<WholeNumber>,
    /// The treatment of missing and undeclared outputs: `lenient` names them in the record,
    /// `strict` rejects the output.
    pub(crate) outputs: RawOutputs,
    /// The treatment of constraints beyond the three of the schema: `stated` copies them to the
    /// record without enforcing them, `refuse` refuses the request.
    pub(crate) constraints: RawConstraints,
    /// The seconds that a request may wait in `approved/` for a person's answer, counted from its
    /// submission. After that it is refused.
    pub(crate) held_sec_max: WholeNumber,
    /// The AANA gate (docs/gate.md).
    pub(crate) aana: RawAana,
    /// The tools that an agent may call (docs/permissions.md).
    pub(crate) permissions: RawPermissions,
    /// The requests that must be bound to a user's intent (docs/ais.md).
    pub(crate) ais: RawAis,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawAis {
    /// The requests that need a bundle: `none`, `core_draft` (an agent's drafts) or `all`. Any
    /// value but `none` needs `ais_trust` in the daemon's configuration.
    pub(crate) covers: CoveredRequests,
    /// The rules for a bundle. A missing rule has its shipped value.
    pub(crate) rules: AisRules,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawPermissions {
    /// The requests that need a permission for their agent: `none`, `core_draft` (an agent's
    /// drafts) or `all`.
    pub(crate) covers: CoveredRequests,
    /// Directories below it that sort permission requests by the people who answer; `null` means
    /// none.
    #[serde(deserialize_with = "Option::deserialize")]
    pub(crate) domains: Option<Vec<String>>,
    /// If true, a permission request shows the command.
    pub(crate) inputs_shown: bool,
    /// Users of this host, by number, whose unsigned answers count. Signed answers count by a key
    /// of `allowed_signers`.
    pub(crate) answer_uids: Vec<u32>,
    /// After this many seconds without a request, a run or an answer, the workflow of an `x-agent`
    /// ends, and its permissions with it; never if left out. At least `held_sec_max`.
    pub(crate) workflow_idle_sec: Option<WholeNumber>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawAana {
    /// `enforce`: `ask` and `defer` hold the request, `refuse` refuses it. `shadow` records the
    /// answer without effect.
    pub(crate) mode: RawGateMode,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawGateMode {
    Enforce,
    Shadow,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawApproval {
    /// If true, the person who types `toolexec run` approves the request by that. A submitted file
    /// never counts by it.
    pub(crate) invoker: bool,
    /// If true, `toolexec exec --yes` runs a command without asking the person who typed it; false if
    /// left out.
    pub(crate) unasked: Option<bool>,
    /// Users, by name or number, whose files count as approved by their owner if `signatures_min`
    /// is 0 for the risk.
    pub(crate) owners: Vec<String>,
    /// The number of different people with a valid signature over the exact bytes of the request,
    /// by its risk class.
    pub(crate) signatures_min: RawSignaturesMin,
    /// The maximum age of an approval when the run begins, in seconds; `null` means no limit.
    // The function makes the key mandatory, so that "no limit" is always written explicitly.
    #[serde(deserialize_with = "Option::deserialize")]
    pub(crate) age_sec_max: Option<WholeNumber>,
    /// If true, the requester may be one of the approvers.
    pub(crate) self_approval: bool,
    /// If true, the requester must be known, by `x-requester` or a signature for that purpose.
    pub(crate) requester_required: bool,
    /// If true, a request must name its host, or a label of it (`x-audience`). A request that names
    /// another host is always refused.
    pub(crate) audience_required: bool,
    /// If true, a security key must have checked a PIN or a finger; a touch is always required.
    /// Keys in software report neither.
    pub(crate) user_verification: bool,
    /// The most that a standing approval may allow; none is allowed if left out or `null`.
    pub(crate) standing: Option<RawStanding>,
    /// The passkeys whose signatures count, by the domain for which they were made (docs/keys.md);
    /// none if left out or empty.
    pub(crate) webauthn: Option<Vec<RawRelyingParty>>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawRelyingParty {
    /// The domain of the passkeys, as in their keys: `approve.example.org`, or `localhost`.
    pub(crate) rp_id: String,
    /// The origins of the pages that may ask for a signature, `https://host[:port]` as the browser
    /// writes it: the host is the domain or below it. `http` is for `localhost` only.
    pub(crate) origins: Vec<String>,
    /// If true, an approval needs a PIN, a finger or a face, also if `approval.user_verification` is
    /// false.
    pub(crate) user_verification: bool,
    /// If false, a passkey that may be copied to other devices does not count.
    pub(crate) synced: bool,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawStanding {
    /// Days from its first to its last second.
    pub(crate) days_max: WholeNumber,
    /// Uses in all.
    pub(crate) uses_max: WholeNumber,
    /// If true, it may admit programs of any content (`runs_code_of_inputs`).
    pub(crate) any_program: bool,
    /// If true, the daemon takes drafts that use one out of `drafts/` by itself.
    pub(crate) from_drafts: bool,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawSignaturesMin {
    /// At a low risk.
    pub(crate) low: WholeNumber,
    /// At a medium risk.
    pub(crate) medium: WholeNumber,
    /// At a high risk.
    pub(crate) high: WholeNumber,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawRiskFloors {
    /// A request that names hosts: `low`, `medium` or `high`.
    pub(crate) hosts: RawRiskLevel,
    /// A request whose text has `Data sensitivity: confidential`.
    pub(crate) confidential: RawRiskLevel,
    /// A request whose text has `Data sensitivity: internal`.
    pub(crate) internal: RawRiskLevel,
    /// A request with code on its command line (`-c`, `-e`), which is not in a file of its own.
    pub(crate) inline_code: RawRiskLevel,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawRiskLevel {
    Low,
    Medium,
    High,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawRuntime {
    /// The language that requests for it must declare.
    pub(crate) language: String,
    /// The first words of commands that choose it.
    pub(crate) words: Vec<String>,
    /// The program, by its absolute path; links are followed, `PATH` is never searched. `auto`, if
    /// `approval.invoker` is true: the program that the invoker would get.
    pub(crate) binary: String,
    /// For `binary: auto`: the names of programs to look for; `words` if left out.
    pub(crate) names: Option<Vec<String>>,
    /// A directory with a root file system of its own, whose `usr`, `bin`, `sbin`, `lib` and `opt`
    /// replace the host's. Then `mounts` is empty, and `binary` is a path inside it.
    pub(crate) root: Option<String>,
    /// Directories of the host that the run sees, read-only.
    pub(crate) mounts: Vec<String>,
    /// Directories that a language needs, made once per host.
    pub(crate) caches: Option<Vec<RawCacheRule>>,
    /// Arguments between the program and those of the request.
    pub(crate) arguments: Option<Vec<String>>,
    /// The content of `/tmp`: `data`, or `programs`, which may be executed.
    pub(crate) tmp: RawTmpRule,
    /// The visible part of `/proc`: `none`, `pid` (its own processes), or `full` (also the
    /// machine's processors, memory and load, and the kernel's settings).
    pub(crate) proc: RawProcRule,
    /// Variables of the run in addition to `PATH`, `HOME`, `LANG` and `TZ`. Nothing is inherited.
    pub(crate) env: BTreeMap<String, String>,
    /// Processes and threads that it needs. A run that may have fewer is refused.
    pub(crate) pids_min: WholeNumber,
    /// A long option that passes three quarters of the memory limit, in MiB, to the program. At
    /// most one of the two.
    pub(crate) heap_flag: Option<String>,
    /// A variable that passes the same value.
    pub(crate) heap_variable: Option<String>,
    /// For the AANA gate: `public_read`, `private_read`, `write` or `unknown`.
    pub(crate) tool_category: String,
    /// For the AANA gate: the domain whose rules apply, as docs/gate.md lists them.
    pub(crate) risk_domain: String,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawProcRule {
    None,
    Pid,
    Full,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawTmpRule {
    Data,
    Programs,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawCacheRule {
    /// The directory on the host; `toolexec doctor --build-cache LANGUAGE --cache-dir PARENT` makes
    /// it.
    pub(crate) from: String,
    /// Its path in the sandbox, read-only.
    pub(crate) to: String,
    /// A variable that names it.
    pub(crate) variable: Option<String>,
    /// The behaviour without it: `run`, or `refuse`.
    pub(crate) without: RawWithoutCache,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawWithoutCache {
    Run,
    Refuse,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawEnvironments {
    /// `stored`: each environment in the store of this host; `listed`: only those of `digests`;
    /// `none`.
    pub(crate) allowed: RawAllowedEnvironments,
    /// For `listed`: the digests, each `sha256:` and 64 digits, as `toolexec env show` prints them.
    /// Otherwise empty.
    pub(crate) digests: Vec<String>,
    /// OpenSSH public keys, Ed25519 or ECDSA P-256: one of them must have signed the record of the
    /// environment's build. No demand if left out.
    pub(crate) builders: Option<Vec<String>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawAllowedEnvironments {
    Stored,
    Listed,
    None,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawCeilings {
    /// Cores; at most three decimals. The packaged launcher allows 256 (`--cores-max`).
    pub(crate) cpu_cores_max: MilliCores,
    /// Memory, MiB. The packaged launcher allows 65,536 (`--memory-mib-max`).
    pub(crate) memory_mb_max: WholeNumber,
    /// Wall-clock time, seconds. The packaged launcher allows 86,400 (`--wall-sec-max`).
    pub(crate) time_sec_max: WholeNumber,
    /// CPU time, seconds; `null` means the request's cores times its seconds.
    #[serde(deserialize_with = "Option::deserialize")]
    pub(crate) cpu_seconds_max: Option<WholeNumber>,
    /// Processes and threads. The packaged launcher allows 1,024 (`--pids-max`).
    pub(crate) pids_max: WholeNumber,
    /// Open files of one process.
    pub(crate) open_files_max: WholeNumber,
    /// Bytes of one file in any directory; never more than the memory limit.
    pub(crate) file_bytes_max: ByteCount,
    /// Bytes of stdout, and of stderr.
    pub(crate) stream_bytes_max: ByteCount,
    /// The share of `memory_limit_mb` that `/out` may fill; at most three decimals.
    pub(crate) out_percent: MilliPercent,
    /// The same for `/tmp`.
    pub(crate) tmp_percent: MilliPercent,
    /// The same for `/dev/shm`.
    pub(crate) shm_percent: MilliPercent,
    /// Files and directories in `/out`.
    pub(crate) out_inodes_max: WholeNumber,
    /// Files kept as artifacts; at most 1,000.
    pub(crate) artifacts_max: WholeNumber,
    /// The depth of directories in `/out`.
    pub(crate) artifact_depth_max: WholeNumber,
    /// All inputs of one request together. `toolexec draft` copies at most 1 GiB.
    pub(crate) input_bytes_max: ByteCount,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawNetworkRules {
    /// Hosts that a request may name.
    pub(crate) hosts: Vec<RawOfferedHost>,
    /// Bytes of one run, to and from all its hosts together.
    pub(crate) bytes_max: ByteCount,
    /// Connections of one run at the same time.
    pub(crate) connections_max: WholeNumber,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawOfferedHost {
    /// A name, or an address; never a pattern.
    pub(crate) host: String,
    /// The TCP ports that may be reached there.
    pub(crate) ports: Vec<WholeNumber>,
    /// Single addresses that only this host may resolve to although they are not public. The unit of
    /// the packaged proxy must allow each too (docs/deployment.md).
    pub(crate) private: Vec<String>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawLayers {
    /// The layers, all of them: `namespaces`, `mounts`, `landlock.fs`, `seccomp`, `capabilities`,
    /// `cgroup`.
    pub(crate) required: Vec<String>,
    /// Layers that may be missing: only `cgroup`, which has a second mechanism behind it. The
    /// record lists it under `degraded`.
    pub(crate) exceptions: Vec<String>,
    /// The minimum Landlock ABI of the kernel.
    pub(crate) landlock_abi_min: WholeNumber,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawOutputs {
    Lenient,
    Strict,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawConstraints {
    Stated,
    Refuse,
}

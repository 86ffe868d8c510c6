//! The policy file as it is written: keys, and the spelling of values. It must never fill in what
//! the file leaves out, and nothing but `check` may look at it, for nothing here is checked yet.

use std::collections::BTreeMap;

use crate::ais::AisRules;
pub(crate) use crate::number::{ByteCount, Count, MilliCores, MilliPercent};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyForm {
    pub(crate) policy_version: Count,
    pub(crate) name: String,
    pub(crate) backend: String,
    pub(crate) approval: ApprovalForm,
    pub(crate) risk: RiskForm,
    pub(crate) runtimes: BTreeMap<String, RuntimeForm>,
    pub(crate) limits: LimitsForm,
    pub(crate) network: NetworkForm,
    pub(crate) layers: LayersForm,
    pub(crate) outputs: OutputsForm,
    pub(crate) constraints: ConstraintsForm,
    pub(crate) held_sec_max: Count,
    pub(crate) aana: AanaForm,
    pub(crate) permissions: PermissionsForm,
    pub(crate) ais: AisForm,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AisForm {
    pub(crate) covers: CoveredForm,
    pub(crate) rules: AisRules,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PermissionsForm {
    pub(crate) covers: CoveredForm,
    #[serde(deserialize_with = "Option::deserialize")]
    pub(crate) domains: Option<Vec<String>>,
    pub(crate) inputs_shown: bool,
    pub(crate) answer_uids: Vec<u32>,
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
    pub(crate) invoker: bool,
    pub(crate) owners: Vec<String>,
    pub(crate) signatures_min: SignaturesMinForm,
    // Through a function the key must be there, so that "no limit" is always written out.
    #[serde(deserialize_with = "Option::deserialize")]
    pub(crate) age_sec_max: Option<Count>,
    pub(crate) self_approval: bool,
    pub(crate) requester_required: bool,
    pub(crate) audience_required: bool,
    pub(crate) user_verification: bool,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignaturesMinForm {
    pub(crate) low: Count,
    pub(crate) medium: Count,
    pub(crate) high: Count,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RiskForm {
    pub(crate) hosts: RiskLevelForm,
    pub(crate) confidential: RiskLevelForm,
    pub(crate) internal: RiskLevelForm,
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
    pub(crate) language: String,
    pub(crate) words: Vec<String>,
    pub(crate) binary: String,
    pub(crate) names: Option<Vec<String>>,
    pub(crate) root: Option<String>,
    pub(crate) mounts: Vec<String>,
    pub(crate) caches: Option<Vec<CacheForm>>,
    pub(crate) arguments: Option<Vec<String>>,
    pub(crate) tmp: TmpForm,
    pub(crate) proc: ProcForm,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) pids_min: Count,
    pub(crate) heap_flag: Option<String>,
    pub(crate) heap_variable: Option<String>,
    pub(crate) tool_category: String,
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
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) variable: Option<String>,
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
    pub(crate) cpu_cores_max: MilliCores,
    pub(crate) memory_mb_max: Count,
    pub(crate) time_sec_max: Count,
    #[serde(deserialize_with = "Option::deserialize")]
    pub(crate) cpu_seconds_max: Option<Count>,
    pub(crate) pids_max: Count,
    pub(crate) open_files_max: Count,
    pub(crate) file_bytes_max: ByteCount,
    pub(crate) stream_bytes_max: ByteCount,
    pub(crate) out_percent: MilliPercent,
    pub(crate) tmp_percent: MilliPercent,
    pub(crate) shm_percent: MilliPercent,
    pub(crate) out_inodes_max: Count,
    pub(crate) artifacts_max: Count,
    pub(crate) artifact_depth_max: Count,
    pub(crate) input_bytes_max: ByteCount,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NetworkForm {
    pub(crate) hosts: Vec<HostForm>,
    pub(crate) bytes_max: ByteCount,
    pub(crate) connections_max: Count,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostForm {
    pub(crate) host: String,
    pub(crate) ports: Vec<Count>,
    pub(crate) private: Vec<String>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LayersForm {
    pub(crate) required: Vec<String>,
    pub(crate) exceptions: Vec<String>,
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

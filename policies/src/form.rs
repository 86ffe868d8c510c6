//! The policy file as it is written: keys, and the spelling of values. It must never fill in what
//! the file leaves out, and nothing but `check` may look at it, for nothing here is checked yet.

use std::collections::BTreeMap;

use serde::de::{Deserialize, Deserializer, Error as _};

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

/// A whole number in plain decimal digits; `0x10`, `1_000` and `010` are left to other readers.
pub(crate) struct Count(pub(crate) u64);

/// A size in bytes: a whole number, or one with ` KiB`, ` MiB` or ` GiB` behind it.
pub(crate) struct ByteCount(pub(crate) u64);

/// A number of cores in thousandths, written with at most three decimals.
pub(crate) struct MilliCores(pub(crate) u64);

/// A share in thousandths of a percent, written in percent with at most three decimals.
pub(crate) struct MilliPercent(pub(crate) u64);

fn digits(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| plain)
}

fn byte_count(text: &str) -> Option<u64> {
    let Some((number, unit)) = text.split_once(' ') else { return digits(text) };
    let factor: u64 = match unit {
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    digits(number)?.checked_mul(factor)
}

fn thousandths(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let decimal = !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit());
    if !decimal || fraction.len() > 3 {
        return None;
    }
    let fraction: u64 = format!("{fraction:0<3}").parse().ok()?;
    digits(whole)?.checked_mul(1000)?.checked_add(fraction)
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = digits(&text).map(Self);
        number.ok_or_else(|| D::Error::custom(format!("`{text}` is not a whole number")))
    }
}

impl<'de> Deserialize<'de> for ByteCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let size = byte_count(&text).map(Self);
        size.ok_or_else(|| D::Error::custom(format!("`{text}` is not a size such as 16 MiB")))
    }
}

impl<'de> Deserialize<'de> for MilliCores {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let cores = thousandths(&text).map(Self);
        cores.ok_or_else(|| D::Error::custom(format!("`{text}` is not a number of cores")))
    }
}

impl<'de> Deserialize<'de> for MilliPercent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let share = thousandths(&text).map(Self);
        share.ok_or_else(|| D::Error::custom(format!("`{text}` is not a percentage")))
    }
}

#[cfg(test)]
mod tests {
    use super::{byte_count, digits, thousandths};

    #[test]
    fn numbers_are_plain_decimals() {
        assert_eq!(digits("0"), Some(0));
        assert_eq!(digits("64"), Some(64));
        for odd in ["", "-1", "+1", "010", "0x10", "1_000", "1.0", "18446744073709551616"] {
            assert_eq!(digits(odd), None, "{odd}");
        }
    }

    #[test]
    fn sizes_cores_and_shares_have_one_spelling() {
        assert_eq!(byte_count("16 MiB"), Some(16 << 20));
        assert_eq!(byte_count("4096"), Some(4096));
        for odd in ["16MiB", "16 MB", "1.5 GiB", "16  MiB", "99999999999999999999 KiB"] {
            assert_eq!(byte_count(odd), None, "{odd}");
        }
        assert_eq!(thousandths("8"), Some(8000));
        assert_eq!(thousandths("0.5"), Some(500));
        assert_eq!(thousandths("12.5"), Some(12_500));
        for odd in ["", ".5", "1.", "1.2345", "1e3", "-1", "inf"] {
            assert_eq!(thousandths(odd), None, "{odd}");
        }
    }
}

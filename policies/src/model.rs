//! The rules of a policy file after its check. Only `check` may make them.

use std::collections::BTreeSet;

use validator::RiskLevel;

use crate::ais::AisRules;
use crate::backends::BackendRules;
use crate::covered_requests::CoveredRequests;
use crate::environments::EnvironmentRules;
use crate::evidence::SubmissionOrigin;
use crate::hosts::NetworkRules;
use crate::limits::Ceilings;
use crate::permissions::PermissionTerms;
use crate::reasons::GateMode;
use crate::relying_parties::RelyingParties;
use crate::runtime::RuntimeRule;

#[derive(Clone, Debug)]
pub(crate) struct PolicyRules {
    pub(crate) name: String,
    pub(crate) approval: ApprovalRules,
    pub(crate) risk: RiskFloors,
    pub(crate) runtimes: Vec<RuntimeRule>,
    pub(crate) backends: BackendRules,
    pub(crate) environments: EnvironmentRules,
    pub(crate) ceilings: Ceilings,
    pub(crate) network: NetworkRules,
    pub(crate) layers: LayerRules,
    pub(crate) start_sec_max: u64,
    pub(crate) outputs_strict: bool,
    pub(crate) constraints_refused: bool,
    pub(crate) held_sec_max: u64,
    pub(crate) gate: GateMode,
    pub(crate) permissions: PermissionRules,
    pub(crate) ais: AisPolicyRules,
}

/// The requests that must be bound to an intent, and the strictness of the check.
#[derive(Clone, Debug)]
pub(crate) struct AisPolicyRules {
    pub(crate) covered: CoveredRequests,
    pub(crate) rules: AisRules,
}

/// The requests that need a permission, and the users whose unsigned answers can give one.
#[derive(Clone, Debug)]
pub(crate) struct PermissionRules {
    pub(crate) covered: CoveredRequests,
    pub(crate) terms: PermissionTerms,
    pub(crate) answer_uids: BTreeSet<u32>,
    pub(crate) workflow_idle_sec: Option<u64>,
}

/// The people who may approve, and the form of an approval.
#[derive(Clone, Debug)]
pub(crate) struct ApprovalRules {
    pub(crate) invoker: bool,
    pub(crate) unasked: bool,
    pub(crate) owners: Vec<ApprovalOwner>,
    pub(crate) signatures_min: SignaturesMin,
    pub(crate) age_sec_max: Option<u64>,
    pub(crate) self_approval: bool,
    pub(crate) requester_required: bool,
    pub(crate) audience_required: bool,
    pub(crate) user_verification: bool,
    /// None if the policy allows no standing approval.
    pub(crate) standing: Option<StandingRules>,
    /// The passkeys whose signatures count.
    pub(crate) passkeys: RelyingParties,
}

/// The most that a standing approval may allow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StandingRules {
    pub(crate) days_max: u64,
    pub(crate) uses_max: u64,
    pub(crate) any_program: bool,
    pub(crate) from_drafts: bool,
}

impl ApprovalRules {
    /// Returns whether the submission comes from an approver: the owner of the file, or the user
    /// who typed the command.
    pub(crate) fn is_approver(&self, submission: &SubmissionOrigin) -> bool {
        let (uid, name) = match submission {
            SubmissionOrigin::Invoked { uid, name } => (*uid, name.as_deref()),
            SubmissionOrigin::Submitted { owner, owner_name } => {
                (owner.get(), owner_name.as_deref())
            }
        };
        self.owners.iter().any(|owner| match owner {
            ApprovalOwner::Uid(known) => *known == uid,
            ApprovalOwner::Name(known) => Some(known.as_str()) == name,
        })
    }
}

/// The required number of signing approvers, by risk class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignaturesMin {
    pub(crate) low: usize,
    pub(crate) medium: usize,
    pub(crate) high: usize,
}

impl SignaturesMin {
    pub(crate) fn of(self, class: RiskLevel) -> usize {
        match class {
            RiskLevel::Low => self.low,
            RiskLevel::Medium => self.medium,
            RiskLevel::High => self.high,
        }
    }
}

/// The minimum risk class by feature, even if the request names a lower class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RiskFloors {
    pub(crate) hosts: RiskLevel,
    pub(crate) confidential: RiskLevel,
    pub(crate) internal: RiskLevel,
    pub(crate) inline_code: RiskLevel,
}

/// A user of the host, by name or by number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ApprovalOwner {
    Name(String),
    Uid(u32),
}

#[derive(Clone, Debug)]
pub(crate) struct LayerRules {
    pub(crate) required: Vec<String>,
    pub(crate) cgroup_exception: bool,
    pub(crate) landlock_abi_min: u32,
}

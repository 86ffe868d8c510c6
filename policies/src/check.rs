//! Converts the form of a policy file into its rules, with every check that the YAML reader cannot
//! make. It must report all problems. It must never accept a policy that could approve nothing, or
//! that requires a check which this version does not make.

use std::collections::BTreeMap;

use validator::RiskLevel;

use crate::approval::SIGNATURE_FILES_MAX;
use crate::backends::BackendRules;
use crate::environments::EnvironmentRules;
use crate::hosts::NetworkRules;
use crate::limits::Ceilings;
use crate::model::{
    AisPolicyRules, ApprovalOwner, ApprovalRules, LayerRules, PermissionRules, PolicyRules,
    RiskFloors, SignaturesMin, StandingRules,
};
use crate::permissions::{Domains, PermissionTerms, ShownInputs};
use crate::problem::{PolicyError, Problems};
use crate::raw::{
    RawApproval, RawConstraints, RawGateMode, RawLayers, RawOutputs, RawPermissions, RawPolicy,
    RawRiskFloors, RawRiskLevel, RawRuntime, RawSignaturesMin, RawStanding, WholeNumber,
};
use crate::reasons::GateMode;
use crate::relying_parties::RelyingParties;
use crate::runtime::{RuntimeRule, is_slug};

/// Every confinement layer. Only `cgroup` has a second mechanism behind it.
const LAYERS: [&str; 6] =
    ["namespaces", "mounts", "landlock.fs", "seccomp", "capabilities", "cgroup"];
const OPTIONAL_LAYER: &str = "cgroup";

const START_SEC_MAX_DEFAULT: u64 = 30;
/// The highest `start_sec_max`. A sandbox that takes longer is stuck on any host.
const START_SEC_MAX_LIMIT: u64 = 3600;

/// Above any kernel's ABI number for years to come; a larger value is a typing error.
const LANDLOCK_ABI_MAX: u32 = 32;

pub(crate) fn check(form: RawPolicy, text: &str, origin: &str) -> Result<PolicyRules, PolicyError> {
    let mut problems = Problems::new(text, origin);
    if form.policy_version.0 != 1 {
        let what = format!("version {} is not supported", form.policy_version.0);
        problems.add("policy_version", what, "write 1");
    }
    if !is_slug(&form.name) {
        let advice = "use 1 to 32 of a-z, 0-9, `-` and `_`";
        problems.add("name", format!("`{}` is not a valid name", form.name), advice);
    }
    let approval = approval(&form.approval, &mut problems);
    let ceilings = Ceilings::check(&form.limits, &mut problems);
    let runtimes = runtimes(form.runtimes, approval.invoker, &ceilings, &mut problems);
    let backends = BackendRules::check(form.backend, form.backends, &runtimes, &mut problems);
    let environments = EnvironmentRules::check(form.environments, &mut problems);
    let network = NetworkRules::check(&form.network, &mut problems);
    let layers = layers(form.layers, &mut problems);
    let start_sec_max = start_sec_max(form.start_sec_max.as_ref(), &mut problems);
    let permissions = permissions(form.permissions, form.held_sec_max.0, &mut problems);
    let ais = AisPolicyRules { covered: form.ais.covers, rules: form.ais.rules };
    if let Err(error) = ais.rules.check() {
        problems.add("ais.rules", error.to_string(), "see the table `ais.rules` in docs/policy.md");
    }
    problems.verdict(PolicyRules {
        name: form.name,
        approval,
        risk: risk(&form.risk),
        runtimes,
        backends,
        environments,
        ceilings,
        network,
        layers,
        start_sec_max,
        outputs_strict: matches!(form.outputs, RawOutputs::Strict),
        constraints_refused: matches!(form.constraints, RawConstraints::Refuse),
        held_sec_max: form.held_sec_max.0,
        gate: match form.aana.mode {
            RawGateMode::Enforce => GateMode::Enforce,
            RawGateMode::Shadow => GateMode::Shadow,
        },
        permissions,
        ais,
    })
}

fn start_sec_max(form: Option<&WholeNumber>, problems: &mut Problems<'_>) -> u64 {
    let seconds = form.map_or(START_SEC_MAX_DEFAULT, |count| count.0);
    if !(1..=START_SEC_MAX_LIMIT).contains(&seconds) {
        let advice = format!("write 1 to {START_SEC_MAX_LIMIT} seconds");
        problems.add("start_sec_max", format!("{seconds} is out of range"), &advice);
    }
    seconds
}

fn approval(form: &RawApproval, problems: &mut Problems<'_>) -> ApprovalRules {
    let mut owners: Vec<ApprovalOwner> = Vec::new();
    for written in &form.owners {
        match owner(written) {
            Some(owner) if owners.contains(&owner) => {
                let what = format!("`{written}` appears twice");
                problems.add("approval.owners", what, "keep one of them");
            }
            Some(owner) => owners.push(owner),
            None => {
                let what = format!("`{written}` is neither a user name nor a uid");
                problems.add("approval.owners", what, "write the output of `id -un` or `id -u`");
            }
        }
    }
    let signatures_min = signatures_min(&form.signatures_min, problems);
    if signatures_min.low == 0 && !form.invoker && form.owners.is_empty() {
        let advice = "set signatures_min.low to 1 or more, name owners, or set invoker: true";
        problems.add("approval", "no user could approve a request of low risk", advice);
    }
    let takes_drafts = form.standing.as_ref().is_some_and(|form| form.from_drafts);
    if takes_drafts && signatures_min.low == 0 && !form.owners.is_empty() {
        let advice = "set signatures_min.low to 1 or more, or from_drafts to false";
        let what = "is true, and the owner of a draft could approve it by its submission";
        problems.add("approval.standing.from_drafts", what, advice);
    }
    let age_sec_max = form.age_sec_max.as_ref().map(|count| count.0);
    if age_sec_max == Some(0) {
        problems.add("approval.age_sec_max", "is 0", "write null for no maximum");
    }
    ApprovalRules {
        invoker: form.invoker,
        unasked: form.unasked.unwrap_or(false),
        owners,
        signatures_min,
        age_sec_max,
        self_approval: form.self_approval,
        requester_required: form.requester_required,
        audience_required: form.audience_required,
        user_verification: form.user_verification,
        standing: form.standing.as_ref().map(|form| standing(form, problems)),
        passkeys: RelyingParties::check(form.webauthn.as_deref().unwrap_or_default(), problems),
    }
}

fn standing(form: &RawStanding, problems: &mut Problems<'_>) -> StandingRules {
    for (key, count) in [("days_max", &form.days_max), ("uses_max", &form.uses_max)] {
        if count.0 == 0 {
            let at = format!("approval.standing.{key}");
            problems.add(&at, "is 0", "write standing: null to allow no standing approval");
        }
    }
    StandingRules {
        days_max: form.days_max.0,
        uses_max: form.uses_max.0,
        any_program: form.any_program,
        from_drafts: form.from_drafts,
    }
}

fn signatures_min(form: &RawSignaturesMin, problems: &mut Problems<'_>) -> SignaturesMin {
    let [low, medium, high] = [("low", &form.low), ("medium", &form.medium), ("high", &form.high)]
        .map(|(class, count)| {
            let min = usize::try_from(count.0).unwrap_or(usize::MAX);
            if min > SIGNATURE_FILES_MAX {
                let what = format!("{min} is more than {SIGNATURE_FILES_MAX} signature files");
                let advice = format!("write {SIGNATURE_FILES_MAX} or less");
                problems.add(&format!("approval.signatures_min.{class}"), what, &advice);
            }
            min
        });
    if low > medium || medium > high {
        let advice = "require at least as many signatures at a higher risk";
        problems.add("approval.signatures_min", "decreases as the risk rises", advice);
    }
    SignaturesMin { low, medium, high }
}

fn permissions(
    form: RawPermissions,
    held_sec_max: u64,
    problems: &mut Problems<'_>,
) -> PermissionRules {
    let domains = form.domains.map(Domains::try_from).transpose().unwrap_or_else(|error| {
        problems.add("permissions.domains", error.to_string(), "write null for no domain");
        None
    });
    let idle_sec = form.workflow_idle_sec.map(|count| count.0);
    let shortest = held_sec_max.max(1);
    if let Some(idle_sec) = idle_sec.filter(|it| *it < shortest) {
        // Otherwise a permission request would be withdrawn while its run waits for the answer.
        let advice = format!("write {shortest} or more (held_sec_max is {held_sec_max})");
        problems.add("permissions.workflow_idle_sec", format!("{idle_sec} is too low"), &advice);
    }
    let shown = if form.inputs_shown { ShownInputs::Whole } else { ShownInputs::Withheld };
    PermissionRules {
        covered: form.covers,
        terms: PermissionTerms {
            domains,
            shown,
            open_sec: PermissionTerms::open_sec_for(held_sec_max),
        },
        answer_uids: form.answer_uids.into_iter().collect(),
        workflow_idle_sec: idle_sec,
    }
}

fn risk(form: &RawRiskFloors) -> RiskFloors {
    let level = |form: &RawRiskLevel| match form {
        RawRiskLevel::Low => RiskLevel::Low,
        RawRiskLevel::Medium => RiskLevel::Medium,
        RawRiskLevel::High => RiskLevel::High,
    };
    RiskFloors {
        hosts: level(&form.hosts),
        confidential: level(&form.confidential),
        internal: level(&form.internal),
        inline_code: level(&form.inline_code),
    }
}

fn owner(written: &str) -> Option<ApprovalOwner> {
    if written.bytes().all(|b| b.is_ascii_digit()) {
        let uid: u32 = written.parse().ok()?;
        // A second spelling of a uid would pass the check for duplicates.
        return (uid.to_string() == written).then_some(ApprovalOwner::Uid(uid));
    }
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"._-@$".contains(&b);
    let begins = written.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (begins && written.len() <= 256 && written.bytes().all(allowed))
        .then(|| ApprovalOwner::Name(written.to_owned()))
}

fn runtimes(
    forms: BTreeMap<String, RawRuntime>,
    auto_allowed: bool,
    ceilings: &Ceilings,
    problems: &mut Problems<'_>,
) -> Vec<RuntimeRule> {
    if forms.is_empty() {
        problems.add("runtimes", "is empty", "name at least one runtime");
    }
    let mut runtimes: Vec<RuntimeRule> = Vec::new();
    for (name, form) in forms {
        let runtime = RuntimeRule::check(name, form, auto_allowed, problems);
        let at = format!("runtimes.{}", runtime.name());
        for (index, word) in runtime.words().iter().enumerate() {
            let again = runtime.words()[..index].contains(word);
            // A request names its language, so `node` may run both node and ts.
            let elsewhere = runtimes.iter().any(|other| {
                other.language() == runtime.language() && other.words().contains(word)
            });
            if again || elsewhere {
                let what = format!("`{word}` appears twice");
                let advice = "use each word for one runtime of its language";
                problems.add(&format!("{at}.words"), what, advice);
            }
        }
        if runtime.pids_min() > ceilings.pids {
            // Below its minimum Node hangs until the time limit, which looks like a slow tool.
            let what = format!("{} is below pids_min of {at}", ceilings.pids);
            let advice = format!("write at least {}", runtime.pids_min());
            problems.add("limits.pids_max", what, &advice);
        }
        runtimes.push(runtime);
    }
    runtimes
}

fn layers(form: RawLayers, problems: &mut Problems<'_>) -> LayerRules {
    let mut seen: Vec<&str> = Vec::new();
    for layer in &form.required {
        if !LAYERS.contains(&layer.as_str()) {
            let advice = format!("use {}", LAYERS.join(", "));
            problems.add("layers.required", format!("`{layer}` is not a layer"), &advice);
        }
        if seen.contains(&layer.as_str()) {
            let what = format!("`{layer}` appears twice");
            problems.add("layers.required", what, "keep one of them");
        }
        seen.push(layer);
    }
    // A missing layer would be an exception that the record does not name.
    for layer in LAYERS.iter().filter(|layer| !seen.contains(layer)) {
        let advice = "list every layer; to make cgroup optional, add it to layers.exceptions";
        problems.add("layers.required", format!("`{layer}` is missing"), advice);
    }
    for layer in form.exceptions.iter().filter(|layer| *layer != OPTIONAL_LAYER) {
        let what = format!("`{layer}` cannot be an exception");
        problems.add("layers.exceptions", what, "write only cgroup, which has a second mechanism");
    }
    if form.exceptions.iter().filter(|layer| *layer == OPTIONAL_LAYER).count() > 1 {
        problems.add("layers.exceptions", "`cgroup` appears twice", "keep one of them");
    }
    let abi = u32::try_from(form.landlock_abi_min.0).unwrap_or(u32::MAX);
    if abi == 0 || abi > LANDLOCK_ABI_MAX {
        let what = format!("{} is not a Landlock ABI", form.landlock_abi_min.0);
        let advice = format!("write 1 to {LANDLOCK_ABI_MAX}");
        problems.add("layers.landlock_abi_min", what, &advice);
    }
    LayerRules {
        cgroup_exception: form.exceptions.iter().any(|layer| layer == OPTIONAL_LAYER),
        required: form.required,
        landlock_abi_min: abi,
    }
}

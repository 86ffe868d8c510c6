//! The rule files, as read by the daemon's own readers. Their errors are the findings.

use std::io::ErrorKind;
use std::path::Path;

use daemon::config::{self, Config, ConfigError};
use daemon::lenient_config::LenientConfig;
use policies::Policy;

use crate::commands::host::doctor::host::model::{
    DoctorSubject, PolicyRequirements, RuleFileReading, RuleFileState, RuleFiles,
};

pub(super) fn probe(
    subject: &DoctorSubject,
    outline: Option<&LenientConfig>,
) -> (RuleFiles, Option<Policy>) {
    let DoctorSubject::Service { config, .. } = subject else {
        let policy = Policy::shipped("embedded");
        let state = match &policy {
            Some(policy) => good("built in", policy),
            None => RuleFileState::Bad("policy `embedded`: missing in this build".to_owned()),
        };
        return (rules(None, state, policy.as_ref(), Vec::new()), policy);
    };
    let read = read(Config::read(config), |_| format!("{}: good", config.display()));
    let reading = RuleFileReading { name: "configuration", state: read };
    let Some(outline) = outline else {
        let unknown = RuleFileState::Unreadable("the configuration cannot be read".to_owned());
        return (rules(Some(reading), unknown, None, Vec::new()), None);
    };
    let policy = outline.policy.as_deref().map(|path| (path, config::read_policy(path)));
    let (of_policy, policy) = match policy {
        None => (RuleFileState::Bad("the configuration names no policy".to_owned()), None),
        Some((path, Ok(policy))) => (good(&path.display().to_string(), &policy), Some(policy)),
        Some((_, Err(error))) => (error_state(&error), None),
    };
    (rules(Some(reading), of_policy, policy.as_ref(), trust(outline)), policy)
}

fn rules(
    config: Option<RuleFileReading>,
    policy: RuleFileState,
    read: Option<&Policy>,
    trust: Vec<RuleFileReading>,
) -> RuleFiles {
    let demands = read.map(|policy| PolicyRequirements {
        cgroup_exception: policy.cgroup_exception(),
        landlock_abi_min: policy.landlock_abi_min(),
    });
    RuleFiles { config, policy: RuleFileReading { name: "policy", state: policy }, demands, trust }
}

fn good(of: &str, policy: &Policy) -> RuleFileState {
    let (name, sha256) = (policy.name(), policy.sha256().to_string());
    RuleFileState::Good(format!("{name}, {of}, sha256 {}…", sha256.get(..12).unwrap_or_default()))
}

fn trust(outline: &LenientConfig) -> Vec<RuleFileReading> {
    type TrustCheck = fn(&Path) -> Result<(), ConfigError>;
    let checks: [(&str, &Option<_>, TrustCheck); 3] = [
        ("allowed_signers", &outline.allowed_signers, |it| config::read_signers(it).map(drop)),
        ("revoked", &outline.revoked, |it| config::read_revoked(it).map(drop)),
        ("ais_trust", &outline.ais_trust, |it| config::read_ais_trust(it).map(drop)),
    ];
    let named = checks.into_iter().filter_map(|(name, path, check)| {
        let path: &Path = path.as_deref()?;
        Some(RuleFileReading {
            name,
            state: read(check(path), |()| format!("{}: good", path.display())),
        })
    });
    named.collect()
}

fn read<T>(read: Result<T, ConfigError>, good: impl FnOnce(T) -> String) -> RuleFileState {
    match read {
        Ok(value) => RuleFileState::Good(good(value)),
        Err(error) => error_state(&error),
    }
}

fn error_state(error: &ConfigError) -> RuleFileState {
    match error {
        ConfigError::Read(_, cause) if cause.kind() == ErrorKind::PermissionDenied => {
            RuleFileState::Unreadable(error.to_string())
        }
        _ => RuleFileState::Bad(error.to_string()),
    }
}

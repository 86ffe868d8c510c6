//! The rule files, as read by the daemon's own readers. Their errors are the findings.

use std::io::ErrorKind;
use std::path::Path;

use daemon::config::{self, Config, ConfigError};
use daemon::outline::Outline;
use policies::Policy;

use crate::commands::host::doctor::host::model::{Demands, Judged, Reader, RuleFiles, Subject};

pub(super) fn look(subject: &Subject, outline: Option<&Outline>) -> (RuleFiles, Option<Policy>) {
    let Subject::Service { config, .. } = subject else {
        let policy = Policy::shipped("embedded");
        let said = match &policy {
            Some(policy) => good("built in", policy),
            None => Reader::Bad("policy `embedded`: missing in this build".to_owned()),
        };
        return (rules(None, said, policy.as_ref(), Vec::new()), policy);
    };
    let read = read(Config::read(config), |_| format!("{}: good", config.display()));
    let said = Judged { name: "configuration", said: read };
    let Some(outline) = outline else {
        let unknown = Reader::Unseen("the configuration cannot be read".to_owned());
        return (rules(Some(said), unknown, None, Vec::new()), None);
    };
    let policy = outline.policy.as_deref().map(|path| (path, config::read_policy(path)));
    let (of_policy, policy) = match policy {
        None => (Reader::Bad("the configuration names no policy".to_owned()), None),
        Some((path, Ok(policy))) => (good(&path.display().to_string(), &policy), Some(policy)),
        Some((_, Err(error))) => (trouble(&error), None),
    };
    (rules(Some(said), of_policy, policy.as_ref(), trust(outline)), policy)
}

fn rules(
    config: Option<Judged>,
    policy: Reader,
    read: Option<&Policy>,
    trust: Vec<Judged>,
) -> RuleFiles {
    let demands = read.map(|policy| Demands {
        cgroup_exception: policy.cgroup_exception(),
        landlock_abi_min: policy.landlock_abi_min(),
    });
    RuleFiles { config, policy: Judged { name: "policy", said: policy }, demands, trust }
}

fn good(of: &str, policy: &Policy) -> Reader {
    let (name, sha256) = (policy.name(), policy.sha256().to_string());
    Reader::Good(format!("{name}, {of}, sha256 {}…", sha256.get(..12).unwrap_or_default()))
}

fn trust(outline: &Outline) -> Vec<Judged> {
    type Check = fn(&Path) -> Result<(), ConfigError>;
    let checks: [(&str, &Option<_>, Check); 3] = [
        ("allowed_signers", &outline.allowed_signers, |it| config::read_signers(it).map(drop)),
        ("revoked", &outline.revoked, |it| config::read_revoked(it).map(drop)),
        ("ais_trust", &outline.ais_trust, |it| config::read_ais_trust(it).map(drop)),
    ];
    let named = checks.into_iter().filter_map(|(name, path, check)| {
        let path: &Path = path.as_deref()?;
        Some(Judged { name, said: read(check(path), |()| format!("{}: good", path.display())) })
    });
    named.collect()
}

fn read<T>(read: Result<T, ConfigError>, good: impl FnOnce(T) -> String) -> Reader {
    match read {
        Ok(value) => Reader::Good(good(value)),
        Err(error) => trouble(&error),
    }
}

fn trouble(error: &ConfigError) -> Reader {
    match error {
        ConfigError::Read(_, cause) if cause.kind() == ErrorKind::PermissionDenied => {
            Reader::Unseen(error.to_string())
        }
        _ => Reader::Bad(error.to_string()),
    }
}

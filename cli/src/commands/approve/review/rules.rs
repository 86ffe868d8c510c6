//! The rules for a review: those of the host, or files named by options. A missing rule file is
//! reported as missing and must never count as a rule that passes.

use std::path::{Path, PathBuf};

use daemon::config::{read_ais_trust, read_policy, read_signers};
use policies::ais::AisTrustStore;
use policies::{AllowedSigners, Policy, REVOKED_BYTES_MAX, RevokedKeys};

use crate::args::environment::{host_stores, store_of};
use crate::args::files::read_file;
use crate::args::policy::named_or_embedded;
use crate::args::{HostOptions, RulesOptions};
use crate::failure::Failure;

const POLICY: &str = "/etc/toolexec/policy.yaml";
const SIGNERS: &str = "/etc/toolexec/allowed_signers";
const REVOKED: &str = "/etc/toolexec/revoked";
const AIS_TRUST: &str = "/etc/toolexec/ais_trust.yaml";
const SHIPPED: &str = "standard";

pub(crate) struct HostRules {
    pub(crate) policy: Policy,
    /// The policy file; `None` for the built-in policy.
    pub(crate) policy_file: Option<PathBuf>,
    pub(crate) signers: Option<AllowedSigners>,
    pub(crate) signers_file: Option<PathBuf>,
    pub(crate) revoked_file: Option<PathBuf>,
    pub(crate) ais_trust: Option<AisTrustStore>,
    pub(crate) permissions: Option<PathBuf>,
    /// The stores of environments, of which the first with a digest counts.
    pub(crate) environments: Vec<PathBuf>,
    pub(crate) origin: Option<String>,
}

impl HostRules {
    pub(crate) fn read(args: &RulesOptions) -> Result<Self, Failure> {
        let (policy_file, policy) = policy(args.policy.as_deref())?;
        let signers_file = named_or(args.allowed_signers.as_deref(), SIGNERS);
        let revoked_file = named_or(args.revoked.as_deref(), REVOKED);
        let signers = signers(signers_file.as_deref(), revoked_file.as_deref())?;
        let ais_trust_file = named_or(args.ais_trust.as_deref(), AIS_TRUST);
        Ok(Self {
            policy,
            policy_file,
            signers,
            signers_file,
            revoked_file,
            ais_trust: ais_trust_file.as_deref().map(read_ais_trust).transpose()?,
            permissions: args.permissions.clone(),
            environments: host_stores(),
            origin: args.origin.clone(),
        })
    }

    /// Returns the rules of an embedded run.
    pub(crate) fn of_invoker(args: &HostOptions) -> Result<Self, Failure> {
        Ok(Self {
            policy: named_or_embedded(args.policy.as_deref())?,
            policy_file: args.policy.clone(),
            signers: signers(args.allowed_signers.as_deref(), args.revoked.as_deref())?,
            signers_file: args.allowed_signers.clone(),
            revoked_file: args.revoked.clone(),
            ais_trust: args.ais_trust.as_deref().map(read_ais_trust).transpose()?,
            permissions: Some(args.state.path()?.join("permissions")).filter(|it| it.is_dir()),
            environments: vec![store_of(&args.state)?],
            origin: None,
        })
    }

    pub(crate) fn policy_text(&self) -> String {
        let from = match &self.policy_file {
            Some(file) => format!("from {}", file.display()),
            None => "built in".to_owned(),
        };
        format!("{}, {from}", self.policy.name())
    }
}

/// Returns the policy of this host, or the built-in one.
pub(crate) fn host_policy() -> Result<Policy, Failure> {
    policy(None).map(|(_, policy)| policy)
}

fn policy(named: Option<&Path>) -> Result<(Option<PathBuf>, Policy), Failure> {
    let file = named_or(named, POLICY);
    let policy = match &file {
        Some(file) => read_policy(file)?,
        None => Policy::shipped(SHIPPED).ok_or_else(|| {
            let why = "missing in this build; help: report this as a bug";
            Failure::Message(format!("policy `{SHIPPED}`: {why}"))
        })?,
    };
    Ok((file, policy))
}

fn named_or(named: Option<&Path>, usual: &str) -> Option<PathBuf> {
    let usual = Path::new(usual);
    // A file that cannot be inspected counts as present: reading it reports the error.
    let there = || usual.symlink_metadata().is_ok().then(|| usual.to_owned());
    named.map(Path::to_owned).or_else(there)
}

fn signers(
    signers: Option<&Path>,
    revoked: Option<&Path>,
) -> Result<Option<AllowedSigners>, Failure> {
    let signers = signers.map(read_signers).transpose()?;
    Ok(match (signers, revoked.map(read_revoked).transpose()?) {
        (Some(signers), Some(revoked)) => Some(signers.with_revoked(revoked)),
        (signers, _) => signers,
    })
}

fn read_revoked(path: &Path) -> Result<RevokedKeys, Failure> {
    let bytes = read_file(path, REVOKED_BYTES_MAX)?;
    RevokedKeys::parse(&bytes)
        .map_err(|error| Failure::Message(format!("{}: {error}", path.display())))
}

//! The rule about the environment that a request names: the policy permits it, this host has it,
//! and it fits the runtime. It must never let an environment change what the policy sets.

use std::path::Path;

use model::is_reserved_variable;
use validator::{Code, Request};

use crate::environments::AllowedEnvironments;
use crate::evidence::{BuilderEvidence, EnvironmentEvidence, InstalledRuntimes, OpenedEnvironment};
use crate::findings::Findings;
use crate::policy::Policy;
use crate::program::ChosenWord;
use crate::reasons::RuleName;
use crate::runtime::{ENVIRONMENT_DIR, HeapRule, RuntimeRule, WithoutCache};

const RULE: RuleName = RuleName::Environment;

/// The reason why a request cannot use the environment that it names.
pub(super) struct EnvironmentRefusal {
    code: Code,
    reason: String,
    hint: String,
}

impl EnvironmentRefusal {
    fn new(code: Code, reason: String, hint: impl Into<String>) -> Self {
        Self { code, reason: format!("x-environment: {reason}"), hint: hint.into() }
    }

    pub(super) fn report(self, findings: &mut Findings) {
        findings.refuse(RULE, self.code, self.reason, &self.hint);
    }
}

/// Returns the environment that the request names, if it names one that it may use here.
pub(super) fn find<'a>(
    request: &Request,
    policy: &Policy,
    evidence: &'a EnvironmentEvidence,
) -> Result<Option<&'a OpenedEnvironment>, EnvironmentRefusal> {
    let Some(reference) = request.environment() else { return Ok(None) };
    permitted(request, policy)?;
    let why = match evidence {
        EnvironmentEvidence::Opened(opened) if opened.reference.sha256 == reference.sha256 => {
            signed_by_builder(opened, policy)?;
            return Ok(Some(opened.as_ref()));
        }
        EnvironmentEvidence::Unavailable(why) => why.as_str(),
        EnvironmentEvidence::Opened(_) | EnvironmentEvidence::Unnamed => "it was not opened",
    };
    let hint = "add it with `toolexec env import` or `toolexec env build`; if it is stored, check \
                it with `toolexec env verify`";
    let reason = format!("{reference}: {why}");
    Err(EnvironmentRefusal::new(Code::EnvironmentUnavailable, reason, hint))
}

/// Checks that one of the policy's builders signed the build of the environment, if it names any.
fn signed_by_builder(
    opened: &OpenedEnvironment,
    policy: &Policy,
) -> Result<(), EnvironmentRefusal> {
    let rules = &policy.rules.environments;
    if !rules.demands_builder() {
        return Ok(());
    }
    let why = match &opened.builder {
        BuilderEvidence::Signed(key) if rules.is_builder(key) => return Ok(()),
        BuilderEvidence::Signed(key) => {
            let key = key.fingerprint();
            format!("its build is signed by {key}, not by a key of environments.builders")
        }
        BuilderEvidence::Unsigned => {
            "its build is not signed, which environments.builders of the policy demands".to_owned()
        }
        BuilderEvidence::Unverified(why) => format!("its build record does not verify: {why}"),
    };
    let reason = format!("{}: {why}", opened.reference);
    let hint = "remove it with `toolexec env rm`, then import it from one of these builders; or \
                build it with `toolexec env build --sign-key`";
    Err(EnvironmentRefusal::new(Code::EnvironmentNotPermitted, reason, hint))
}

/// Checks that the policy permits the environment that the request names, on any host.
pub(super) fn permitted(request: &Request, policy: &Policy) -> Result<(), EnvironmentRefusal> {
    let rules = &policy.rules.environments;
    let Some(reference) = request.environment() else { return Ok(()) };
    if rules.permits(&reference.sha256) {
        return Ok(());
    }
    let (reason, hint) = match rules.allowed {
        AllowedEnvironments::None => (
            "the policy permits no environment".to_owned(),
            "remove the key, or ask the operator to permit environments",
        ),
        AllowedEnvironments::Listed | AllowedEnvironments::Stored => (
            format!("{reference}: not in environments.digests of the policy"),
            "name a listed environment, or ask the operator to add its digest",
        ),
    };
    Err(EnvironmentRefusal::new(Code::EnvironmentNotPermitted, reason, hint))
}

/// Reports the verdict, and returns whether the run may use what the request names.
pub(super) fn judge(
    named: Result<Option<&OpenedEnvironment>, EnvironmentRefusal>,
    word: Option<&ChosenWord<'_>>,
    binaries: &InstalledRuntimes,
    findings: &mut Findings,
) -> bool {
    let refusal = match named {
        Ok(None) => {
            findings.not_applicable(RULE, "the request names none");
            return true;
        }
        Ok(Some(opened)) => match word.and_then(|word| misfit(opened, word, binaries)) {
            Some(refusal) => refusal,
            None => {
                findings.pass(RULE, describe(opened));
                return true;
            }
        },
        Err(refusal) => refusal,
    };
    refusal.report(findings);
    false
}

fn describe(opened: &OpenedEnvironment) -> String {
    let place = if opened.is_root { "the root" } else { ENVIRONMENT_DIR };
    format!("{}: {place} is {}", opened.reference, opened.tree.display())
}

/// Returns the first reason why the environment does not fit the runtime.
fn misfit(
    opened: &OpenedEnvironment,
    word: &ChosenWord<'_>,
    binaries: &InstalledRuntimes,
) -> Option<EnvironmentRefusal> {
    let installed = binaries.get(word.runtime.name()).map(|it| it.binary.as_path());
    let (reason, hint) = variable(opened, word.runtime)
        .or_else(|| hidden_cache(opened, word))
        .or_else(|| version(opened, word.runtime, installed?))?;
    let reason = format!("{}: {reason}", opened.reference);
    Some(EnvironmentRefusal::new(Code::EnvironmentMismatch, reason, hint))
}

/// Refuses a variable that chooses programs or libraries of the host, or replaces one of the proxy
/// or of the policy.
fn variable(opened: &OpenedEnvironment, runtime: &RuntimeRule) -> Option<(String, &'static str)> {
    // In a root, PATH finds programs of the environment only.
    let is_reserved =
        |name: &str| is_reserved_variable(name) || (name == "PATH" && !opened.is_root);
    let mut variables = opened.variables.iter();
    let (name, _) = variables
        .find(|(name, value)| is_reserved(name) || sets_otherwise(runtime, name, value))?;
    let why = if is_reserved(name) {
        "which an environment must not set".to_owned()
    } else {
        format!("which runtime `{}` of the policy sets", runtime.name())
    };
    let hint = "build the environment again without this variable";
    Some((format!("it sets the variable `{name}`, {why}"), hint))
}

/// Returns whether the policy sets this variable, and not to this value.
fn sets_otherwise(runtime: &RuntimeRule, name: &str, value: &str) -> bool {
    let of_caches = runtime.caches().iter().filter_map(|it| it.variable.as_deref());
    let of_heap = match runtime.heap() {
        HeapRule::Variable(name) => Some(name.as_str()),
        HeapRule::Unset | HeapRule::Flag(_) => None,
    };
    let differs = |(ours, set): &(String, String)| ours == name && set != value;
    runtime.env().iter().any(differs) || of_caches.chain(of_heap).any(|ours| ours == name)
}

/// Refuses a root whose run would lack a cache that the runtime's arguments need.
fn hidden_cache(
    opened: &OpenedEnvironment,
    word: &ChosenWord<'_>,
) -> Option<(String, &'static str)> {
    let mut caches = word.runtime.caches().iter().filter(|_| opened.is_root && word.is_listed);
    let cache = caches.find(|it| it.without == WithoutCache::Refuse)?;
    let (name, target) = (word.runtime.name(), cache.target.display());
    let hint = "begin the command with a program that the policy does not list";
    Some((format!("runtime `{name}` needs {target}, which a root environment hides"), hint))
}

/// Refuses libraries that were made for another version of the runtime than is installed.
fn version(
    opened: &OpenedEnvironment,
    runtime: &RuntimeRule,
    binary: &Path,
) -> Option<(String, &'static str)> {
    let needed = opened.needs.get(runtime.name()).filter(|_| !opened.is_root)?;
    let installed = version_of(binary).filter(|it| !is_same_version(it, needed))?;
    let name = runtime.name();
    let hint = "build the environment again for the runtime of this host";
    Some((format!("it needs {name} {needed}; runtime `{name}` is {name} {installed}"), hint))
}

/// Returns the version at the end of a program's name, such as `3.11` of `python3.11`.
fn version_of(binary: &Path) -> Option<&str> {
    let name = binary.file_name()?.to_str()?;
    let version = name.get(name.find(|c: char| c.is_ascii_digit())?..)?;
    version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.').then_some(version)
}

/// Compares the parts that both versions have.
fn is_same_version(one: &str, other: &str) -> bool {
    one.split('.').zip(other.split('.')).all(|(one, other)| one == other)
}

#[cfg(test)]
mod tests {
    use super::{Path, is_same_version, version_of};

    #[test]
    fn the_version_is_at_the_end_of_a_name() {
        for (binary, version) in [
            ("/usr/bin/python3.11", Some("3.11")),
            ("/usr/bin/python3", Some("3")),
            ("/usr/lib/go-1.19/bin/go", None),
            ("/usr/bin/node", None),
            ("/usr/bin/python3.11-dbg", None),
            ("/", None),
        ] {
            assert_eq!(version_of(Path::new(binary)), version, "{binary}");
        }
    }

    #[test]
    fn versions_differ_in_a_part_that_both_have() {
        for (one, other) in [("3.11", "3.11"), ("3", "3.11"), ("3.11.2", "3.11")] {
            assert!(is_same_version(one, other), "{one} {other}");
        }
        for (one, other) in [("3.11", "3.12"), ("3.1", "3.11"), ("2", "3.11")] {
            assert!(!is_same_version(one, other), "{one} {other}");
        }
    }
}

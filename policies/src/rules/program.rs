//! The rules that choose the program of a run: command, language, environment and runtime. The
//! first word of the command must never become a path. Each rule reports exactly one verdict.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use model::escape_line;
use validator::{Code, Request, Work};

use super::environment;
use crate::evidence::{
    DecisionEvidence, InstalledRuntime, InstalledRuntimes, MissingRuntime, OpenedEnvironment,
};
use crate::findings::Findings;
use crate::policy::Policy;
use crate::program::{ChosenProgram, ChosenWord};
use crate::reasons::RuleName;
use crate::runtime::{BinaryRule, ENVIRONMENT_DIR, RuntimeRule};

/// Returns the program that the command's first word chooses.
pub(crate) fn choose<'a>(
    request: &Request,
    policy: &'a Policy,
    evidence: &DecisionEvidence<'a>,
    findings: &mut Findings,
) -> Option<ChosenProgram<'a>> {
    let binaries = evidence.binaries;
    let named = environment::find(request, policy, evidence.environment);
    let opened = named.as_ref().ok().copied().flatten();
    if matches!(request.work(), Work::Code(_)) {
        // The backend is refused, and no command exists that could choose a runtime.
        for rule in [RuleName::Command, RuleName::Language, RuleName::Runtime] {
            findings.not_applicable(rule, "the request contains code, not a command");
        }
        environment::judge(named, None, binaries, findings);
        return None;
    }
    let word = match opened {
        Some(opened) => word_beside(request, policy, opened, findings),
        None if named.is_err() && runtime_of(request, policy).is_none() => {
            // The word may be one of the environment that cannot be used.
            findings.not_applicable(RuleName::Command, "the environment cannot be used");
            None
        }
        None => word_of_policy(request, policy, findings),
    };
    let Some(word) = word else {
        findings.not_applicable(RuleName::Language, "no runtime was chosen");
        environment::judge(named, None, binaries, findings);
        findings.not_applicable(RuleName::Runtime, "no runtime was chosen");
        return None;
    };
    let speaks = language(request, word.runtime, findings);
    let fits = environment::judge(named, Some(&word), binaries, findings);
    let (binary, installed) = program(request, &word, opened, binaries, findings)?;
    let chosen = ChosenProgram { word, binary, installed, environment: opened, backend: None };
    (speaks && fits).then_some(chosen)
}

/// Checks that a runtime exists for the command's first word and the language, on any host, and
/// that the policy permits the environment.
pub(crate) fn offered(request: &Request, policy: &Policy, findings: &mut Findings) {
    if let Err(refusal) = environment::permitted(request, policy) {
        refusal.report(findings);
    }
    if request.environment().is_some() && runtime_of(request, policy).is_none() {
        // Only the environment itself says whether it offers the word.
        return;
    }
    if let Some(word) = word_of_policy(request, policy, findings) {
        language(request, word.runtime, findings);
    }
}

/// Returns the command's first word. The validator accepts no empty command; an empty one chooses
/// nothing.
fn first_word(request: &Request) -> &str {
    request.argv().first().map_or("", String::as_str)
}

/// Returns the runtime that the policy lists the first word for.
fn runtime_of<'a>(request: &Request, policy: &'a Policy) -> Option<&'a RuntimeRule> {
    let word = first_word(request);
    let knows = |it: &&RuntimeRule| it.words().iter().any(|known| known == word);
    let of_language =
        policy.runtimes().filter(knows).find(|it| it.language() == request.language());
    of_language.or_else(|| policy.runtimes().find(knows))
}

fn word_of_policy<'a>(
    request: &Request,
    policy: &'a Policy,
    findings: &mut Findings,
) -> Option<ChosenWord<'a>> {
    let word = first_word(request);
    let Some(runtime) = runtime_of(request, policy) else {
        let offers: Vec<String> = policy.runtimes().map(offer).collect();
        let (shown, offers) = (escape_line(word), offers.join(", "));
        let reason = format!("command: `{shown}` is not a command of the policy: {offers}");
        findings.refuse(RuleName::Command, Code::CommandNotPermitted, reason, word_hint(word));
        return None;
    };
    findings.pass(RuleName::Command, format!("`{word}` chooses runtime `{}`", runtime.name()));
    Some(ChosenWord { runtime, path: None, is_listed: true })
}

/// Returns the choice where an environment offers words too. Words of the policy come first; in a
/// root, their programs are those of the environment.
fn word_beside<'a>(
    request: &Request,
    policy: &'a Policy,
    opened: &'a OpenedEnvironment,
    findings: &mut Findings,
) -> Option<ChosenWord<'a>> {
    let listed = runtime_of(request, policy);
    if listed.is_some() && !opened.is_root {
        return word_of_policy(request, policy, findings);
    }
    let word = first_word(request);
    let shown = escape_line(word);
    let Some(path) = opened.programs.get(word).map(String::as_str) else {
        let offers: Vec<&str> = opened.programs.keys().map(String::as_str).collect();
        let offers = if offers.is_empty() { "nothing".to_owned() } else { offers.join(", ") };
        let reference = &opened.reference;
        let reason = format!("command: `{shown}` is not offered by {reference}: {offers}");
        findings.refuse(RuleName::Command, Code::EnvironmentMismatch, reason, word_hint(word));
        return None;
    };
    let Some(runtime) = listed.or_else(|| base_runtime(request, policy, opened)) else {
        let (reason, hint) = missing_base(request, policy, opened);
        let reason = format!("command: `{shown}` {reason}");
        findings.refuse(RuleName::Command, Code::EnvironmentMismatch, reason, &hint);
        return None;
    };
    let (reference, name) = (&opened.reference, runtime.name());
    let reason = format!("`{shown}` chooses {path} of {reference}, on runtime `{name}`");
    findings.pass(RuleName::Command, reason);
    Some(ChosenWord { runtime, path: Some(path), is_listed: listed.is_some() })
}

/// Returns the runtime for a program of an environment: one that it needs, else one of the
/// request's language.
fn base_runtime<'a>(
    request: &Request,
    policy: &'a Policy,
    opened: &OpenedEnvironment,
) -> Option<&'a RuntimeRule> {
    let of_language = |it: &&RuntimeRule| it.language() == request.language();
    if opened.is_root || opened.needs.is_empty() {
        return policy.runtimes().find(of_language);
    }
    let needed = policy.runtimes().filter(|it| opened.needs.contains_key(it.name()));
    let needed: Vec<&RuntimeRule> = needed.collect();
    needed.iter().copied().find(of_language).or_else(|| needed.first().copied())
}

/// Returns the reason why no runtime of the policy can be the base, and what to do.
fn missing_base(
    request: &Request,
    policy: &Policy,
    opened: &OpenedEnvironment,
) -> (String, String) {
    if opened.is_root || opened.needs.is_empty() {
        let known: BTreeSet<&str> = policy.runtimes().map(|it| it.language().as_str()).collect();
        let known: Vec<&str> = known.into_iter().collect();
        let language = request.language().as_str();
        return (
            format!("needs a runtime of language {language}, which the policy does not have"),
            format!("write as `language` one of {}", known.join(", ")),
        );
    }
    let needs: Vec<&str> = opened.needs.keys().map(String::as_str).collect();
    (
        format!("needs runtime {}, which the policy does not have", needs.join(" or ")),
        "ask the operator for such a runtime, or name another environment".to_owned(),
    )
}

fn offer(runtime: &RuntimeRule) -> String {
    format!("{} ({})", runtime.words().join(", "), runtime.language().as_str())
}

fn word_hint(word: &str) -> &'static str {
    if word.contains('/') {
        "begin the command with one of these words; a path is never executed"
    } else {
        "begin the command with one of these words"
    }
}

pub(super) fn language(request: &Request, runtime: &RuntimeRule, findings: &mut Findings) -> bool {
    let (declared, given) = (request.language(), runtime.language());
    if declared == given {
        findings.pass(RuleName::Language, declared.as_str());
        return true;
    }
    let (declared, given) = (declared.as_str(), given.as_str());
    let reason = format!("language: `{declared}` is declared, but the command runs {given}");
    let hint = format!("write `language: {given}`, or another command");
    findings.refuse(RuleName::Language, Code::LanguageMismatch, reason, &hint);
    false
}

/// Returns the program as a path in the sandbox, and the runtime on this host. The host's runtime
/// is not needed if an environment is the root.
fn program<'a>(
    request: &Request,
    word: &ChosenWord<'_>,
    opened: Option<&OpenedEnvironment>,
    binaries: &'a InstalledRuntimes,
    findings: &mut Findings,
) -> Option<(PathBuf, Option<&'a InstalledRuntime>)> {
    let shown = escape_line(first_word(request));
    if let (Some(opened), Some(path)) = (opened.filter(|it| it.is_root), word.path) {
        let binary = Path::new("/").join(path);
        let reason = format!("{shown} is {} in {}", binary.display(), opened.tree.display());
        findings.pass(RuleName::Runtime, reason);
        return Some((binary, None));
    }
    let runtime = word.runtime;
    let Some(installed) = binaries.get(runtime.name()) else {
        let why = binaries.missing(runtime.name()).cloned();
        let MissingRuntime { reason, remedy } =
            why.unwrap_or_else(|| not_found_reason(runtime).into());
        let reason = format!("runtime `{}`: not available on this host: {reason}", runtime.name());
        let otherwise = "install it, or set its binary in the policy";
        let hint = remedy.as_deref().unwrap_or(otherwise);
        findings.refuse(RuleName::Runtime, Code::RuntimeMissing, reason, hint);
        return None;
    };
    let base = format!("{} is {}", runtime.name(), describe_runtime(runtime, installed));
    let Some(path) = word.path else {
        findings.pass(RuleName::Runtime, base);
        return Some((installed.binary.clone(), Some(installed)));
    };
    let binary = Path::new(ENVIRONMENT_DIR).join(path);
    findings.pass(RuleName::Runtime, format!("{shown} is {}; {base}", binary.display()));
    Some((binary, Some(installed)))
}

/// Describes the program and the host paths that it sees besides the policy's mounts.
fn describe_runtime(runtime: &RuntimeRule, installed: &InstalledRuntime) -> String {
    let root = runtime.root().map(|root| format!(" in {}", root.display()));
    let prefix = installed.prefix.as_ref().map(|prefix| format!(" with {}", prefix.display()));
    let cache = |(place, source): (&PathBuf, &PathBuf)| {
        format!(", {} is {}", place.display(), source.display())
    };
    let binary = installed.binary.display().to_string();
    let shown = [root, prefix].into_iter().flatten();
    [binary].into_iter().chain(shown).chain(installed.caches.iter().map(cache)).collect()
}

fn not_found_reason(runtime: &RuntimeRule) -> String {
    match runtime.binary() {
        BinaryRule::Auto { names } => format!(
            "no program named {} was found in /usr/bin, /usr/local/bin and PATH",
            names.join(" or ")
        ),
        BinaryRule::Path(path) => format!("{} is missing or not a program", path.display()),
    }
}

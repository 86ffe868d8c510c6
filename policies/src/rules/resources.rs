//! The rules about the requested resources: backend, runtime, limits, constraints, layers. Each
//! must report exactly one verdict per rule name, and none may change the request.

use std::path::PathBuf;

use model::escape_line;
use validator::{Backend, Code, Request, Work};

use crate::check::BACKEND;
use crate::evidence::{InstalledRuntime, InstalledRuntimes};
use crate::findings::Findings;
use crate::policy::Policy;
use crate::reasons::RuleName;
use crate::runtime::{BinaryRule, RuntimeRule};

pub(crate) fn backend(request: &Request, findings: &mut Findings) {
    match request.backend() {
        None => findings.pass(RuleName::Backend, format!("{BACKEND}, the default of the policy")),
        Some(Backend::Confined) => findings.pass(RuleName::Backend, BACKEND),
        Some(other) => {
            let reason = format!("backend: `{}` is not available", other.as_str());
            let hint = format!("write `backend: {BACKEND}`, or remove the key");
            findings.refuse(RuleName::Backend, Code::BackendUnavailable, reason, &hint);
        }
    }
}

/// Returns the runtime that the command's first word chooses, with its installation.
pub(crate) fn runtime<'a>(
    request: &Request,
    policy: &'a Policy,
    binaries: &'a InstalledRuntimes,
    findings: &mut Findings,
) -> Option<(&'a RuntimeRule, &'a InstalledRuntime)> {
    if matches!(request.work(), Work::Code(_)) {
        // The backend is refused, and no command exists that could choose a runtime.
        for rule in [RuleName::Command, RuleName::Language, RuleName::Runtime] {
            findings.not_applicable(rule, "the request contains code, not a command");
        }
        return None;
    }
    let Some(chosen) = command(request, policy, findings) else {
        findings.not_applicable(RuleName::Language, "no runtime was chosen");
        findings.not_applicable(RuleName::Runtime, "no runtime was chosen");
        return None;
    };
    let fits = language(request, chosen, findings);
    let Some(installed) = binaries.get(chosen.name()) else {
        let why = binaries
            .missing_reason(chosen.name())
            .map_or_else(|| not_found_reason(chosen), str::to_owned);
        let reason = format!("runtime `{}`: not available on this host: {why}", chosen.name());
        let hint = "ask the operator to install it, or to set its binary in the policy";
        findings.refuse(RuleName::Runtime, Code::RuntimeMissing, reason, hint);
        return None;
    };
    findings.pass(
        RuleName::Runtime,
        format!("{} is {}", chosen.name(), describe_runtime(chosen, installed)),
    );
    fits.then_some((chosen, installed))
}

/// Checks that a runtime exists for the command's first word and the language, on any host.
pub(crate) fn offered_language(request: &Request, policy: &Policy, findings: &mut Findings) {
    if let Some(chosen) = command(request, policy, findings) {
        language(request, chosen, findings);
    }
}

fn command<'a>(
    request: &Request,
    policy: &'a Policy,
    findings: &mut Findings,
) -> Option<&'a RuntimeRule> {
    // The validator accepts no empty command; an empty one chooses nothing.
    let word = request.argv().first().map_or("", String::as_str);
    let knows = |it: &&RuntimeRule| it.words().iter().any(|known| known == word);
    let of_language =
        policy.runtimes().filter(knows).find(|it| it.language() == request.language());
    let chosen = of_language.or_else(|| policy.runtimes().find(knows));
    match chosen {
        Some(runtime) => {
            findings
                .pass(RuleName::Command, format!("`{word}` chooses runtime `{}`", runtime.name()));
        }
        None => {
            let offers: Vec<String> = policy.runtimes().map(offer).collect();
            let offers = offers.join(", ");
            let shown = escape_line(word);
            let reason = format!("command: `{shown}` is not a command of the policy: {offers}");
            let hint = if word.contains('/') {
                "begin the command with one of these words; a path is never executed"
            } else {
                "begin the command with one of these words"
            };
            findings.refuse(RuleName::Command, Code::CommandNotPermitted, reason, hint);
        }
    }
    chosen
}

fn offer(runtime: &RuntimeRule) -> String {
    format!("{} ({})", runtime.words().join(", "), runtime.language().as_str())
}

fn language(request: &Request, runtime: &RuntimeRule, findings: &mut Findings) -> bool {
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

pub(crate) fn limits(request: &Request, policy: &Policy, findings: &mut Findings) {
    let ceilings = policy.ceilings();
    let cpu = request.cpu();
    let rows = [
        (
            (RuleName::LimitsCpu, "cpu_limit", "cpu_cores_max"),
            (u64::from(cpu.as_milli()), ceilings.cpu_milli),
            (cpu.to_string(), cores(ceilings.cpu_milli)),
        ),
        (
            (RuleName::LimitsMemory, "memory_limit_mb", "memory_mb_max"),
            (request.memory_limit_mb(), ceilings.memory_mb),
            (request.memory_limit_mb().to_string(), ceilings.memory_mb.to_string()),
        ),
        (
            (RuleName::LimitsTime, "time_limit_sec", "time_sec_max"),
            (request.time_limit_sec(), ceilings.time_sec),
            (request.time_limit_sec().to_string(), ceilings.time_sec.to_string()),
        ),
    ];
    for ((rule, key, ceiling_key), (requested, ceiling), (requested_text, ceiling_text)) in rows {
        if requested <= ceiling {
            findings.pass(rule, format!("{key} {requested_text}, at most {ceiling_text}"));
            continue;
        }
        let reason =
            format!("{key}: {requested_text} is above limits.{ceiling_key} ({ceiling_text})");
        let hint = format!("request at most {ceiling_text}");
        findings.refuse(rule, Code::LimitsOverPolicy, reason, &hint);
    }
}

/// Formats thousandths of a core as the shortest decimal.
fn cores(milli: u64) -> String {
    if milli.is_multiple_of(1000) {
        return (milli / 1000).to_string();
    }
    let text = format!("{}.{:03}", milli / 1000, milli % 1000);
    text.trim_end_matches('0').to_owned()
}

pub(crate) fn constraints(request: &Request, policy: &Policy, findings: &mut Findings) {
    let others: Vec<String> = request
        .constraints()
        .iter()
        .filter(|constraint| !constraint.is_seed())
        .map(|constraint| format!("\"{}\"", escape_line(constraint.text())))
        .collect();
    if others.is_empty() {
        findings.pass(RuleName::Constraints, "every constraint is enforced");
    } else if policy.rules.constraints_refused {
        let reason = format!("constraints: {} cannot be enforced", others.join(", "));
        let hint = "use only the three constraints of the schema";
        findings.refuse(RuleName::Constraints, Code::FrontmatterValue, reason, hint);
    } else {
        findings
            .pass(RuleName::Constraints, format!("stated, not enforced: {}", others.join(", ")));
    }
}

/// Records the required layers. The launcher refuses the run if the sandbox lacks one.
pub(crate) fn layers(policy: &Policy, findings: &mut Findings) {
    let layers = &policy.rules.layers;
    let exception = if layers.cgroup_exception { "cgroup" } else { "none" };
    let reason = format!(
        "required of the sandbox: {}, Landlock ABI {} or later; exceptions: {exception}",
        layers.required.join(", "),
        layers.landlock_abi_min
    );
    findings.pass(RuleName::Layers, reason);
}

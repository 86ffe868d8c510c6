//! The rule about the backend: the policy offers it, this host has it with the files that the
//! policy pins, and the request fits it. It must never choose another backend than the request
//! names.

use model::escape_line;
use validator::{Code, Request, Work};

use super::program;
use crate::backends::{
    BackendForm, BackendRule, CONFINED, InstalledBackend, MicrovmRoot, MicrovmRule,
};
use crate::chosen_backend::ChosenBackend;
use crate::evidence::DecisionEvidence;
use crate::findings::Findings;
use crate::interpreter::{ChosenInterpreter, code_memory_mb};
use crate::machine::{ChosenMachine, MachineMemory};
use crate::policy::Policy;
use crate::reasons::RuleName;

const RULE: RuleName = RuleName::Backend;
/// The most bytes of a command for a virtual machine. The wrapper's message to the guest has at most
/// 128 KiB, with the variables.
const COMMAND_BYTES_MAX: usize = 112 * 1024;

/// The reason why a request cannot use its backend.
struct BackendRefusal {
    code: Code,
    reason: String,
    hint: String,
}

impl BackendRefusal {
    fn unavailable(name: &str, why: &str, hint: impl Into<String>) -> Self {
        let reason = format!("backend: `{name}` is not available: {why}");
        Self { code: Code::BackendUnavailable, reason, hint: hint.into() }
    }

    fn mismatch(name: &str, what: &str, hint: impl Into<String>) -> Self {
        let reason = format!("backend: `{name}` {what}");
        Self { code: Code::BackendMismatch, reason, hint: hint.into() }
    }

    fn report(self, findings: &mut Findings) {
        findings.refuse(RULE, self.code, self.reason, &self.hint);
    }
}

/// Returns the further backend of the run. `None` for the sandbox alone, and after a refusal.
pub(super) fn choose<'a>(
    request: &Request,
    policy: &'a Policy,
    evidence: &DecisionEvidence<'a>,
    findings: &mut Findings,
) -> Option<ChosenBackend<'a>> {
    match find(request, policy, evidence) {
        Ok(None) => {
            findings.pass(RULE, describe(request, CONFINED));
            None
        }
        Ok(Some((rule, chosen))) => {
            let kind = rule.kind();
            let name = describe(request, rule.name());
            findings.pass(RULE, format!("{name}; its kind is {kind}"));
            Some(chosen)
        }
        Err(refusal) => {
            refusal.report(findings);
            None
        }
    }
}

/// Checks that the policy offers the backend and the request fits it, on any host. Returns whether
/// no command chooses a runtime.
pub(super) fn offered(request: &Request, policy: &Policy, findings: &mut Findings) -> bool {
    let has_code = matches!(request.work(), Work::Code(_));
    match permitted(request, policy) {
        Ok(None) => has_code,
        Ok(Some(rule)) => match rule.form() {
            BackendForm::Interpreter(runtime) => {
                program::language(request, runtime, findings);
                true
            }
            BackendForm::Microvm(microvm) => {
                let word = request.argv().first().map_or("", String::as_str);
                let root = microvm.root_of(word).map(|(root, _)| root);
                if let Some(root) = root.filter(|root| root.language.is_some()) {
                    program::language(request, &root.runtime, findings);
                }
                true
            }
        },
        Err(refusal) => {
            refusal.report(findings);
            has_code
        }
    }
}

fn describe(request: &Request, name: &str) -> String {
    match request.backend() {
        None => format!("{name}, the default of the policy"),
        Some(_) => name.to_owned(),
    }
}

fn find<'a>(
    request: &Request,
    policy: &'a Policy,
    evidence: &DecisionEvidence<'a>,
) -> Result<Option<(&'a BackendRule, ChosenBackend<'a>)>, BackendRefusal> {
    let Some(rule) = permitted(request, policy)? else { return Ok(None) };
    let backends = evidence.binaries.backends();
    let hint = "ask the operator to install it; `toolexec doctor` shows each backend";
    let Some(installed) = backends.get(rule.name()) else {
        let why = backends.unavailable_reason(rule.name()).unwrap_or("it was not found");
        return Err(BackendRefusal::unavailable(rule.name(), why, hint));
    };
    if let Some(why) = rule.pinned_fault(installed) {
        let hint = "ask the operator to compare the file with the digest in the policy";
        return Err(BackendRefusal::unavailable(rule.name(), &why, hint));
    }
    let chosen = match rule.form() {
        BackendForm::Interpreter(runtime) => {
            ChosenBackend::Interpreter(ChosenInterpreter { rule, runtime, installed })
        }
        BackendForm::Microvm(microvm) => {
            let found = (rule, microvm, installed);
            ChosenBackend::Machine(machine(request, policy, found)?)
        }
    };
    Ok(Some((rule, chosen)))
}

fn machine<'a>(
    request: &Request,
    policy: &'a Policy,
    (rule, microvm, installed): (&'a BackendRule, &'a MicrovmRule, &'a InstalledBackend),
) -> Result<ChosenMachine<'a>, BackendRefusal> {
    let root = fits_root(request, rule, microvm)?;
    let Some(accelerator) = installed.accelerator else {
        let why = "no accelerator of the policy works on this host";
        let why = installed.passed_over.as_deref().unwrap_or(why);
        let hint = "ask the operator; `toolexec doctor` tries it again (docs/microvm.md)";
        return Err(BackendRefusal::unavailable(rule.name(), why, hint));
    };
    let ceilings = policy.ceilings();
    Ok(ChosenMachine { rule, microvm, root, installed, accelerator, ceilings })
}

/// Returns the backend of the policy that the request fits; `None` for the sandbox alone.
fn permitted<'a>(
    request: &Request,
    policy: &'a Policy,
) -> Result<Option<&'a BackendRule>, BackendRefusal> {
    let rules = &policy.rules.backends;
    let name = request.backend().map_or(rules.default_name(), |backend| backend.as_str());
    if name == CONFINED {
        return Ok(None);
    }
    let Some(rule) = rules.get(name) else {
        let why = "the policy has no backend of this name";
        let hint = format!(
            "write `backend: {CONFINED}`, or ask the operator to add it to `backends` of the policy"
        );
        return Err(BackendRefusal::unavailable(name, why, hint));
    };
    match rule.form() {
        BackendForm::Interpreter(_) => fits_interpreter(request, rule)?,
        BackendForm::Microvm(microvm) => fits_microvm(request, policy, (rule, microvm))?,
    }
    Ok(Some(rule))
}

fn fits_interpreter(request: &Request, rule: &BackendRule) -> Result<(), BackendRefusal> {
    let mismatch = |what: &str, hint: &str| Err(BackendRefusal::mismatch(rule.name(), what, hint));
    if !request.network().hosts().is_empty() {
        return mismatch("has no network", "write `network: none`");
    }
    if request.environment().is_some() {
        return mismatch("has no environments", "remove `x-environment`");
    }
    if request.patch().is_some() {
        return mismatch("makes no patches", "remove `x-patch-of`");
    }
    if matches!(request.work(), Work::Command { .. }) && !request.is_python_script() {
        let hint = "write `python`, then the name of a declared input, then its arguments";
        return mismatch("runs only scripts that are inputs", hint);
    }
    if code_memory_mb(request, rule).is_none() {
        let extra = rule.memory_extra_mb();
        let what = format!("needs more than {extra} MiB of memory, which it uses itself");
        let hint = format!("request more than {extra} MiB");
        return Err(BackendRefusal::mismatch(rule.name(), &what, hint));
    }
    Ok(())
}

fn fits_microvm(
    request: &Request,
    policy: &Policy,
    (rule, microvm): (&BackendRule, &MicrovmRule),
) -> Result<(), BackendRefusal> {
    let mismatch = |what: &str, hint: &str| Err(BackendRefusal::mismatch(rule.name(), what, hint));
    if matches!(request.work(), Work::Code(_)) {
        let hint = "write a `## Command`, or name a backend that is an interpreter";
        return mismatch("runs commands only", hint);
    }
    if !request.network().hosts().is_empty() {
        return mismatch("has no network", "write `network: none`");
    }
    if request.environment().is_some() {
        return mismatch("has no environments", "remove `x-environment`");
    }
    if request.patch().is_some() {
        return mismatch("makes no patches", "remove `x-patch-of`");
    }
    fits_root(request, rule, microvm)?;
    if let Err(least) = MachineMemory::of(request, rule, policy.ceilings()) {
        let what = format!("needs {least} MiB of memory for the guest, its files and itself");
        let hint = format!("request at least {least} MiB");
        return Err(BackendRefusal::mismatch(rule.name(), &what, hint));
    }
    if command_bytes(request.argv()) > COMMAND_BYTES_MAX {
        let what =
            format!("takes a command of at most {COMMAND_BYTES_MAX} bytes, four more per word");
        return Err(BackendRefusal::mismatch(rule.name(), &what, "put the data in an input file"));
    }
    Ok(())
}

/// Returns the bytes of a command in the wrapper's message to the guest.
fn command_bytes(argv: &[String]) -> usize {
    argv.iter().map(|word| word.len().saturating_add(4)).fold(0, usize::saturating_add)
}

/// Returns the root image whose program the first word of the command names.
fn fits_root<'a>(
    request: &Request,
    rule: &BackendRule,
    microvm: &'a MicrovmRule,
) -> Result<&'a MicrovmRoot, BackendRefusal> {
    let word = request.argv().first().map_or("", String::as_str);
    if let Some((root, _)) = microvm.root_of(word) {
        return Ok(root);
    }
    let words = microvm.roots.iter().flat_map(|root| root.programs.keys());
    let words: Vec<&str> = words.map(String::as_str).collect();
    let what = format!("offers {}, not `{}`", words.join(", "), escape_line(word));
    let hint = "begin the command with one of these words";
    Err(BackendRefusal::mismatch(rule.name(), &what, hint))
}

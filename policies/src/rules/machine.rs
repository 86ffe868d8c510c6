//! The rules about the program of a run in a virtual machine. Each reports exactly one verdict, as
//! where a command chooses a runtime.

use model::escape_line;
use validator::Request;

use super::{environment, program};
use crate::chosen_backend::ChosenBackend;
use crate::evidence::DecisionEvidence;
use crate::findings::Findings;
use crate::machine::ChosenMachine;
use crate::program::{ChosenProgram, ChosenWord};
use crate::reasons::RuleName;

/// Returns the program of the run: the wrapper that starts the guest.
pub(super) fn choose<'a>(
    request: &Request,
    machine: ChosenMachine<'a>,
    evidence: &DecisionEvidence<'a>,
    findings: &mut Findings,
) -> Option<ChosenProgram<'a>> {
    let (name, root) = (machine.rule.name(), machine.root);
    let word = escape_line(request.argv().first().map_or("", String::as_str));
    let command = format!("`{word}` chooses root `{}` of backend `{name}`", root.name);
    findings.pass(RuleName::Command, command);
    let speaks = language(request, machine, findings);
    // The rule about the backend refuses a request that names an environment.
    let fits = environment::judge(Ok(None), None, evidence.binaries, findings);
    let installed = machine.installed;
    let wrapper = installed.files.first().map_or(&installed.program, |file| &file.path);
    let accelerator = machine.accelerator;
    let mut runtime = format!("{name} is {} with {accelerator}", wrapper.display());
    if let Some(why) = &installed.passed_over {
        runtime.push_str(", because ");
        runtime.push_str(&escape_line(why));
    }
    findings.pass(RuleName::Runtime, runtime);
    let chosen = ChosenProgram {
        word: ChosenWord { runtime: &root.runtime, path: None, is_listed: true },
        binary: installed.program.clone(),
        installed: None,
        environment: None,
        backend: Some(ChosenBackend::Machine(machine)),
    };
    (speaks && fits).then_some(chosen)
}

/// A root may accept every language.
fn language(request: &Request, machine: ChosenMachine<'_>, findings: &mut Findings) -> bool {
    if machine.root.language.is_some() {
        return program::language(request, &machine.root.runtime, findings);
    }
    findings.pass(RuleName::Language, request.language().as_str());
    true
}

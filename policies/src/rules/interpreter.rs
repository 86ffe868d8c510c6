//! The rules about the program of a run whose code an interpreter runs. Each reports exactly one
//! verdict, as where a command chooses a runtime.

use model::escape_line;
use validator::{Request, Work};

use super::{environment, program};
use crate::chosen_backend::ChosenBackend;
use crate::evidence::DecisionEvidence;
use crate::findings::Findings;
use crate::interpreter::ChosenInterpreter;
use crate::program::{ChosenProgram, ChosenWord};
use crate::reasons::RuleName;

/// Returns the program of the run: the interpreter itself.
pub(super) fn choose<'a>(
    request: &Request,
    interpreter: ChosenInterpreter<'a>,
    evidence: &DecisionEvidence<'a>,
    findings: &mut Findings,
) -> Option<ChosenProgram<'a>> {
    let name = interpreter.rule.name();
    let command = match request.work() {
        Work::Code(_) => format!("backend `{name}` runs the code of the request"),
        Work::Command { argv, .. } => {
            let script = escape_line(argv.get(1).map_or("", String::as_str));
            format!("backend `{name}` runs the script {script}")
        }
    };
    findings.pass(RuleName::Command, command);
    let speaks = program::language(request, interpreter.runtime, findings);
    // The rule about the backend refuses a request that names an environment.
    let fits = environment::judge(Ok(None), None, evidence.binaries, findings);
    let installed = interpreter.installed;
    findings.pass(RuleName::Runtime, format!("{name} is {}", describe(&interpreter)));
    let chosen = ChosenProgram {
        word: ChosenWord { runtime: interpreter.runtime, path: None, is_listed: true },
        binary: installed.program.clone(),
        installed: None,
        environment: None,
        backend: Some(ChosenBackend::Interpreter(interpreter)),
    };
    (speaks && fits).then_some(chosen)
}

fn describe(interpreter: &ChosenInterpreter<'_>) -> String {
    let installed = interpreter.installed;
    let program = installed.files.first().map_or(&installed.program, |file| &file.path);
    program.display().to_string()
}

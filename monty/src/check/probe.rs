//! Asks the interpreter. It runs a question as it would run the same construct in a program. So
//! its modules, attributes and built-in names are not listed here, and an update of monty changes
//! the answers by itself.

use std::collections::HashMap;

use monty_interpreter::{MontyRun, RunProgress};
use monty_types::{
    ExcType, ExtFunctionResult, MontyException, MontyFileHandle, MontyObject, NameLookupResult,
    OsFunctionCall, PrintWriter, ResourceTracker,
};

use super::model::ProbeQuestion;
use crate::limits::InterpreterLimits;
use crate::source::PythonSource;

/// For one question. After one that reaches the limit of time, no other is asked.
const LIMITS: InterpreterLimits = InterpreterLimits { time_ms: 1_000, memory_mb: 256 };

/// Pieces of code that run for one check. Each takes far less than a millisecond.
const RUNS_MAX: u32 = 5_000;

/// Calls of the host in one piece of code.
const HOST_CALLS_MAX: u32 = 100;

/// An exception that the interpreter raised.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RefusedConstruct {
    pub(super) kind: ExcType,
    /// The exception and its text.
    pub(super) message: String,
}

/// The interpreter, and its answers so far.
#[derive(Debug, Default)]
pub(super) struct InterpreterProbe {
    answers: HashMap<String, Option<RefusedConstruct>>,
    runs: u32,
}

impl InterpreterProbe {
    /// Returns the exception of a construct that monty does not have. `None` if it has it, or
    /// without an answer.
    pub(super) fn answer(&mut self, question: &ProbeQuestion) -> Option<RefusedConstruct> {
        let mut code = String::new();
        for import in &question.imports {
            if self.raised(import).is_some() {
                return None;
            }
            code.push_str(import);
            code.push('\n');
        }
        code.push_str(&question.code);
        let refused = self.raised(&code)?;
        let is_expected = question.kinds.iter().any(|kind| refused.kind.is_subclass_of(*kind));
        is_expected.then_some(refused)
    }

    fn raised(&mut self, code: &str) -> Option<RefusedConstruct> {
        if let Some(known) = self.answers.get(code) {
            return known.clone();
        }
        if self.runs == RUNS_MAX {
            return None;
        }
        self.runs += 1;
        let raised = run(code);
        if raised.as_ref().is_some_and(|raised| raised.kind == ExcType::TimeoutError) {
            self.runs = RUNS_MAX;
        }
        self.answers.insert(code.to_owned(), raised.clone());
        raised
    }
}

/// Returns the exception of the code. `None` also if it does not compile.
fn run(code: &str) -> Option<RefusedConstruct> {
    let source = PythonSource::read("check", code.as_bytes()).ok()?;
    let raised = complete(source.compile(Vec::new()).ok()?).err()?;
    Some(RefusedConstruct { kind: raised.exc_type(), message: raised.summary() })
}

fn complete(runner: MontyRun) -> Result<(), MontyException> {
    let tracker = ResourceTracker::new(LIMITS.resources());
    let mut progress = runner.start(Vec::new(), tracker, PrintWriter::Disabled)?;
    for _ in 0..HOST_CALLS_MAX {
        progress = match progress {
            RunProgress::OsCall(call) => call.resume_with(PrintWriter::Disabled, answer_call)?,
            RunProgress::NameLookup(lookup) => {
                lookup.resume(NameLookupResult::Undefined, PrintWriter::Disabled)?
            }
            RunProgress::Complete(_)
            | RunProgress::FunctionCall(_)
            | RunProgress::ResolveFutures(_) => return Ok(()),
        };
    }
    Ok(())
}

/// Opens every file, without content, because a question may be about an open file. All other
/// calls are denied as in a run without directories.
fn answer_call(call: OsFunctionCall) -> ExtFunctionResult {
    match call {
        OsFunctionCall::Open(open) => {
            let path = "/in/file".to_owned();
            let file = MontyFileHandle { path, mode: open.mode, position: 0 };
            MontyObject::FileHandle(file).into()
        }
        call => call.on_no_handler().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: &[ExcType] = &[ExcType::BaseException];

    #[test]
    fn the_interpreter_answers() {
        let mut probe = InterpreterProbe::default();
        let mut kind = |code: &str| probe.answer(&ProbeQuestion::of(code, ANY)).map(|it| it.kind);
        assert_eq!(kind("import json"), None);
        assert_eq!(kind("import csv"), Some(ExcType::ModuleNotFoundError));
        assert_eq!(kind("open('/in/a')"), None);
        assert_eq!(kind("undefined_name"), Some(ExcType::NameError));
        assert_eq!(kind("("), None, "it does not compile");
        assert_eq!(kind("while True: pass"), Some(ExcType::TimeoutError));
        assert_eq!(kind("another_name"), None, "no time is left");
    }

    #[test]
    fn after_a_failed_import_there_is_no_answer() {
        let mut probe = InterpreterProbe::default();
        let mut question = ProbeQuestion::of("csv.reader", ANY);
        question.imports.insert("import csv".to_owned());
        assert_eq!(probe.answer(&question), None);
    }

    #[test]
    fn the_number_of_runs_is_bounded() {
        let mut probe = InterpreterProbe { runs: RUNS_MAX, ..InterpreterProbe::default() };
        assert_eq!(probe.answer(&ProbeQuestion::of("undefined_name", ANY)), None);
    }
}

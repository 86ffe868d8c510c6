//! Runs a program to its end. The interpreter stops at each call that needs its host; the answers
//! are file operations of a script and refusals of everything else. Their number is bounded,
//! because the interpreter's clock does not run meanwhile.

use std::io::Write;
use std::time::Instant;

use monty_fs::MountTable;
use monty_interpreter::{MontyRun, RunProgress};
use monty_types::{
    ExcType, ExtFunctionResult, MontyException, MontyObject, NameLookupResult, PrintWriter,
    PrintWriterCallback, ResourceTracker,
};

use crate::directories::{ScriptDirectories, answer_host_call};
use crate::failure::MontyFailure;
use crate::inputs::ProgramInputs;
use crate::limits::InterpreterLimits;
use crate::printer::OutputPrinter;
use crate::source::PythonSource;

const HOST_CALLS_MAX: usize = 1_000_000;

/// Compiled code and the values of its variables.
#[derive(Debug)]
pub struct PythonProgram {
    runner: MontyRun,
    values: Vec<MontyObject>,
}

impl PythonProgram {
    /// Compiles code.
    ///
    /// # Errors
    /// `Raised` if monty cannot compile it.
    pub fn compile(source: PythonSource, inputs: ProgramInputs) -> Result<Self, MontyFailure> {
        let (names, values) = inputs.into_parts();
        let runner = source.compile(names).map_err(MontyFailure::raised)?;
        Ok(Self { runner, values })
    }

    /// Runs the code and returns the value of its last expression. Without directories it has no
    /// files.
    ///
    /// # Errors
    /// `Raised` if the code raised or reached a limit; `Refused` if a directory cannot be opened;
    /// `Internal` if its output could not be written.
    pub fn run(
        self,
        limits: InterpreterLimits,
        directories: Option<&ScriptDirectories>,
        out: impl Write,
    ) -> Result<MontyObject, MontyFailure> {
        let mut files = match directories {
            Some(directories) => directories.mount(limits.memory_bytes())?,
            None => MountTable::new(),
        };
        let mut printer = OutputPrinter::new(out);
        let clock = Instant::now();
        let ended = self.complete(limits, &mut files, &mut printer);
        printer.finish()?;
        ended.map_err(|raised| limits.failure(raised, clock.elapsed()))
    }

    fn complete<P: PrintWriterCallback>(
        self,
        limits: InterpreterLimits,
        files: &mut MountTable,
        printer: &mut P,
    ) -> Result<MontyObject, MontyException> {
        let tracker = ResourceTracker::new(limits.resources());
        let output = PrintWriter::Callback(&mut *printer);
        let mut progress = self.runner.start(self.values, tracker, output)?;
        for _ in 0..HOST_CALLS_MAX {
            if let RunProgress::Complete(value) = progress {
                return Ok(value);
            }
            progress = answer(progress, files, printer)?;
        }
        match abort(progress, printer)? {
            RunProgress::Complete(value) => Ok(value),
            _ => Err(too_many_calls()),
        }
    }
}

/// Answers one call of the interpreter, and lets it go on.
fn answer<P: PrintWriterCallback>(
    progress: RunProgress,
    files: &mut MountTable,
    printer: &mut P,
) -> Result<RunProgress, MontyException> {
    let output = PrintWriter::Callback(printer);
    match progress {
        RunProgress::OsCall(call) => call.resume_with(output, |call| answer_host_call(call, files)),
        RunProgress::NameLookup(lookup) => lookup.resume(NameLookupResult::Undefined, output),
        RunProgress::FunctionCall(call) => {
            let unknown = ExtFunctionResult::NotFound(call.function_name.clone());
            call.resume(unknown, output)
        }
        RunProgress::ResolveFutures(state) => {
            let message = "the code waits for a result that the host never sends";
            let raised = MontyException::new(ExcType::RuntimeError, Some(message.to_owned()));
            state.abort(raised, output)
        }
        RunProgress::Complete(value) => Ok(RunProgress::Complete(value)),
    }
}

/// Ends code that calls its host again and again.
fn abort<P: PrintWriterCallback>(
    progress: RunProgress,
    printer: &mut P,
) -> Result<RunProgress, MontyException> {
    let (raised, output) = (too_many_calls(), PrintWriter::Callback(printer));
    match progress {
        RunProgress::OsCall(call) => call.abort(raised, output),
        RunProgress::NameLookup(lookup) => lookup.abort(raised, output),
        RunProgress::FunctionCall(call) => call.abort(raised, output),
        RunProgress::ResolveFutures(state) => state.abort(raised, output),
        RunProgress::Complete(value) => Ok(RunProgress::Complete(value)),
    }
}

fn too_many_calls() -> MontyException {
    let message = format!("more than {HOST_CALLS_MAX} operations on files and unknown names");
    MontyException::new(ExcType::RuntimeError, Some(message))
}

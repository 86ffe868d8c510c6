//! The commands. Code runs on a thread of its own, because it may nest more calls than the stack
//! of the main thread holds. A panic ends the program with its own status, never as a success.

use std::io::{self, Write};
use std::panic::{self, PanicHookInfo};
use std::path::Path;
use std::process::ExitCode;
use std::thread;

use clap::Parser;
use toolexec_monty::{
    MontyFailure, ProgramInputs, PythonProgram, PythonSource, check, write_result,
};

use crate::args::{CodeCheckOptions, MontyCommand, Options, PureRunOptions, ScriptRunOptions};

const SUCCESS: u8 = 0;
const RAISED: u8 = 1;
const REFUSED: u8 = 2;
const INTERNAL: u8 = 3;

/// Reserved, and used only as far as calls nest.
const STACK_BYTES: usize = 256 << 20;

#[must_use]
pub(crate) fn main() -> ExitCode {
    panic::set_hook(Box::new(end_after_panic));
    let options = match Options::try_parse() {
        Ok(options) => options,
        Err(error) => {
            let requested = !error.use_stderr();
            let printed = error.print().is_ok();
            let fine = requested && printed;
            return if fine { ExitCode::SUCCESS } else { ExitCode::from(REFUSED) };
        }
    };
    let worker = thread::Builder::new().stack_size(STACK_BYTES);
    let status = match worker.spawn(move || perform(&options.command)) {
        // The hook ends the program after a panic, so the thread always returns.
        Ok(thread) => thread.join().unwrap_or(INTERNAL),
        Err(error) => {
            let help = "allow this program more memory";
            report(&MontyFailure::Internal(format!("thread: {error}; help: {help}")))
        }
    };
    ExitCode::from(status)
}

/// Ends the program. A release build aborts after this hook, with a status that says less.
fn end_after_panic(info: &PanicHookInfo<'_>) {
    let failure = MontyFailure::Internal(format!("internal error: {info}"));
    std::process::exit(i32::from(report(&failure)));
}

/// Prints a failure, and returns its exit status.
fn report(failure: &MontyFailure) -> u8 {
    let printed = writeln!(io::stderr(), "{failure}");
    if printed.is_ok() { failure.exit_status() } else { INTERNAL }
}

fn perform(command: &MontyCommand) -> u8 {
    let done = match command {
        MontyCommand::Run(options) => run(options),
        MontyCommand::Script(options) => script(options),
        MontyCommand::Check(options) => check_code(options),
    };
    done.unwrap_or_else(|failure| report(&failure))
}

fn run(options: &PureRunOptions) -> Result<u8, MontyFailure> {
    let limits = options.limits.limits();
    limits.arm()?;
    let source = PythonSource::open(&options.code)?;
    let inputs = match &options.inputs {
        Some(path) => ProgramInputs::open(path, limits)?,
        None => ProgramInputs::default(),
    };
    let program = PythonProgram::compile(source, inputs)?;
    let value = program.run(limits, None, io::stdout())?;
    if let Some(path) = &options.result {
        write_result(path, &value)?;
    }
    Ok(SUCCESS)
}

fn script(options: &ScriptRunOptions) -> Result<u8, MontyFailure> {
    let limits = options.limits.limits();
    limits.arm()?;
    let file = options.argv.first().map_or("", String::as_str);
    let source = PythonSource::open(Path::new(file))?;
    let inputs = ProgramInputs::arguments(options.argv.clone());
    let program = PythonProgram::compile(source, inputs)?;
    program.run(limits, Some(&options.directories()), io::stdout())?;
    Ok(SUCCESS)
}

fn check_code(options: &CodeCheckOptions) -> Result<u8, MontyFailure> {
    let source = match &options.code {
        Some(path) => PythonSource::open(path)?,
        None => PythonSource::read("standard input", io::stdin().lock())?,
    };
    let Some(problem) = check(source, &options.variables) else { return Ok(SUCCESS) };
    let line = serde_json::to_string(&problem);
    let printed = line.map_err(io::Error::from).and_then(|line| {
        let mut out = io::stdout().lock();
        writeln!(out, "{line}").and_then(|()| out.flush())
    });
    match printed {
        Ok(()) => Ok(RAISED),
        Err(error) => Err(MontyFailure::Internal(format!("standard output: {error}"))),
    }
}

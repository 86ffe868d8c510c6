//! The command line. The daemon writes it; people read its help.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use toolexec_monty::{InterpreterLimits, ScriptDirectories};

const LONG: &str = "\
Run Python code with monty, the interpreter of the monty backend.

toolexecd starts this program inside a sandbox; `toolexec lint` starts `check` outside one. Monty supports a subset of Python; see docs/monty.md.";

const AFTER: &str = "\
Exit status: 0 success; 1 the code raised an exception, reached a limit or does not compile; \
2 a file, its inputs or the arguments cannot be used; 3 internal error; \
65 the memory limit was exceeded by more than 4 MiB at once.";

#[derive(Debug, Parser)]
#[command(name = "toolexec-monty", version, about = "Run Python code with monty", long_about = LONG, after_help = AFTER)]
pub(crate) struct Options {
    #[command(subcommand)]
    pub(crate) command: MontyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MontyCommand {
    /// Run pure code, which has no files
    Run(PureRunOptions),
    /// Run a script file, which can read /in and write /out
    Script(ScriptRunOptions),
    /// Print the first construct of code that monty refuses, as a line of JSON
    Check(CodeCheckOptions),
}

#[derive(Debug, Args)]
pub(crate) struct LimitOptions {
    /// Limit the time that the code may compute
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    time_ms: u64,

    /// Limit the memory of the interpreter
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    memory_mb: u32,
}

impl LimitOptions {
    pub(crate) fn limits(&self) -> InterpreterLimits {
        InterpreterLimits { time_ms: self.time_ms, memory_mb: self.memory_mb }
    }
}

#[derive(Debug, Args)]
pub(crate) struct PureRunOptions {
    #[command(flatten)]
    pub(crate) limits: LimitOptions,

    /// Read variables from this JSON object, one for each key
    #[arg(long, value_name = "FILE")]
    pub(crate) inputs: Option<PathBuf>,

    /// Write the value of the last expression to this new file, as JSON with its type
    #[arg(long, value_name = "FILE")]
    pub(crate) result: Option<PathBuf>,

    /// The file with the code, at most 1 MiB
    #[arg(value_name = "CODE_FILE")]
    pub(crate) code: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ScriptRunOptions {
    #[command(flatten)]
    pub(crate) limits: LimitOptions,

    /// Read /in from this directory
    #[arg(long, value_name = "DIR", default_value = "/in", hide = true)]
    in_dir: PathBuf,

    /// Write /out to this directory
    #[arg(long, value_name = "DIR", default_value = "/out", hide = true)]
    out_dir: PathBuf,

    /// The script, at most 1 MiB, and its arguments; the variable `argv` has all of them
    // One list: everything after the file belongs to the script, even what looks like an option.
    #[arg(value_names = ["FILE", "ARG"], num_args = 1.., required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) argv: Vec<String>,
}

impl ScriptRunOptions {
    pub(crate) fn directories(&self) -> ScriptDirectories {
        ScriptDirectories { input: self.in_dir.clone(), output: self.out_dir.clone() }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CodeCheckOptions {
    /// Expect variables with these names, which may be those of missing built-in functions
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) variables: Vec<String>,

    /// The file with the code, at most 1 MiB; standard input if not given
    #[arg(value_name = "FILE")]
    pub(crate) code: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Options::command().debug_assert();
    }

    #[test]
    fn options_after_the_script_belong_to_it() {
        let line = "toolexec-monty script --time-ms 5 --memory-mb 6 a.py --time-ms x -- -y";
        let options = Options::try_parse_from(line.split(' ')).unwrap();
        let MontyCommand::Script(script) = options.command else { unreachable!("a script") };
        assert_eq!(script.argv, ["a.py", "--time-ms", "x", "--", "-y"]);
        assert_eq!(script.limits.limits().time_ms, 5);
    }

    #[test]
    fn a_run_without_limits_is_refused() {
        for line in ["run a.py", "run --time-ms 0 --memory-mb 1 a.py", "script --time-ms 1 a.py"] {
            let line = format!("toolexec-monty {line}");
            assert!(Options::try_parse_from(line.split(' ')).is_err(), "{line}");
        }
    }
}

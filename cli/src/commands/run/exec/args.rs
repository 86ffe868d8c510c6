//! The arguments of `toolexec exec`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use model::Language;

use crate::args::HostOptions;
use crate::commands::request::draft::{
    DRAFT_CPU, DRAFT_MEMORY_MB, DRAFT_TIME_SEC, closed_set_value,
};

#[derive(Args)]
#[command(after_help = "\
Example: toolexec exec --input mean.py --input table.csv -- \\
           python mean.py /in/table.csv /out/mean.json
         toolexec exec --env charts --input chart.py -- python chart.py
         toolexec exec --env auto --input repo -- python -m unittest discover -s /in/repo
         toolexec exec --input repo --input fix.py --patch -- python /in/fix.py

Shows what will run and asks. The tool sees its inputs in /in and writes to /out; it has no network
unless you allow hosts that the policy lists, and none of your other files. A folder is copied
without .git and without what its .gitignore and .toolexecignore files leave out. The tool's output
appears as it comes, and its files are copied to --out, replacing files of the same name.
--env adds the libraries and programs of an environment that `toolexec env build` made. `--env
auto` finds uv.lock, requirements.txt or package-lock.json in the first folder of --input, else in
the current directory, and uses the environment of this file. If the store has none, it shows what
it would fetch, asks, and builds it.
With --patch, the tool starts in /out/work, the copy of the folder. Name other inputs as /in/NAME
then. After the run, TOOL-EXEC compares the copy with the folder, and writes changes.patch for
`git apply`. Your own folder stays as it is.
You are the approver, so the policy must accept the invoker (the built-in `embedded` does); else
use `draft`, `approve` and `submit`.
Ctrl-C cancels the run, which is recorded too. The last line names the record.
Exit status: 0 success; 1 the tool failed, you declined, the record does not verify, or its output
could not be copied; 2 refused; 3 sandbox setup failed, the outcome is unknown, or a usage error.")]
pub(crate) struct ExecCommand {
    /// Run this command, as separate words; no shell reads it
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    pub(super) words: Vec<String>,
    /// Add an input file or folder, readable as /in/NAME; can be repeated [default name: its own]
    #[arg(long = "input", value_name = "[NAME=]PATH")]
    pub(super) inputs: Vec<OsString>,
    /// Use this environment of the state directory: its name, NAME@sha256:DIGEST, a digest, or
    /// `auto`, that of the lock file
    #[arg(long = "env", value_name = "ENVIRONMENT")]
    pub(super) environment: Option<String>,
    /// Copy the files that the tool writes to /out to this directory, creating it if missing
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub(super) out: PathBuf,
    /// Start the tool in a writable copy of the only folder of --input, and write its changes to
    /// changes.patch
    #[arg(long)]
    pub(super) patch: bool,
    /// Allow the tool to reach this host, if the policy lists it; can be repeated
    /// [default port: 443]
    #[arg(long = "allow", value_name = "HOST[:PORT]")]
    pub(super) hosts: Vec<String>,
    /// Limit the processor cores, such as 2 or 0.5
    #[arg(long, value_name = "CORES", default_value = DRAFT_CPU, allow_negative_numbers = true)]
    pub(super) cpu: String,
    /// Limit the memory, in MiB
    #[arg(long, value_name = "MIB", default_value_t = DRAFT_MEMORY_MB, allow_negative_numbers = true)]
    pub(super) memory_mb: u64,
    /// Limit the wall time, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = DRAFT_TIME_SEC, allow_negative_numbers = true)]
    pub(super) time_sec: u64,
    /// State why the run is needed, in one sentence [default: derived from the command]
    #[arg(long, value_name = "SENTENCE")]
    pub(super) purpose: Option<String>,
    /// Select the language
    /// [default: that of the policy's runtime for the first word; for a program of the
    /// environment, that of the runtime that the environment needs, else python]
    #[arg(long, value_parser = closed_set_value::<Language>())]
    pub(super) language: Option<Language>,
    /// Run without asking; the policy must set approval.unasked
    #[arg(long, short = 'y')]
    pub(super) yes: bool,
    #[command(flatten)]
    pub(super) host: HostOptions,
}

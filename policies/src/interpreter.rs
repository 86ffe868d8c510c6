//! The interpreter that runs the code of a request, and its command line. It must never pass
//! anything of the request but its limits, the arguments of a script, and names of its files.

use validator::{Request, Work};

use crate::backends::{
    BackendRule, CODE_FILE, GrantedBackend, INPUTS_FILE, InstalledBackend, RESULT_FILE,
};
use crate::runtime::RuntimeRule;

/// The time by which the interpreter ends later than the sandbox, so that each run that takes too
/// long has the same outcome.
const TIME_LATER_MS: u64 = 1000;

/// The most memory that the program can limit. The sandbox limits more.
const CODE_MEMORY_MB_MAX: u64 = 1 << 20;

/// The interpreter of a run, as the policy and this host have it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChosenInterpreter<'a> {
    pub(crate) rule: &'a BackendRule,
    pub(crate) runtime: &'a RuntimeRule,
    pub(crate) installed: &'a InstalledBackend,
}

impl ChosenInterpreter<'_> {
    pub(crate) fn granted(&self) -> GrantedBackend {
        GrantedBackend {
            name: self.rule.name().to_owned(),
            kind: self.rule.kind(),
            program: Some(self.installed.program.clone()),
            files: self.installed.files.clone(),
            machine: None,
        }
    }

    /// Returns the words for the program. Its limits are those of the request, so that it can
    /// report them itself; the sandbox enforces its own.
    pub(crate) fn argv(&self, request: &Request) -> Vec<String> {
        let time_ms = request.time_limit_sec().saturating_mul(1000).saturating_add(TIME_LATER_MS);
        let memory_mb = code_memory_mb(request, self.rule).unwrap_or(1).min(CODE_MEMORY_MB_MAX);
        let words = match request.work() {
            Work::Code(_) => code_arguments(time_ms, memory_mb),
            Work::Command { argv, .. } => {
                with_limits("script", (time_ms, memory_mb), script_of(argv))
            }
        };
        let program = self.installed.program.display().to_string();
        [program].into_iter().chain(words).collect()
    }
}

/// Returns the words after an interpreter's program that run the staged code with its inputs.
#[must_use]
pub fn code_arguments(time_ms: u64, memory_mb: u64) -> Vec<String> {
    let files = [
        "--inputs".to_owned(),
        format!("/in/{INPUTS_FILE}"),
        "--result".to_owned(),
        format!("/out/{RESULT_FILE}"),
        format!("/in/{CODE_FILE}"),
    ];
    with_limits("run", (time_ms, memory_mb), files)
}

fn with_limits(
    form: &str,
    (time_ms, memory_mb): (u64, u64),
    rest: impl IntoIterator<Item = String>,
) -> Vec<String> {
    let time = ["--time-ms".to_owned(), time_ms.to_string()];
    let memory = ["--memory-mb".to_owned(), memory_mb.to_string()];
    [form.to_owned()].into_iter().chain(time).chain(memory).chain(rest).collect()
}

/// Returns the path of the script and its arguments, without the word for the interpreter.
fn script_of(argv: &[String]) -> Vec<String> {
    let Some((script, rest)) = argv.get(1..).and_then(<[String]>::split_first) else {
        return Vec::new();
    };
    // From the root, so that no name is taken for an option.
    let script = script.strip_prefix("/in/").unwrap_or(script);
    [format!("/in/{script}")].into_iter().chain(rest.iter().cloned()).collect()
}

/// Returns the MiB of a request's memory that are left for its code, if any are.
pub(crate) fn code_memory_mb(request: &Request, rule: &BackendRule) -> Option<u64> {
    request.memory_limit_mb().checked_sub(rule.memory_extra_mb()).filter(|left| *left > 0)
}

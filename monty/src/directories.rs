//! The directories of a script. monty-fs opens each once and resolves every path below that
//! descriptor, so neither `..` nor a link leads out. Must never mount a third directory.

use std::path::PathBuf;

use monty_fs::{Mount, MountCallOutcome, MountMode, MountTable};
use monty_types::{ExtFunctionResult, OsFunctionCall};

use crate::failure::MontyFailure;

/// The directories behind `/in` and `/out`.
#[derive(Clone, Debug)]
pub struct ScriptDirectories {
    /// `/in`, which the script can only read.
    pub input: PathBuf,
    /// `/out`, which the script can read and write.
    pub output: PathBuf,
}

impl ScriptDirectories {
    /// Opens both directories. A file that would fill the memory raises an exception.
    pub(crate) fn mount(&self, memory_bytes: usize) -> Result<MountTable, MontyFailure> {
        // While a script reads a file, its content is held twice.
        let largest = u64::try_from(memory_bytes / 2).unwrap_or(u64::MAX);
        let mut table = MountTable::new();
        for (place, directory, mode) in [
            ("/in", &self.input, MountMode::ReadOnly),
            ("/out", &self.output, MountMode::ReadWrite),
        ] {
            let mount = Mount::new(place, directory, mode, None).map_err(|why| {
                let help = "give the script both directories";
                MontyFailure::Refused(format!("{place}: {why}; help: {help}"))
            })?;
            table.push_mount(mount.with_memory_usage_limit(largest));
        }
        Ok(table)
    }
}

/// Answers a call of the interpreter. Without a directory that covers it, the call is denied:
/// paths with `PermissionError`, clock and environment with `RuntimeError`.
pub(crate) fn answer_host_call(call: OsFunctionCall, files: &mut MountTable) -> ExtFunctionResult {
    match files.handle_os_call(call) {
        MountCallOutcome::Handled(Ok(value)) => value.into(),
        MountCallOutcome::Handled(Err(why)) => why.into_exception().into(),
        MountCallOutcome::NotHandled(call) => call.on_no_handler().into(),
    }
}

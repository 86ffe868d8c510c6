//! A bench with the program of the backend `monty`, a policy that offers it, and requests for it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use toolexec_tests::{Bench, CliOutput, RequestText, SavedRequest, programs, skip};

const PROGRAM: &str = "toolexec-monty";

/// The entry of the policy for monty.
pub(super) const ENTRY: &str = "monty: {kind: interpreter, program: auto, memory_extra_mb: 16}";

/// A bench whose programs include the interpreter.
pub(super) struct CodeBench<'a> {
    bench: &'a Bench,
}

impl<'a> CodeBench<'a> {
    /// Copies the interpreter beside the other programs. Logs a skip if it is not built.
    pub(super) fn of(bench: &'a Bench, test: &str) -> Option<Self> {
        let built = programs().join(PROGRAM);
        if !built.is_file() {
            skip(test, &format!("{}: not built", built.display()));
            return None;
        }
        let scene = Self { bench };
        fs::copy(built, scene.program()).unwrap();
        fs::set_permissions(scene.program(), Permissions::from_mode(0o755)).unwrap();
        Some(scene)
    }

    pub(super) fn program(&self) -> PathBuf {
        self.bench.scratch().path().join("bin").join(PROGRAM)
    }

    /// Writes the embedded policy with this entry.
    pub(super) fn policy(&self, entry: &str) -> PathBuf {
        self.bench.scratch().file("policy.yaml", policy_text(self.bench, entry))
    }

    /// Runs a request under the policy with monty.
    #[track_caller]
    pub(super) fn run(&self, request: &RequestText) -> CliOutput {
        self.run_saved(&self.bench.save(request), &self.policy(ENTRY))
    }

    pub(super) fn run_saved(&self, request: &SavedRequest, policy: &Path) -> CliOutput {
        let mut command = self.bench.command("toolexec");
        command.args(["run", "--format", "json", "--policy"]).arg(policy).arg(&request.path);
        CliOutput::of(with_inputs(&mut command, request))
    }
}

fn with_inputs<'a>(command: &'a mut Command, request: &SavedRequest) -> &'a mut Command {
    if request.inputs.is_dir() { command.arg("--inputs").arg(&request.inputs) } else { command }
}

/// The embedded policy with this entry under `backends`.
pub(super) fn policy_text(bench: &Bench, entry: &str) -> String {
    let policy = bench.toolexec(["policy", "show", "embedded"]).stdout;
    assert!(policy.contains("\nbackend: confined\n"), "{policy}");
    let backends = format!("\nbackend: confined\nbackends:\n  {entry}\n");
    policy.replacen("\nbackend: confined\n", &backends, 1)
}

/// A request with code, in upstream's form.
pub(super) fn code(code: &str, inputs: &str) -> RequestText {
    let code = format!("```python\n{code}\n```");
    let sections = format!("## Code\n\n{code}\n\n## Inputs (JSON)\n\n{inputs}\n");
    RequestText::of("python", "python")
        .edit("## Command\n\npython\n\n## Input Files\n\nNone.\n", &sections)
        .edit("network: ", "backend: \"monty\"\nnetwork: ")
        .memory_mb(64)
}

/// A request that runs `script.py` with one argument.
pub(super) fn script(text: &str) -> RequestText {
    RequestText::python(text)
        .command("python script.py /in/script.py")
        .edit("network: ", "backend: \"monty\"\nnetwork: ")
        .memory_mb(64)
}

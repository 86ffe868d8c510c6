//! The program, a scratch directory with `in` and `out`, and the output of a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};

/// Enough for every test that is not about limits, on a busy machine.
pub(crate) const LIMITS: [&str; 4] = ["--time-ms", "60000", "--memory-mb", "256"];

pub(crate) struct MontyBench(PathBuf);

impl MontyBench {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolexec-monty-{}-{number}", std::process::id());
        let bench = Self(fs::canonicalize(std::env::temp_dir()).unwrap().join(name));
        for directory in ["in", "out"] {
            fs::create_dir_all(bench.path(directory)).unwrap();
        }
        bench
    }

    /// Returns the path of a file of the scratch directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs pure code, with options before it.
    pub(crate) fn run(&self, code: &str, options: &[&str]) -> MontyOutput {
        let file = self.write("code.py", code);
        let mut program = program();
        program.arg("run").args(LIMITS).args(options).arg(file);
        MontyOutput::of(&mut program)
    }

    /// Runs pure code, and returns the text of its result file.
    pub(crate) fn result(&self, code: &str) -> String {
        let path = self.path("result.json");
        if path.exists() {
            fs::remove_file(&path).unwrap();
        }
        let output = self.run(code, &["--result", path.to_str().unwrap()]);
        assert_eq!((output.status, output.err.as_str()), (0, ""), "{code}");
        self.read("result.json").trim_end().to_owned()
    }

    /// Runs a script file with `in` and `out` as its directories.
    pub(crate) fn script(&self, file: &Path, arguments: &[&str]) -> MontyOutput {
        let mut program = program();
        program.arg("script").args(LIMITS);
        program.arg("--in-dir").arg(self.path("in")).arg("--out-dir").arg(self.path("out"));
        MontyOutput::of(program.arg(file).args(arguments))
    }

    /// Runs a script that is given as text.
    pub(crate) fn script_text(&self, code: &str) -> MontyOutput {
        self.script(&self.write("script.py", code), &[])
    }
}

impl Drop for MontyBench {
    fn drop(&mut self) {
        let removed = fs::remove_dir_all(&self.0);
        if !std::thread::panicking() {
            removed.unwrap();
        }
    }
}

pub(crate) fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_toolexec-monty"))
}

#[derive(Debug)]
pub(crate) struct MontyOutput {
    /// -1 after a signal.
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl MontyOutput {
    pub(crate) fn of(program: &mut Command) -> Self {
        Self::from(program.output().unwrap())
    }
}

impl From<Output> for MontyOutput {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self {
            status: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

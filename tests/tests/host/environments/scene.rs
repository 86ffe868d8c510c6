//! An environment from a directory with one small package and one program, and requests that name
//! it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use toolexec_tests::{Bench, CliOutput, RequestText};

/// The words that the package returns.
pub(super) const WORDS: &str = "hello from the environment";

/// A script that prints and writes the words.
pub(super) const SCRIPT: &str = "import sys\n\
                                 sys.path.insert(0, '/cache/env')\n\
                                 import greeting\n\
                                 print(greeting.words())\n\
                                 open('/out/words.txt', 'w').write(greeting.words())\n";

const PROGRAM: &str = "#!/usr/bin/python3\nimport sys\nprint('greetings', *sys.argv[1:])\n";

/// A bench with stores of environments. Their directories are read-only, and become writable when
/// this is dropped, so that the bench can remove them.
pub(super) struct EnvironmentBench<'a> {
    bench: &'a Bench,
}

impl<'a> EnvironmentBench<'a> {
    pub(super) fn of(bench: &'a Bench) -> Self {
        Self { bench }
    }

    /// Builds an environment from a directory or an image, and returns its reference.
    #[track_caller]
    pub(super) fn build(&self, name: &str, from: &Path) -> String {
        let mut command = self.bench.command("toolexec");
        command.args(["env", "build", name, "--format", "json", "--from"]).arg(from);
        let output = CliOutput::of(&mut command);
        output.assert_code(0);
        let reference = output.json()["environment"].as_str().unwrap().to_owned();
        assert!(reference.starts_with(&format!("{name}@sha256:")), "{reference}");
        reference
    }

    /// Builds `charts` from [`package`].
    #[track_caller]
    pub(super) fn build_package(&self) -> String {
        self.build("charts", &package(self.bench))
    }

    /// The tree of a stored environment.
    pub(super) fn tree(&self, reference: &str) -> PathBuf {
        tree_in(&self.bench.state().join("environments"), reference)
    }
}

impl Drop for EnvironmentBench<'_> {
    fn drop(&mut self) {
        let home = self.bench.home();
        let changed = Command::new("chmod").args(["-R", "u+w"]).arg(home).status();
        assert!(changed.is_ok() || std::thread::panicking(), "{changed:?}");
    }
}

/// The tree of an environment in a store.
pub(super) fn tree_in(store: &Path, reference: &str) -> PathBuf {
    store.join(format!("sha256-{}", digest(reference))).join("content/tree")
}

/// The digits of a reference's digest.
pub(super) fn digest(reference: &str) -> &str {
    reference.split_once("@sha256:").unwrap().1
}

/// Writes a directory with the package `greeting` and the program `greet`.
pub(super) fn package(bench: &Bench) -> PathBuf {
    let package = bench.scratch().dir("package");
    let module = format!("def words():\n    return '{WORDS}'\n");
    write(&package.join("greeting/__init__.py"), module, 0o644);
    write(&package.join("bin/greet"), PROGRAM, 0o755);
    package
}

/// Writes a file with this mode, and its directories.
pub(super) fn write(path: &Path, content: impl AsRef<[u8]>, mode: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Makes a request name an environment.
pub(super) fn naming(request: RequestText, reference: &str) -> RequestText {
    let key = format!("x-environment: \"{reference}\"\nconstraints:\n");
    request.edit("constraints:\n", &key)
}

/// A request that runs [`SCRIPT`] with an environment.
pub(super) fn request(reference: &str) -> RequestText {
    naming(RequestText::python(SCRIPT).output("words.txt"), reference)
}

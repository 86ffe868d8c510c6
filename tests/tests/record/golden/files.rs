//! The place of the golden files, and copies of them that a test may change. It must never write to the files
//! themselves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use toolexec_tests::{Bench, CliOutput, list, workspace};

/// The directory in which `tests/golden/make` created the files. Outputs and configurations contain
/// this path.
pub(super) const MADE_IN: &str = "/tmp/toolexec-golden";

/// Returns the directory of each version.
pub(super) fn versions() -> Vec<PathBuf> {
    let golden = workspace().join("tests/golden");
    let names = list(&golden).into_iter().filter(|name| name.starts_with('v'));
    let versions: Vec<_> = names.map(|name| golden.join(name)).collect();
    assert!(!versions.is_empty(), "{}: no version", golden.display());
    versions
}

/// Returns every file below a directory, relative to it and sorted.
pub(super) fn files(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for name in list(directory) {
        let path = directory.join(&name);
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|below| format!("{name}/{below}")));
        } else {
            found.push(name);
        }
    }
    found.sort();
    found
}

/// Changes one bit of the byte in the middle of a file, or adds a byte to an empty file. Returns the old content.
pub(super) fn change(path: &Path) -> Vec<u8> {
    let good = fs::read(path).unwrap();
    let mut changed = good.clone();
    match changed.get_mut(good.len() / 2) {
        Some(byte) => *byte ^= 1,
        None => changed.push(b'x'),
    }
    fs::write(path, changed).unwrap();
    good
}

/// A copy of the files of one version.
pub(super) struct Golden<'a> {
    pub(super) bench: &'a Bench,
    place: PathBuf,
}

impl<'a> Golden<'a> {
    /// Copies them into the bench's home, and sets the modes that git does not keep.
    pub(super) fn copy(bench: &'a Bench, version: &Path) -> Self {
        let place = bench.home().join("golden");
        let mut copy = Command::new("cp");
        CliOutput::of(copy.args(["-r", "--no-preserve=all"]).arg(version).arg(&place))
            .assert_code(0);
        CliOutput::of(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(&place)).assert_code(0);
        let golden = Self { bench, place };
        for state in ["state", "service/state"] {
            let state = golden.at(state);
            CliOutput::of(Command::new("chmod").args(["-R", "go="]).arg(state)).assert_code(0);
        }
        golden
    }

    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    pub(super) fn at(&self, path: &str) -> PathBuf {
        self.place.join(path)
    }

    /// Returns the only entry of a directory whose name has this ending.
    #[track_caller]
    pub(super) fn only(&self, directory: &str, end: &str) -> PathBuf {
        let directory = self.at(directory);
        let mut names = list(&directory);
        names.retain(|name| name.ends_with(end));
        assert_eq!(names.len(), 1, "{}: {names:?}", directory.display());
        directory.join(names.remove(0))
    }

    /// Returns the result directories of the embedded state.
    pub(super) fn results(&self) -> Vec<PathBuf> {
        let results = self.at("state/results");
        list(&results).into_iter().map(|name| results.join(name)).collect()
    }

    /// Runs `toolexec verify` with the published keys.
    pub(super) fn verify(&self, path: &Path, more: &[&str]) -> CliOutput {
        let mut command = self.bench.command("toolexec");
        command.arg("verify").arg(path).args(["--state", "/nowhere"]);
        command.arg("--result-keys").arg(self.at("keys/signers"));
        CliOutput::of(command.arg("--log-key").arg(self.at("keys/log.vkey")).args(more))
    }
}

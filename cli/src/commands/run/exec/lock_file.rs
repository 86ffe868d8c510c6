//! The lock file of `exec --env auto`. Exactly one must exist in the directory. It is only read
//! here: the build checks each of its packages.

use std::path::{Path, PathBuf};

use environments::SourceKind;
use model::{EnvironmentName, Sha256, escape_line};
use serde_json::Value;
use trees::{Environment, EnvironmentStore};

use crate::args::files::read_document;
use crate::failure::Failure;
use crate::output::figures::count;

/// The names that are looked for.
const NAMES: [(&str, SourceKind); 3] = [
    ("uv.lock", SourceKind::UvLock),
    ("requirements.txt", SourceKind::Requirements),
    ("package-lock.json", SourceKind::PackageLock),
];
const BYTES_MAX: usize = 16 << 20;
const NAME_CHARS_MAX: usize = 40;
const DEFAULT_NAME: &str = "environment";

pub(super) struct LockFile {
    /// The absolute path.
    pub(super) path: PathBuf,
    pub(super) kind: SourceKind,
    name: &'static str,
    sha256: Sha256,
    /// The number of packages that it names.
    packages: u64,
}

impl LockFile {
    /// Finds the lock file of a directory, or returns the reason why none can be chosen.
    pub(super) fn find(directory: &Path) -> Result<Result<Self, String>, Failure> {
        let directory = std::fs::canonicalize(directory).map_err(Failure::io(directory))?;
        let found: Vec<_> =
            NAMES.into_iter().filter(|(name, _)| directory.join(name).exists()).collect();
        let shown = escape_line(&directory.to_string_lossy());
        match found.as_slice() {
            [(name, kind)] => Self::read(directory.join(name), name, *kind).map(Ok),
            [] => {
                let names = model::alternatives(&NAMES.map(|(name, _)| name));
                let help = "write one, or name an environment with --env NAME";
                Ok(Err(format!("--env auto: {shown}: has no {names}; help: {help}")))
            }
            several => {
                let names: Vec<&str> = several.iter().map(|(name, _)| *name).collect();
                let names = names.join(" and ");
                let help = "build one with `toolexec env build`, and name it with --env NAME";
                Ok(Err(format!("--env auto: {shown}: has {names}; help: {help}")))
            }
        }
    }

    fn read(path: PathBuf, name: &'static str, kind: SourceKind) -> Result<Self, Failure> {
        let bytes = read_document(&path, BYTES_MAX)?;
        let packages = packages(kind, &String::from_utf8_lossy(&bytes));
        Ok(Self { path, kind, name, sha256: Sha256::of(&bytes), packages })
    }

    /// Returns whether the file still has the bytes that were read.
    pub(super) fn is_unchanged(&self) -> Result<bool, Failure> {
        Ok(Sha256::of(&read_document(&self.path, BYTES_MAX)?) == self.sha256)
    }

    /// Returns the newest environment of a store that was built from these bytes under this name.
    pub(super) fn built_in(&self, store: &Path) -> Result<Option<Environment>, Failure> {
        let listed = match EnvironmentStore::open(store).and_then(|store| store.list()) {
            Err(error) if error.is_missing() => return Ok(None),
            listed => listed.map_err(|error| Failure::Message(error.to_string()))?,
        };
        let is_of_file = |environment: &Environment| {
            let source = &environment.build.source;
            source.sha256 == self.sha256 && source.file == self.name
        };
        Ok(listed.into_iter().filter(is_of_file).max_by_key(|found| found.build.built))
    }

    /// Returns the name of its environment: that of the directory, as far as a name can have it.
    pub(super) fn environment_name(&self) -> Result<EnvironmentName, Failure> {
        let directory = self.path.parent().and_then(Path::file_name).unwrap_or_default();
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = directory.to_string_lossy().chars().map(plain).collect();
        let name: String = name.trim_start_matches('-').chars().take(NAME_CHARS_MAX).collect();
        let name = if name.is_empty() { DEFAULT_NAME } else { name.as_str() };
        name.parse().map_err(|error| Failure::Message(format!("--env auto: {name}: {error}")))
    }

    /// Returns what a build would fetch, as rows before the question.
    pub(super) fn rows(&self, name: &EnvironmentName) -> String {
        let path = escape_line(&self.path.to_string_lossy());
        let packages = count(self.packages, "package", "packages");
        format!(
            "env       none is stored for this file: {path}\n\
             fetch     {packages}, with your rights and the network, before the run\n\
             build     environment {name}"
        )
    }
}

/// Counts the packages that a lock file names.
fn packages(kind: SourceKind, text: &str) -> u64 {
    let lines =
        |is_package: fn(&str) -> bool| text.lines().filter(|line| is_package(line.trim())).count();
    let found = match kind {
        SourceKind::UvLock => lines(|line| {
            // The project itself has another source.
            line.starts_with("source = { registry")
        }),
        SourceKind::PackageLock => {
            let lock: Value = serde_json::from_str(text).unwrap_or_default();
            let packages = lock.get("packages").and_then(Value::as_object);
            // The entry without a name is the project itself.
            packages.map_or(0, |all| all.keys().filter(|place| !place.is_empty()).count())
        }
        _ => lines(|line| !line.starts_with(['#', '-']) && line.contains("==")),
    };
    u64::try_from(found).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_counted() {
        let requirements = "# a==1\nb==2 \\\n    --hash=sha256:00\nc==3 --hash=sha256:00\n";
        assert_eq!(packages(SourceKind::Requirements, requirements), 2);
        let uv = "[[package]]\nname = \"own\"\nsource = { virtual = \".\" }\n[[package]]\n\
                  name = \"a\"\nsource = { registry = \"https://pypi.org/simple\" }\n";
        assert_eq!(packages(SourceKind::UvLock, uv), 1);
        let npm = "{\"packages\":{\"\":{},\"node_modules/a\":{},\"node_modules/b\":{}}}";
        assert_eq!(packages(SourceKind::PackageLock, npm), 2);
        assert_eq!(packages(SourceKind::PackageLock, "no JSON"), 0);
    }

    #[test]
    fn the_name_is_that_of_the_directory() {
        let name = |path: &str| {
            let lock = LockFile {
                path: path.into(),
                kind: SourceKind::UvLock,
                name: "uv.lock",
                sha256: Sha256::of(b""),
                packages: 0,
            };
            lock.environment_name().unwrap().to_string()
        };
        assert_eq!(name("/home/My Repo.2/uv.lock"), "my-repo-2");
        assert_eq!(name("/home/.hidden/uv.lock"), "hidden");
        assert_eq!(name("/uv.lock"), DEFAULT_NAME);
    }
}

//! The lock file of `exec --env auto`. Exactly one must exist in the directory. It is only read
//! here: the build checks each of its packages.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use environments::SourceKind;
use model::{EnvironmentName, Sha256, escape_line};
use serde_json::Value;
use trees::{Environment, EnvironmentStore, SourceFacts};

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
/// The number of hosts that the question names.
const HOSTS_SHOWN: usize = 5;
/// No name of a host is longer.
const HOST_CHARS_MAX: usize = 253;
const DEFAULT_NAME: &str = "environment";

pub(super) struct LockFile {
    /// The absolute path.
    pub(super) path: PathBuf,
    pub(super) kind: SourceKind,
    name: &'static str,
    sha256: Sha256,
    /// The number of packages that it names.
    packages: u64,
    /// The sources of its packages.
    origin: String,
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
        let text = String::from_utf8_lossy(&bytes);
        let (packages, origin) = (packages(kind, &text), origin(kind, &text));
        Ok(Self { path, kind, name, sha256: Sha256::of(&bytes), packages, origin })
    }

    /// Returns whether the file still has the bytes that were read.
    pub(super) fn is_unchanged(&self) -> Result<bool, Failure> {
        Ok(Sha256::of(&read_document(&self.path, BYTES_MAX)?) == self.sha256)
    }

    /// Returns the newest environment that a store built from these bytes under this file name. An
    /// imported one does not count: another store states its source, and no digest covers that.
    pub(super) fn built_in(&self, store: &Path) -> Result<Option<Environment>, Failure> {
        let listed = match EnvironmentStore::open(store).and_then(|store| store.list()) {
            Err(error) if error.is_missing() => return Ok(None),
            listed => listed.map_err(|error| Failure::Message(error.to_string()))?,
        };
        let kind = self.kind.as_str().to_owned();
        let source = SourceFacts { kind, file: self.name.to_owned(), sha256: self.sha256 };
        let found = listed.into_iter().filter(|environment| environment.is_built_from(&source));
        Ok(found.max_by_key(|environment| environment.build.built))
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

    /// Returns what a build would fetch, as rows before the question. `is_taken` says that the
    /// store has an environment of this name.
    pub(super) fn rows(&self, name: &EnvironmentName, is_taken: bool) -> String {
        let path = escape_line(&self.path.to_string_lossy());
        let packages = count(self.packages, "package", "packages");
        let origin = &self.origin;
        let replaces = if is_taken { " (replaces the present one of this name)" } else { "" };
        format!(
            "env       none is stored for this file: {path}\n\
             fetch     {packages}, with your rights and the network, before the run\n\
             from      {origin}\n\
             build     environment {name}{replaces}"
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

/// Returns where the packages of a lock file come from.
fn origin(kind: SourceKind, text: &str) -> String {
    if kind != SourceKind::PackageLock {
        // The installer gets names and hashes only.
        return "the Python package index of your settings".to_owned();
    }
    let lock: Value = serde_json::from_str(text).unwrap_or_default();
    let packages = lock.get("packages").and_then(Value::as_object);
    let packages = packages.into_iter().flat_map(|all| all.values());
    let resolved = packages.filter_map(|package| package.get("resolved").and_then(Value::as_str));
    let hosts: BTreeSet<String> = resolved.map(host).collect();
    let shown: Vec<&str> = hosts.iter().take(HOSTS_SHOWN).map(String::as_str).collect();
    match hosts.len().saturating_sub(HOSTS_SHOWN) {
        _ if hosts.is_empty() => "the npm registry of your settings".to_owned(),
        0 => format!("{}, or the npm registry of your settings", shown.join(", ")),
        more => format!(
            "{} and {}, or the npm registry of your settings",
            shown.join(", "),
            count(u64::try_from(more).unwrap_or(u64::MAX), "more host", "more hosts")
        ),
    }
}

/// Returns the host of a URL with its port, without the name and the password of a user.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    // npm reads `\` as `/`.
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    escape_line(&host.chars().take(HOST_CHARS_MAX).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_of_packages_are_named() {
        let of = |urls: &[&str]| {
            let rows: Vec<String> = urls
                .iter()
                .enumerate()
                .map(|(at, url)| format!("\"node_modules/{at}\":{{\"resolved\":\"{url}\"}}"))
                .collect();
            let lock = format!("{{\"packages\":{{\"\":{{}},{}}}}}", rows.join(","));
            origin(SourceKind::PackageLock, &lock)
        };
        let two = of(&["https://b.org/x/y.tgz", "https://me:pw@a.org:8080?x", "https://b.org/z"]);
        assert!(two.starts_with("a.org:8080, b.org, or "), "{two}");
        let hidden = of(&["https://a.org\\\\@b.org/x.tgz"]);
        assert!(hidden.starts_with("a.org, or "), "{hidden}");
        let many: Vec<String> = (0..7).map(|at| format!("https://{at}.org/x.tgz")).collect();
        let many = of(&many.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(many.contains("4.org and 2 more hosts, "), "{many}");
        assert!(origin(SourceKind::UvLock, "").contains("Python package index"));
    }

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
                origin: String::new(),
            };
            lock.environment_name().unwrap().to_string()
        };
        assert_eq!(name("/home/My Repo.2/uv.lock"), "my-repo-2");
        assert_eq!(name("/home/.hidden/uv.lock"), "hidden");
        assert_eq!(name("/uv.lock"), DEFAULT_NAME);
    }
}

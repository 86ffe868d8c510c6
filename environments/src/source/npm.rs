//! Packages of npm: `package-lock.json` beside its `package.json`. Each package must come from a
//! registry and have a digest, which npm verifies. No script of a package runs. Two builds of one
//! file with the same npm give equal trees: npm's own list of what it installed could name another
//! directory, and is removed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::quote;
use serde_json::Value;
use trees::{EnvironmentContent, EnvironmentKind, SourceFacts};

use super::document::{SourceDocument, remove_file, write_new};
use super::error::SourceError;
use super::kind::SourceKind;
use super::model::{BuildEvent, BuiltTree, SourceStep, SourceTools};
use super::program::{command, find, run};
use super::programs::ProgramList;

/// The interpreter that sandboxes have.
const SANDBOX_NODE: &str = "/usr/bin/node";
const SANDBOX_MODULES: &str = "/cache/env/node_modules";
const LOCK: &str = "package-lock.json";
const MANIFEST: &str = "package.json";
const LOCK_HELP: &str = "write the lock file again with `npm install --package-lock-only`";

/// Installs the packages of a lock file.
pub(super) fn build(
    source: &Path,
    into: &Path,
    tools: &SourceTools,
    events: &mut dyn FnMut(BuildEvent),
) -> Result<BuiltTree, SourceError> {
    events(BuildEvent::Step(SourceStep::Checking));
    let document = SourceDocument::read(source)?;
    check(&document.name, document.text()?)?;
    let manifest = SourceDocument::read(&source.with_file_name(MANIFEST))?;
    let node = node_version(tools)?;
    events(BuildEvent::Step(SourceStep::Installing));
    write_new(&into.join(LOCK), &document.bytes)?;
    write_new(&into.join(MANIFEST), &manifest.bytes)?;
    install(into, tools)?;
    for name in [LOCK, MANIFEST, "node_modules/.package-lock.json"] {
        remove_file(&into.join(name))?;
    }
    let mut programs = ProgramList::new(into)?;
    programs.add("node_modules/.bin")?;
    let content = EnvironmentContent {
        kind: EnvironmentKind::Libraries,
        programs: programs.finish(events),
        variables: BTreeMap::from([("NODE_PATH".to_owned(), SANDBOX_MODULES.to_owned())]),
        needs: BTreeMap::from([("node".to_owned(), node)]),
    };
    let kind = SourceKind::PackageLock.as_str().to_owned();
    let SourceDocument { name: file, sha256, .. } = document;
    Ok(BuiltTree { content, source: SourceFacts { kind, file, sha256 } })
}

fn install(into: &Path, tools: &SourceTools) -> Result<(), SourceError> {
    let Some(npm) = find("npm", tools) else {
        return Err(SourceError::missing("npm: not on PATH", "install npm"));
    };
    let mut install = command(&npm, tools)?;
    install.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]);
    run(install.current_dir(into), "npm ci", tools).map(drop)
}

/// Returns the major version of the interpreter in the sandbox.
fn node_version(tools: &SourceTools) -> Result<String, SourceError> {
    let own = Some(PathBuf::from(SANDBOX_NODE)).filter(|node| node.is_file());
    let Some(node) = own.or_else(|| find("node", tools)) else {
        let what = format!("{SANDBOX_NODE}: missing, and node is not on PATH");
        return Err(SourceError::missing(what, "install Node.js"));
    };
    let what = format!("{} --version", node.display());
    let printed = run(command(&node, tools)?.arg("--version"), &what, tools)?;
    let major = printed.trim().trim_start_matches('v').split('.').next().unwrap_or_default();
    match !major.is_empty() && major.bytes().all(|byte| byte.is_ascii_digit()) {
        true => Ok(major.to_owned()),
        false => {
            let what = format!("{what}: not a version: {}", quote(printed.trim()));
            Err(SourceError::refused(what, "install Node.js again"))
        }
    }
}

/// Checks that each package comes from a registry and has a digest.
fn check(file: &str, text: &str) -> Result<(), SourceError> {
    let refused = |problem: &str| SourceError::refused(format!("{file}: {problem}"), LOCK_HELP);
    let lock: Value =
        serde_json::from_str(text).map_err(|error| refused(&format!("not JSON: {error}")))?;
    let version = lock.get("lockfileVersion").and_then(Value::as_u64);
    if !matches!(version, Some(2 | 3)) {
        return Err(refused("lockfileVersion is not 2 or 3"));
    }
    let packages = lock.get("packages").and_then(Value::as_object);
    let packages = packages.ok_or_else(|| refused("has no `packages`"))?;
    // The entry without a name is the project itself.
    let installed = || packages.iter().filter(|(place, _)| !place.is_empty());
    if installed().next().is_none() {
        return Err(refused("names no packages"));
    }
    for (place, package) in installed() {
        if let Some(problem) = package_problem(package) {
            return Err(refused(&format!("{}: {problem}", quote(place))));
        }
    }
    Ok(())
}

fn package_problem(package: &Value) -> Option<&'static str> {
    let is_set = |name: &str| package.get(name).and_then(Value::as_bool) == Some(true);
    let text = |name: &str| package.get(name).and_then(Value::as_str).unwrap_or_default();
    if is_set("link") {
        return Some("is a link to a directory");
    }
    // A bundled package is part of the archive of another one, which has the digest.
    if is_set("inBundle") {
        return None;
    }
    let has_digest = ["sha512-", "sha384-", "sha256-"]
        .iter()
        .any(|name| text("integrity").split_whitespace().any(|digest| digest.starts_with(name)));
    match text("resolved") {
        "" => Some("has no `resolved`"),
        url if !url.starts_with("https://") => Some("comes from no registry (`resolved`)"),
        _ if !has_digest => Some("has no `integrity` with SHA-2"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\"resolved\":\"https://registry.npmjs.org/a/-/a-1.0.0.tgz\",\
                        \"integrity\":\"sha512-aaaa\"";

    fn problem(version: u64, package: &str) -> Option<String> {
        let text = format!(
            "{{\"lockfileVersion\":{version},\"packages\":{{\"\":{{}},\
             \"node_modules/a\":{{{package}}}}}}}"
        );
        check("package-lock.json", &text).err().map(|error| error.to_string())
    }

    #[test]
    fn packages_of_a_registry_with_digests_are_accepted() {
        assert_eq!(problem(3, GOOD), None);
        assert_eq!(problem(2, GOOD), None);
        assert_eq!(problem(3, "\"inBundle\":true"), None);
    }

    #[test]
    fn other_packages_are_refused_by_name() {
        for (version, package, word) in [
            (1, GOOD, "lockfileVersion"),
            (3, "\"link\":true,\"resolved\":\"packages/a\"", "a link"),
            (3, "\"integrity\":\"sha512-aaaa\"", "no `resolved`"),
            (3, "\"resolved\":\"git+ssh://git@example.org/a.git#1\"", "no registry"),
            (3, "\"resolved\":\"file:a.tgz\",\"integrity\":\"sha512-aaaa\"", "no registry"),
            (3, "\"resolved\":\"https://example.org/a.tgz\"", "no `integrity`"),
            (3, "\"resolved\":\"https://a/a.tgz\",\"integrity\":\"sha1-aaaa\"", "no `integrity`"),
        ] {
            let problem = problem(version, package).unwrap_or_default();
            assert!(problem.contains(word), "{package}: {problem}");
            assert!(problem.starts_with("package-lock.json: "), "{problem}");
        }
    }
}

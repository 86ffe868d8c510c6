//! Packages of npm: `package-lock.json` beside its `package.json`. Each package must come from a
//! registry and have a digest, which npm verifies. No script of a package runs. Two builds of one
//! file with the same npm give equal trees: npm's own list of what it installed could name another
//! directory, and is removed once it is checked.

mod lock;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::quote;
use trees::{EnvironmentContent, EnvironmentKind, SourceFacts};

use super::document::{SourceDocument, remove_file, write_new};
use super::error::SourceError;
use super::installer::installer;
use super::kind::SourceKind;
use super::model::{BuildEvent, BuiltTree, SourceInstaller, SourceStep, SourceTools};
use super::program::{command, find, run};
use super::programs::ProgramList;

/// The interpreter that sandboxes have.
const SANDBOX_NODE: &str = "/usr/bin/node";
const SANDBOX_MODULES: &str = "/cache/env/node_modules";
const LOCK: &str = "package-lock.json";
const MANIFEST: &str = "package.json";
/// npm's own list of what it installed.
const INSTALLED: &str = "node_modules/.package-lock.json";

/// Installs the packages of a lock file.
pub(super) fn build(
    source: &Path,
    into: &Path,
    tools: &SourceTools,
    events: &mut dyn FnMut(BuildEvent),
) -> Result<BuiltTree, SourceError> {
    events(BuildEvent::Step(SourceStep::Checking));
    let document = SourceDocument::read(source)?;
    lock::check(&document.name, document.text()?)?;
    let manifest = SourceDocument::read(&source.with_file_name(MANIFEST))?;
    let node = node_version(tools)?;
    events(BuildEvent::Step(SourceStep::Installing));
    write_new(&into.join(LOCK), &document.bytes)?;
    write_new(&into.join(MANIFEST), &manifest.bytes)?;
    let installer = install(into, tools)?;
    // npm installs a package without its digest if the lock file only claims that it is bundled.
    lock::check(INSTALLED, SourceDocument::read(&into.join(INSTALLED))?.text()?)?;
    for name in [LOCK, MANIFEST, INSTALLED] {
        remove_file(&into.join(name))?;
    }
    let mut programs = ProgramList::of_libraries(into)?;
    programs.add("node_modules/.bin")?;
    let content = EnvironmentContent {
        kind: EnvironmentKind::Libraries,
        programs: programs.finish(events),
        variables: BTreeMap::from([("NODE_PATH".to_owned(), SANDBOX_MODULES.to_owned())]),
        needs: BTreeMap::from([("node".to_owned(), node)]),
    };
    let kind = SourceKind::PackageLock.as_str().to_owned();
    let SourceDocument { name: file, sha256, .. } = document;
    let source = SourceFacts { kind, file, sha256 };
    Ok(BuiltTree { content, source, installer: Some(installer) })
}

fn install(into: &Path, tools: &SourceTools) -> Result<SourceInstaller, SourceError> {
    let Some(npm) = find("npm", tools) else {
        return Err(SourceError::missing("npm: not on PATH", "install npm"));
    };
    let mut install = command(&npm, tools)?;
    install.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]);
    run(install.current_dir(into), "npm ci", tools)?;
    installer("npm", &mut command(&npm, tools)?, tools)
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

//! Python packages: requirements with hashes, or the lock file of uv. Two builds of one file with
//! the same tools give equal trees. These could differ, and are made equal: the installer's own
//! files and `RECORD` (`tidy`), the interpreter's path in scripts (`scripts`), and byte code. That
//! is compiled with one hash seed, in one order, without times, and with paths of the sandbox.

mod install;
mod interpreter;
mod lock;
mod requirements;
mod scripts;
mod tidy;

use std::collections::BTreeMap;
use std::path::Path;

use trees::{EnvironmentContent, EnvironmentKind, SourceFacts};

use self::interpreter::PythonInterpreter;
use super::document::{SourceDocument, write_new};
use super::error::SourceError;
use super::kind::SourceKind;
use super::model::{BuildEvent, BuiltTree, SourceStep, SourceTools};
use super::program::{command, failure, run_to_end};
use super::programs::ProgramList;

/// The directory of the libraries in the sandbox.
const SANDBOX_TREE: &str = "/cache/env";

/// Installs the packages that a file names.
pub(super) fn build(
    source: &Path,
    kind: SourceKind,
    into: &Path,
    tools: &SourceTools,
    events: &mut dyn FnMut(BuildEvent),
) -> Result<BuiltTree, SourceError> {
    events(BuildEvent::Step(SourceStep::Checking));
    let document = SourceDocument::read(source)?;
    let python = PythonInterpreter::of(tools)?;
    let requirements = match kind {
        SourceKind::UvLock => {
            let text = lock::export(source, &document, &python, tools)?;
            requirements::parse("uv export", &text)?
        }
        _ => requirements::parse(&document.name, document.text()?)?,
    };
    let file = tools.scratch.join("requirements.txt");
    write_new(&file, requirements::render(&requirements).as_bytes())?;
    events(BuildEvent::Step(SourceStep::Installing));
    let installer = install::install(&file, into, &python, tools)?;
    tidy::tidy(into)?;
    scripts::replace_interpreters(&into.join("bin"), &python.path)?;
    events(BuildEvent::Step(SourceStep::Compiling));
    compile(into, &python, tools)?;
    let mut programs = ProgramList::of_libraries(into)?;
    programs.add("bin")?;
    let content = EnvironmentContent {
        kind: EnvironmentKind::Libraries,
        programs: programs.finish(events),
        variables: BTreeMap::from([("PYTHONPATH".to_owned(), SANDBOX_TREE.to_owned())]),
        needs: BTreeMap::from([("python".to_owned(), python.version)]),
    };
    let SourceDocument { name: file, sha256, .. } = document;
    let source = SourceFacts { kind: kind.as_str().to_owned(), file, sha256 };
    Ok(BuiltTree { content, source, installer: Some(installer) })
}

/// Compiles byte code, which the sandbox cannot store. A file with an error of syntax stays as it
/// is: packages contain such files for their tests.
fn compile(
    tree: &Path,
    python: &PythonInterpreter,
    tools: &SourceTools,
) -> Result<(), SourceError> {
    let what = format!("{} -m compileall", python.path.display());
    let mut compiler = command(&python.path, tools)?;
    // Not `-I`, which ignores the seed: sets of constants are written in the order of their hashes.
    compiler.env("PYTHONHASHSEED", "0").args(["-s", "-m", "compileall", "-q"]);
    compiler.args(["--invalidation-mode", "unchecked-hash", "-s"]).arg(tree);
    compiler.args(["-p", SANDBOX_TREE]).arg(tree);
    let ended = run_to_end(&mut compiler, &what, tools)?;
    match ended.status.code() {
        Some(0) => Ok(()),
        // It also reports a file that it cannot write so.
        Some(1) if !ended.stdout.contains("[Errno ") => Ok(()),
        _ => Err(failure(&format!("{what}: {}", ended.status), &ended.last_lines)),
    }
}

//! Sources of environments: lock files, images, lists of packages and directories. Each becomes a
//! tree with its description. A build must never run code of a package, nor accept a package
//! without a digest or signature, nor write outside of the tree and the scratch directory.

mod debian;
mod directory;
mod document;
mod error;
mod image;
mod installer;
mod interrupt;
mod kind;
mod model;
mod npm;
mod program;
mod program_end;
mod programs;
mod python;

use std::collections::BTreeMap;
use std::path::Path;

use trees::{EnvironmentContent, EnvironmentKind, LinkRule, SourceFacts};

use directory::copy_directory;
pub use error::SourceError;
pub use interrupt::BuildInterrupt;
pub use kind::SourceKind;
pub use model::{BuildEvent, BuiltTree, SourceInstaller, SourceStep, SourceTools};

/// Builds the tree of a source in an empty directory.
///
/// # Errors
/// The source is not acceptable, a program fails or is missing, or an I/O error. The tree is
/// incomplete then.
pub fn build_tree(
    source: &Path,
    kind: SourceKind,
    into: &Path,
    tools: &SourceTools,
    events: &mut dyn FnMut(BuildEvent),
) -> Result<BuiltTree, SourceError> {
    match kind {
        SourceKind::Requirements | SourceKind::UvLock => {
            python::build(source, kind, into, tools, events)
        }
        SourceKind::PackageLock => npm::build(source, into, tools, events),
        SourceKind::OciLayout | SourceKind::DockerArchive => {
            image::build(source, kind, into, tools, events)
        }
        SourceKind::Debian => debian::build(source, into, tools, events),
        SourceKind::Directory => copy(source, into, tools, events),
    }
}

/// Copies a directory. Its digest is that of the copy, which no other process changes.
fn copy(
    source: &Path,
    into: &Path,
    tools: &SourceTools,
    events: &mut dyn FnMut(BuildEvent),
) -> Result<BuiltTree, SourceError> {
    events(BuildEvent::Step(SourceStep::Copying));
    let mut progress = |bytes| events(BuildEvent::Bytes(bytes));
    let limits = tools.tree_limits();
    let sha256 = copy_directory(source, into, LinkRule::Inside, &limits, &mut progress)?;
    let mut programs = programs::ProgramList::of_libraries(into)?;
    programs.add("bin")?;
    let content = EnvironmentContent {
        kind: EnvironmentKind::Libraries,
        programs: programs.finish(events),
        variables: BTreeMap::new(),
        needs: BTreeMap::new(),
    };
    let kind = SourceKind::Directory.as_str().to_owned();
    let file = document::file_name(source);
    let source = SourceFacts { kind, file, sha256 };
    Ok(BuiltTree { content, source, installer: None })
}

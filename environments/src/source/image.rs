//! Images: an OCI layout or a docker archive becomes a root file system. Its programs are those on
//! the image's search path that the launcher shows. Variables that no environment may set are left
//! out.

use std::collections::BTreeMap;
use std::path::Path;

use model::is_reserved_variable;
use trees::{EnvironmentContent, EnvironmentKind, SourceFacts};

use super::document::file_name;
use super::error::SourceError;
use super::kind::SourceKind;
use super::model::{BuildEvent, BuiltTree, SourceStep, SourceTools};
use super::programs::ProgramList;
use crate::{unpack_docker_archive, unpack_oci_layout};

/// The search path of an image that sets none, as container runtimes have it.
const PATH_WITHOUT_ONE: [&str; 6] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Unpacks an image.
pub(super) fn build(
    source: &Path,
    kind: SourceKind,
    into: &Path,
    tools: &SourceTools,
    events: &mut dyn FnMut(BuildEvent),
) -> Result<BuiltTree, SourceError> {
    events(BuildEvent::Step(SourceStep::Unpacking));
    let mut progress = |bytes| events(BuildEvent::Bytes(bytes));
    let facts = match kind {
        SourceKind::DockerArchive => {
            unpack_docker_archive(source, into, &tools.limits, &mut progress)
        }
        _ => unpack_oci_layout(source, into, &tools.limits, &mut progress),
    };
    let facts = facts.map_err(SourceError::unpack(source))?;
    let mut programs = ProgramList::of_root(into)?;
    let path = match facts.path.is_empty() {
        true => PATH_WITHOUT_ONE.map(str::to_owned).to_vec(),
        false => facts.path,
    };
    for directory in &path {
        programs.add(directory)?;
    }
    let (reserved, mut variables): (BTreeMap<String, String>, BTreeMap<_, _>) =
        facts.env.into_iter().partition(|(name, _)| is_reserved_variable(name));
    if !reserved.is_empty() {
        events(BuildEvent::VariablesLeftOut(reserved.len()));
    }
    // Programs of the image start others by name.
    let path = path.iter().map(|directory| format!("/{}", directory.trim_matches('/')));
    variables.insert("PATH".to_owned(), path.collect::<Vec<_>>().join(":"));
    let content = EnvironmentContent {
        kind: EnvironmentKind::Root,
        programs: programs.finish(events),
        variables,
        needs: BTreeMap::new(),
    };
    let (kind, file) = (kind.as_str().to_owned(), file_name(source));
    let source = SourceFacts { kind, file, sha256: facts.manifest_sha256 };
    Ok(BuiltTree { content, source, installer: None })
}

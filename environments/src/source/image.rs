//! Images: an OCI layout or a docker archive becomes a root file system. Its programs are those on
//! the image's search path.

use std::collections::BTreeMap;
use std::path::Path;

use trees::{EnvironmentContent, EnvironmentKind, SourceFacts};

use super::document::file_name;
use super::error::SourceError;
use super::kind::SourceKind;
use super::model::{BuildEvent, BuiltTree, SourceStep, SourceTools};
use super::programs::ProgramList;
use crate::{unpack_docker_archive, unpack_oci_layout};

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
            unpack_docker_archive(source, into, &tools.limits, &mut progress)?
        }
        _ => unpack_oci_layout(source, into, &tools.limits, &mut progress)?,
    };
    let mut programs = ProgramList::new(into)?;
    for directory in &facts.path {
        programs.add(directory)?;
    }
    let mut variables: BTreeMap<String, String> = facts.env.into_iter().collect();
    if !facts.path.is_empty() {
        // Programs of the image start others by name.
        let path = facts.path.iter().map(|directory| format!("/{}", directory.trim_matches('/')));
        let path = path.collect::<Vec<_>>().join(":");
        variables.entry("PATH".to_owned()).or_insert(path);
    }
    let content = EnvironmentContent {
        kind: EnvironmentKind::Root,
        programs: programs.finish(events),
        variables,
        needs: BTreeMap::new(),
    };
    let (kind, file) = (kind.as_str().to_owned(), file_name(source));
    Ok(BuiltTree { content, source: SourceFacts { kind, file, sha256: facts.manifest_sha256 } })
}

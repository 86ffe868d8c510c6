//! The patch of a run: the differences between an input folder and the tool's copy of it. TOOL-EXEC
//! writes it after the run has ended, from the staged original and the collected changes. It must
//! never open a name of the tool on the host, nor follow a link.

mod fit;
mod original;
mod placement;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use model::RejectReason;
use patches::{PatchError, PatchSummary, PatchWriter};
use rustix::fs::OFlags;
use sandbox::report::{
    ChangedFile, CollectedArtifact, CollectedOutput, FinishedRun, RejectedObject, WorkChanges,
};
use spool::{ResultDraft, Staged, io_text};

use self::original::{FileVersion, OriginalFolder, open_beneath, read_changed};
use self::placement::{HashedFile, PATCH_MODE};

/// The directory of the collected changes in a result, and that of the tool's copy below `/out`.
const WORK: &str = "work";

/// Adds the patch that the request asks for to the collected files, and removes the changes. A
/// patch that would have too many bytes is left out and listed as rejected. If the disk fails, the
/// end of the run stays known; the patch is left out, and the reason is logged.
pub(super) fn add_patch(
    staged: &Staged,
    staging: &Path,
    finished: &mut FinishedRun,
    result: &ResultDraft,
) {
    let request = staged.approved().request();
    let Some(asked) = request.patch() else { return };
    let changes = finished.collected.work.take();
    // Without them, the run must not count as complete.
    finished.facts.collected_all &= changes.is_some();
    if let Some(changes) = changes.filter(|_| has_whole_walk(&finished.collected)) {
        let slot = staging.join(staged.claimed().slot().as_str());
        let bytes_max = bytes_left(staged, &finished.collected);
        let written = OriginalFolder::open(&slot, asked.folder).map_err(PatchError::Io);
        let written = written.and_then(|original| {
            let (result, path) = (result.directory(), asked.path);
            PatchSources { original, result, path, bytes_max }.write(&changes)
        });
        if let Err(error) = settle(finished, asked.path, written) {
            let why = format!("{}: write the patch: {}", asked.path, io_text(&error));
            tracing::error!(request = request.id().as_str(), "the patch is left out: {why}");
        }
    }
    if let Err(error) = result.remove_directory(WORK) {
        tracing::error!(request = request.id().as_str(), "{error}");
    }
}

/// Adds the patch, or the fact that there is none. Returns the error of the disk, if any.
fn settle(
    finished: &mut FinishedRun,
    path: &str,
    written: Result<CollectedArtifact, PatchError>,
) -> io::Result<()> {
    match written {
        Ok(patch) => insert(&mut finished.collected.artifacts, patch),
        Err(PatchError::TooLarge) => reject(finished, path),
        Err(PatchError::Io(error)) => {
            finished.facts.collected_all = false;
            finished.collected.complete = false;
            return Err(error);
        }
    }
    Ok(())
}

/// Returns whether every difference was seen. A patch of some of them would look like all of them.
fn has_whole_walk(collected: &CollectedOutput) -> bool {
    collected.complete && collected.rejected.iter().all(|object| object.path != WORK)
}

/// Returns the bytes that the files of the tool leave of the limit for all files.
fn bytes_left(staged: &Staged, collected: &CollectedOutput) -> u64 {
    let sizes = collected.artifacts.iter().map(|artifact| artifact.size_bytes);
    let kept = sizes.fold(0, u64::saturating_add);
    staged.approved().grant().limits().out_bytes.saturating_sub(kept)
}

fn insert(artifacts: &mut Vec<CollectedArtifact>, patch: CollectedArtifact) {
    let at = artifacts.iter().position(|artifact| artifact.path > patch.path);
    artifacts.insert(at.unwrap_or(artifacts.len()), patch);
}

/// A record lists only some of many rejected objects, the first ones.
fn reject(finished: &mut FinishedRun, path: &str) {
    let object = RejectedObject { path: path.to_owned(), reason: RejectReason::TooBig };
    finished.collected.rejected.insert(0, object);
    finished.facts.output_rejected = true;
}

/// The files of which a patch is made, and its place.
struct PatchSources<'a> {
    original: OriginalFolder,
    /// The directory of the result, with `work/` and `artifacts/`.
    result: BorrowedFd<'a>,
    /// The path of the patch below `artifacts/`.
    path: &'a str,
    bytes_max: u64,
}

impl PatchSources<'_> {
    /// Writes the patch, first among the changes: an incomplete one is removed with them.
    fn write(&self, changes: &WorkChanges) -> Result<CollectedArtifact, PatchError> {
        let work = open_beneath(self.result, WORK, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let mut out = BufWriter::new(HashedFile::create(&work)?);
        let PatchSummary { bytes, .. } = self.write_files(&mut out, &work, changes)?;
        let sha256 = out.into_inner().map_err(IntoInnerError::into_error)?.finish();
        placement::place(&work, self.result, self.path)?;
        let path = self.path.to_owned();
        Ok(CollectedArtifact { path, size_bytes: bytes, mode: PATCH_MODE, sha256 })
    }

    fn write_files(
        &self,
        out: impl Write,
        work: &OwnedFd,
        changes: &WorkChanges,
    ) -> Result<PatchSummary, PatchError> {
        let mut writer = PatchWriter::new(out, self.bytes_max);
        for (path, change) in by_path(changes) {
            let before = self.original.read(path)?;
            let after =
                change.map(|(number, file)| read_changed(work, number, file)).transpose()?;
            let [before, after] = [&before, &after].map(|it| it.as_ref().map(FileVersion::view));
            writer.file(path, before, after)?;
        }
        writer.finish()
    }
}

/// Returns the paths that differ in byte order, each with the number of its new content.
fn by_path(changes: &WorkChanges) -> BTreeMap<&str, Option<(usize, &ChangedFile)>> {
    let removed = changes.removed.iter().map(|path| (path.as_str(), None));
    let changed = changes.changed.iter().enumerate();
    let changed = changed.map(|(number, file)| (file.path.as_str(), Some((number, file))));
    removed.chain(changed).collect()
}

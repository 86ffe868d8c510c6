//! The list of the files of a submission or of a result: JSON of one form only, so that equal lists
//! have one digest. A manifest that any other program wrote, or that was changed, is refused.

mod file;
mod rules;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub(super) use file::{ManifestFile, ManifestFileKind, ManifestMode};

use super::fault::{ManifestFault, ManifestProblem};
use super::model::FILES_MAX;

/// The longest manifest: names of some hundred bytes on average.
pub(super) const MANIFEST_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The name of the format, with its version.
const FORMAT: &str = "toolexec-fleet-manifest 1";

/// The files of a submission or of a result, each in its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Manifest {
    files: Vec<ManifestFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawManifest {
    format: String,
    files: Vec<RawManifestFile>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawManifestFile {
    kind: ManifestFileKind,
    name: String,
    sha256: String,
    bytes: u64,
    mode: ManifestMode,
}

impl Manifest {
    /// Makes the manifest of a submission.
    pub(super) fn of_submission(files: Vec<ManifestFile>) -> Result<Self, ManifestProblem> {
        let made = Self::sorted(files)?;
        rules::check_submission(&made.files)?;
        Ok(made)
    }

    /// Makes the manifest of a result.
    pub(super) fn of_result(files: Vec<ManifestFile>) -> Result<Self, ManifestProblem> {
        let made = Self::sorted(files)?;
        rules::check_result(&made.files)?;
        Ok(made)
    }

    /// Reads the manifest of a submission.
    pub(super) fn parse_submission(bytes: &[u8]) -> Result<Self, ManifestProblem> {
        let parsed = Self::parse(bytes)?;
        rules::check_submission(&parsed.files)?;
        Ok(parsed)
    }

    /// Reads the manifest of a result.
    pub(super) fn parse_result(bytes: &[u8]) -> Result<Self, ManifestProblem> {
        let parsed = Self::parse(bytes)?;
        rules::check_result(&parsed.files)?;
        Ok(parsed)
    }

    /// Returns the files, in the order of kinds and names.
    pub(super) fn files(&self) -> &[ManifestFile] {
        &self.files
    }

    /// Returns the only text of this manifest.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, ManifestProblem> {
        let files = self.files.iter().map(|file| RawManifestFile {
            kind: file.kind,
            name: file.name.clone(),
            sha256: file.sha256.to_string(),
            bytes: file.bytes,
            mode: file.mode,
        });
        let raw = RawManifest { format: FORMAT.to_owned(), files: files.collect() };
        let not_written = |_| ManifestProblem::of_all(ManifestFault::NotAManifest);
        let mut bytes = serde_json::to_vec(&raw).map_err(not_written)?;
        bytes.push(b'\n');
        match u64::try_from(bytes.len()).is_ok_and(|length| length <= MANIFEST_BYTES_MAX) {
            true => Ok(bytes),
            false => Err(ManifestProblem::of_all(ManifestFault::TooLong)),
        }
    }

    fn sorted(mut files: Vec<ManifestFile>) -> Result<Self, ManifestProblem> {
        files.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        let made = Self { files };
        // Its length has a limit too.
        made.to_bytes()?;
        Ok(made)
    }

    fn parse(bytes: &[u8]) -> Result<Self, ManifestProblem> {
        let fault = ManifestProblem::of_all;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MANIFEST_BYTES_MAX {
            return Err(fault(ManifestFault::TooLong));
        }
        let raw: RawManifest =
            serde_json::from_slice(bytes).map_err(|_| fault(ManifestFault::NotAManifest))?;
        if raw.format != FORMAT {
            return Err(fault(ManifestFault::NotAManifest));
        }
        if raw.files.len() > FILES_MAX {
            return Err(fault(ManifestFault::TooManyFiles));
        }
        let mut files = Vec::with_capacity(raw.files.len());
        for RawManifestFile { kind, name, sha256, bytes, mode } in raw.files {
            let sha256 = sha256.parse();
            let sha256 =
                sha256.map_err(|_| ManifestProblem::of(&name, ManifestFault::NotAManifest))?;
            files.push(ManifestFile { kind, name, sha256, bytes, mode });
        }
        let parsed = Self { files };
        // This refuses other spacing, other escapes, keys that appear twice, and digests in
        // capitals.
        match parsed.to_bytes()? == bytes {
            true => Ok(parsed),
            false => Err(fault(ManifestFault::NotCanonical)),
        }
    }
}

//! The facts of a record that verification needs: the time when it was made, and every file with
//! its digest. A record that states a fact twice must never be accepted.

use std::collections::BTreeMap;

use model::{Sha256, UtcTime};
use serde::Deserialize;
use serde_json::Value;

use crate::tree::is_own_file;
use crate::trust::VerifiedSigner;

/// The keys of the front matter that verification needs. Other keys are allowed.
#[derive(Deserialize)]
struct RawRecordFacts {
    result_id: String,
    created_utc: String,
    stdout_sha256: String,
    stderr_sha256: String,
    artifacts: Vec<StatedFile>,
    files: Vec<StatedFile>,
}

#[derive(Deserialize)]
struct StatedFile {
    path: String,
    sha256: String,
}

pub(super) struct ParsedRecord {
    pub(super) md: Vec<u8>,
    pub(super) sha256: Sha256,
    pub(super) front_matter: Value,
    pub(super) facts: RecordFacts,
    /// `None` if the signature does not count.
    pub(super) signed_by: Option<VerifiedSigner>,
}

pub(super) struct RecordFacts {
    created: UtcTime,
    /// Every file that the record names, with its digest.
    stated: BTreeMap<String, Sha256>,
    /// The files below `request/`; the request itself is first.
    request: Vec<String>,
}

impl RecordFacts {
    pub(super) fn read(front: &Value, record: &str) -> Result<Self, String> {
        let keys =
            RawRecordFacts::deserialize(front).map_err(|error| format!("front matter: {error}"))?;
        if keys.result_id != record {
            return Err(format!("result_id is {}", keys.result_id));
        }
        let created = keys.created_utc.parse().map_err(|_| "created_utc: not a time")?;
        let request: Vec<String> = keys.files.iter().map(|file| file.path.clone()).collect();
        let mut stated = BTreeMap::new();
        let streams = [("stdout", keys.stdout_sha256), ("stderr", keys.stderr_sha256)];
        let streams = streams.map(|(path, sha256)| (path.to_owned(), sha256));
        let artifact = |file: StatedFile| (format!("artifacts/{}", file.path), file.sha256);
        let artifacts = keys.artifacts.into_iter().map(artifact);
        let files = keys.files.into_iter().map(|file| (file.path, file.sha256));
        for (path, sha256) in streams.into_iter().chain(artifacts).chain(files) {
            if is_own_file(&path) {
                return Err(format!("{path}: a record cannot name its own files"));
            }
            let digest = sha256.parse().map_err(|_| format!("{path}: not a sha256"))?;
            if stated.insert(path.clone(), digest).is_some() {
                return Err(format!("{path}: named twice"));
            }
        }
        Ok(Self { created, stated, request })
    }

    pub(super) fn created(&self) -> Option<UtcTime> {
        Some(self.created)
    }

    pub(super) fn stated(&self) -> &BTreeMap<String, Sha256> {
        &self.stated
    }

    pub(super) fn request(&self) -> Option<(&str, Sha256)> {
        self.request_files().next()
    }

    /// Returns the sidecar files of the request. A signature may have any name there.
    pub(super) fn request_sidecars(&self) -> impl Iterator<Item = (&str, Sha256)> {
        self.request_files().skip(1)
    }

    fn request_files(&self) -> impl Iterator<Item = (&str, Sha256)> {
        self.request.iter().filter_map(|path| Some((path.as_str(), *self.stated.get(path)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attestation::front_matter;

    #[test]
    fn a_full_record_is_within_the_readers_budget() {
        let mut front = String::from(
            "---\nresult_id: \"x\"\ncreated_utc: \"2026-11-21T12:00:00Z\"\noutcome: \"ok\"\n\
             exit_code: 0\nfiles: []\nextra: {a: [1]}\nartifacts:\n",
        );
        let sha256 = Sha256::of(b"").to_string();
        for number in 0..1000 {
            let path = format!("{}/{number}", "folder".repeat(30));
            front.push_str(&format!(
                "  - path: \"{path}\"\n    sha256: \"{sha256}\"\n    size_bytes: 1\n    mode: \
                 \"0644\"\n    declared: false\n"
            ));
        }
        let streams = format!("stdout_sha256: \"{sha256}\"\nstderr_sha256: \"{sha256}\"\n---\n");
        front.push_str(&streams);
        let front = front_matter(&front).unwrap();
        assert_eq!(RecordFacts::read(&front, "x").map(|it| it.stated().len()), Ok(1002));
        assert!(RecordFacts::read(&front, "y").is_err());
    }
}

//! Whether a result directory is what its record says and whether a trusted key signed the record.
//! It needs nothing but the directory and the trust; it must never change anything, stop at the
//! first fault, or take a fact from a record for true whose signature does not verify.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use serde::Deserialize;
use validator::{Code, ResultId, Severity, Sha256, UtcTime, check_result};

use crate::fault::Fault;
use crate::keys::RESULT_PRINCIPAL;
use crate::tree::{Tree, read_bounded};
use crate::trust::{SignedBy, Trust};

pub(crate) const RECORD_BYTES_MAX: u64 = 4 * 1024 * 1024;
const SIGNATURE_BYTES_MAX: u64 = 64 * 1024;

/// Proof that a directory held exactly what a trusted key signed, when it was looked at.
#[must_use]
#[derive(Debug)]
pub struct Verified {
    result_id: ResultId,
    outcome: String,
    exit_code: i32,
    fingerprint: String,
    files: usize,
}

impl Verified {
    #[must_use]
    pub fn result_id(&self) -> &ResultId {
        &self.result_id
    }

    /// The outcome's word.
    #[must_use]
    pub fn outcome(&self) -> &str {
        &self.outcome
    }

    #[must_use]
    pub fn exit_code(&self) -> i32 {
        self.exit_code
    }

    /// The principal that the signing key was trusted as.
    #[must_use]
    pub fn signer_principal(&self) -> &str {
        RESULT_PRINCIPAL
    }

    /// `SHA256:…` of the signing key.
    #[must_use]
    pub fn signer_fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// How many files were hashed and found to be as stated.
    #[must_use]
    pub fn files_rehashed(&self) -> usize {
        self.files
    }
}

/// The keys of the front matter that verification needs; others may be there.
#[derive(Deserialize)]
struct Facts {
    result_id: String,
    created_utc: String,
    outcome: String,
    exit_code: i32,
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

/// Checks the signature over the exact bytes of the record, the record itself, and every file that
/// it names; and that there is no other.
///
/// # Errors
/// Everything that is wrong, in a fixed order; never an empty list.
pub fn verify(dir: &Path, trust: &Trust) -> Result<Verified, Vec<Fault>> {
    let unusable = |problem: String| {
        vec![Fault::Directory { path: dir.to_string_lossy().into_owned(), problem }]
    };
    // `.` and `x/..` have names too.
    let real = dir.canonicalize().map_err(|error| unusable(format!("opening: {error}")))?;
    let name = real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open(&real, flags, Mode::empty())
        .map_err(|error| unusable(format!("opening: {error}")))?;
    let mut tree = Tree::walk(root.as_fd());
    let mut faults = std::mem::take(&mut tree.faults);
    let Some(record) = record_id(&name, &tree) else {
        faults.insert(0, Fault::Missing { path: format!("{name}.md") });
        return Err(faults);
    };
    if record != name {
        faults.push(Fault::DirectoryName { found: name, result_id: record.clone() });
    }
    let (facts, signed_by) = examine(root.as_fd(), &record, trust, &mut faults);
    let files = facts.as_ref().map_or(0, |facts| compare(facts, &record, &tree, &mut faults));
    match (faults.is_empty(), facts, signed_by, record.parse()) {
        (true, Some(facts), Some(signed_by), Ok(result_id)) => Ok(Verified {
            result_id,
            outcome: facts.outcome,
            exit_code: facts.exit_code,
            fingerprint: signed_by.fingerprint,
            files,
        }),
        _ => Err(faults),
    }
}

/// The id by which the record's files are named: the directory's, or that of the only record in it.
fn record_id(directory: &str, tree: &Tree) -> Option<String> {
    let there = |id: &&str| {
        let file = format!("{id}.md");
        id.parse::<ResultId>().is_ok()
            && (tree.files.contains_key(&file) || tree.odd.contains(&file))
    };
    if there(&directory) {
        return Some(directory.to_owned());
    }
    let mut ids = tree.files.keys().filter_map(|path| path.strip_suffix(".md")).filter(there);
    match (ids.next(), ids.next()) {
        (Some(only), None) => Some(only.to_owned()),
        _ => None,
    }
}

/// Reads record and signature, and checks both.
fn examine(
    root: BorrowedFd<'_>,
    record: &str,
    trust: &Trust,
    faults: &mut Vec<Fault>,
) -> (Option<Facts>, Option<SignedBy>) {
    let file = format!("{record}.md");
    let signature_file = format!("{file}.sig");
    let Some(md) = read(root, &file, RECORD_BYTES_MAX, faults) else { return (None, None) };
    let facts = match Facts::read(&md, record) {
        Ok(facts) => Some(facts),
        Err(problem) => {
            faults.push(Fault::Record { file: file.clone(), problem });
            None
        }
    };
    for violation in check_result(&md, &file) {
        if violation.severity == Severity::Error && !is_about_its_words(violation.code) {
            let (code, line) = (violation.code.as_str(), violation.line);
            let problem = format!("line {line}: {code}: {}", violation.message);
            faults.push(Fault::Record { file: file.clone(), problem });
        }
    }
    let made = facts.as_ref().and_then(|facts| facts.created_utc.parse::<UtcTime>().ok());
    let Some(armoured) = read(root, &signature_file, SIGNATURE_BYTES_MAX, faults) else {
        return (facts, None);
    };
    match trust.check(&armoured, &md, made) {
        Ok(signed_by) => (facts, Some(signed_by)),
        Err(problem) => {
            faults.push(Fault::Signature { file: signature_file, problem });
            (facts, None)
        }
    }
}

/// Rules about what a record tells its reader. They grow stricter with every version of this program;
/// whether these are the bytes that were signed must not change with them.
fn is_about_its_words(code: Code) -> bool {
    matches!(
        code,
        Code::Secret(_)
            | Code::ResultInstruction
            | Code::ResultPayload
            | Code::ResultPolicyClaim
            | Code::TextConfusable
    )
}

fn read(
    root: BorrowedFd<'_>,
    name: &str,
    bytes_max: u64,
    faults: &mut Vec<Fault>,
) -> Option<Vec<u8>> {
    let path = name.to_owned();
    match read_bounded(root, name, bytes_max) {
        Ok(Some(bytes)) => return Some(bytes),
        Ok(None) => faults.push(Fault::TooLarge { path, bytes_max }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            faults.push(Fault::Missing { path });
        }
        // What the walk found odd is told already.
        Err(_)
            if faults
                .iter()
                .any(|fault| matches!(fault, Fault::Kind { path, .. } if path == name)) => {}
        Err(error) => faults.push(Fault::Unreadable { path, problem: error.to_string() }),
    }
    None
}

impl Facts {
    fn read(md: &[u8], record: &str) -> Result<Self, String> {
        let text = std::str::from_utf8(md).map_err(|_| "not UTF-8")?;
        let front = text
            .strip_prefix("---\n")
            .and_then(|rest| rest.split_once("\n---\n"))
            .map(|(front, _)| front)
            .ok_or("no front matter")?;
        let facts: Self =
            serde_yaml::from_str(front).map_err(|error| format!("front matter: {error}"))?;
        if facts.result_id != record {
            return Err(format!("names itself {}", facts.result_id));
        }
        if facts.created_utc.parse::<UtcTime>().is_err() {
            return Err("created_utc: no time".to_owned());
        }
        facts.stated()?;
        Ok(facts)
    }

    /// Every file that the record names, with its digest.
    fn stated(&self) -> Result<BTreeMap<String, Sha256>, String> {
        let mut stated = BTreeMap::new();
        let streams = [("stdout", &self.stdout_sha256), ("stderr", &self.stderr_sha256)];
        let streams = streams.map(|(path, sha256)| (path.to_owned(), sha256));
        let artifacts =
            self.artifacts.iter().map(|file| (format!("artifacts/{}", file.path), &file.sha256));
        let files = self.files.iter().map(|file| (file.path.clone(), &file.sha256));
        for (path, sha256) in streams.into_iter().chain(artifacts).chain(files) {
            let digest = sha256.parse().map_err(|_| format!("{path}: no sha256"))?;
            if stated.insert(path.clone(), digest).is_some() {
                return Err(format!("{path}: named twice"));
            }
        }
        Ok(stated)
    }
}

/// Compares what the record names with what is there; gives how many files are as stated.
fn compare(facts: &Facts, record: &str, tree: &Tree, faults: &mut Vec<Fault>) -> usize {
    // Read once before, when the facts were accepted.
    let Ok(stated) = facts.stated() else { return 0 };
    let mut equal = 0;
    for (path, stated) in &stated {
        match tree.files.get(path) {
            Some(found) if found == stated => equal += 1,
            Some(found) => {
                faults.push(Fault::Digest { path: path.clone(), found: *found, stated: *stated })
            }
            None if tree.odd.contains(path) => {}
            None => faults.push(Fault::Missing { path: path.clone() }),
        }
    }
    let ours = ["md", "md.sig", "bundle.json", "tlog-proof"].map(|end| format!("{record}.{end}"));
    let extra =
        tree.files.keys().filter(|path| !stated.contains_key(*path) && !ours.contains(path));
    faults.extend(extra.map(|path| Fault::NotNamed { path: path.clone() }));
    let mut parents = BTreeSet::from(["artifacts", "request"]);
    for path in stated.keys() {
        parents.extend(path.match_indices('/').filter_map(|(at, _)| path.get(..at)));
    }
    let strays = tree.directories.iter().filter(|path| !parents.contains(path.as_str()));
    faults.extend(strays.map(|path| Fault::NotNamed { path: path.clone() }));
    equal
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let facts = Facts::read(front.as_bytes(), "x").unwrap();
        assert_eq!(facts.stated().unwrap().len(), 1002);
        assert!(Facts::read(front.as_bytes(), "y").is_err());
    }
}

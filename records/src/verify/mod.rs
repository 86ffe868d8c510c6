//! Whether a result directory is what its record says, whether a trusted key signed the record and
//! its statement, and whether a trusted log has it. It needs nothing but the directory and the trust;
//! it must never change anything, stop at the first fault, take a fact from a record for true whose
//! signature does not verify, or be silent about what it could not check.

mod across;
mod approvals;
mod attested;
mod contradiction;
mod facts;
mod files;
mod history;
mod shape;
mod verdict;

use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use serde_json::Value;
use validator::{Code, ResultId, Severity, Sha256, UtcTime, check_result};

use crate::attestation::front_matter;
use crate::fault::Fault;
use crate::tree::{Tree, read_below};
use crate::trust::{SignedBy, Trust};
use attested::Attested;
use facts::Facts;

pub use across::{Across, Clash};
pub use approvals::ApprovalProblem;
pub use history::{History, HistoryError};
pub use verdict::{NotChecked, PlaceInLog, Verified};

pub(crate) const RECORD_BYTES_MAX: u64 = 4 * 1024 * 1024;
const SIGNATURE_BYTES_MAX: u64 = 64 * 1024;

/// Checks the signature over the exact bytes of the record, the record itself, its statement and the
/// proof that it is logged, every file that they name, and that there is no other; then whether what
/// they say can be, and, as far as the trust goes, approvals and the log's past.
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
    Look { root: root.as_fd(), record, tree, trust, faults, not_checked: Vec::new() }.judge()
}

/// Checks a bundle alone: the statement and its place in the log, and whether what it says can be.
///
/// # Errors
/// Everything that is wrong; never an empty list. `file` is what the bundle is called in them.
pub fn verify_bundle_alone(
    file: &str,
    bytes: &[u8],
    trust: &Trust,
) -> Result<Verified, Vec<Fault>> {
    let mut faults = Vec::new();
    let attested = Attested::read(file, bytes, trust, &mut faults);
    let Some(attested) = attested else { return Err(faults) };
    let says = attested.signed().facts();
    faults.extend(shape::faults(file, says, shape::Age::Stated));
    faults.extend(contradiction::faults(file, says, None));
    let id: Option<ResultId> = says["result_id"].as_str().and_then(|id| id.parse().ok());
    let mut not_checked = vec![NotChecked::Record, NotChecked::Files];
    not_checked.extend(attested.log().is_none().then_some(NotChecked::Log));
    attested.compare_with_history(file, trust, &mut faults, &mut not_checked);
    if approvals::are_stated(says) {
        not_checked.push(NotChecked::ApprovalsOfBundle);
    }
    match (id, faults.is_empty()) {
        (Some(id), true) => {
            let fingerprint = attested.fingerprint();
            Ok(Verified::new(id, says, fingerprint).with_log(&attested).leaving(not_checked))
        }
        (None, true) => {
            let problem = "result_id: no result id".to_owned();
            Err(vec![Fault::Record { file: file.to_owned(), problem }])
        }
        _ => Err(faults),
    }
}

/// One result directory, and what was found in it until now.
struct Look<'a> {
    root: BorrowedFd<'a>,
    record: String,
    tree: Tree,
    trust: &'a Trust,
    faults: Vec<Fault>,
    not_checked: Vec<NotChecked>,
}

/// The record's Markdown as it was read.
struct Read {
    md: Vec<u8>,
    sha256: Sha256,
    front: Value,
    facts: Facts,
    /// `None` where its signature does not count.
    signed_by: Option<SignedBy>,
}

impl Look<'_> {
    fn judge(mut self) -> Result<Verified, Vec<Fault>> {
        let Some(read) = self.examine() else {
            return Err(self.faults);
        };
        let ours = attested::files_of(&self.record);
        let files = files::compare(&read.facts, &ours, &self.tree, &mut self.faults);
        let attested = self.attested(&read);
        if attested.is_none() || !self.faults.is_empty() {
            // What says the same as a signed statement needs no other judge of its form: that one
            // grows stricter with every version.
            self.lint(&read.md);
        }
        let mut approvals = 0;
        if read.signed_by.is_some() {
            let request = self.request(&read.facts);
            let stated = !self.not_checked.contains(&NotChecked::Statement);
            let age = if stated { shape::Age::Stated } else { shape::Age::Older };
            let file = format!("{}.md", self.record);
            let times = request.as_deref().and_then(contradiction::RequestTimes::read);
            self.faults.extend(shape::faults(&file, &read.front, age));
            self.faults.extend(contradiction::faults(&file, &read.front, times));
            approvals = self.approvals(&read, request);
        }
        let id = self.record.parse::<ResultId>().ok();
        match (self.faults.is_empty(), id, read.signed_by) {
            (true, Some(id), Some(signed_by)) => {
                let verified = Verified::new(id, &read.front, signed_by.fingerprint);
                let verified = verified.with_files(files).with_approvals(approvals);
                let verified = match &attested {
                    Some(attested) => verified.with_log(attested),
                    None => verified,
                };
                Ok(verified.leaving(self.not_checked))
            }
            _ => Err(self.faults),
        }
    }

    /// Reads record and signature, and checks both.
    fn examine(&mut self) -> Option<Read> {
        let file = format!("{}.md", self.record);
        let signature_file = format!("{file}.sig");
        let md = self.read(&file, RECORD_BYTES_MAX)?;
        let facts = std::str::from_utf8(&md)
            .map_err(|_| "not UTF-8".to_owned())
            .and_then(front_matter)
            .and_then(|front| Ok((Facts::read(&front, &self.record)?, front)));
        if let Err(problem) = &facts {
            self.faults.push(Fault::Record { file: file.clone(), problem: problem.clone() });
        }
        let made: Option<UtcTime> = facts.as_ref().ok().and_then(|(facts, _)| facts.created());
        let armoured = self.read(&signature_file, SIGNATURE_BYTES_MAX);
        let signed_by = match armoured.map(|it| self.trust.check(&it, &md, made)) {
            Some(Ok(signed_by)) => Some(signed_by),
            Some(Err(problem)) => {
                self.faults.push(Fault::Signature { file: signature_file, problem });
                None
            }
            None => None,
        };
        let (facts, front) = facts.ok()?;
        Some(Read { sha256: Sha256::of(&md), md, front, facts, signed_by })
    }

    /// Has the record linted, as it was before it was signed.
    fn lint(&mut self, md: &[u8]) {
        let file = format!("{}.md", self.record);
        for violation in check_result(md, &file) {
            if violation.severity == Severity::Error && !is_about_its_words(violation.code) {
                let (code, line) = (violation.code.as_str(), violation.line);
                let problem = format!("line {line}: {code}: {}", violation.message);
                self.faults.push(Fault::Record { file: file.clone(), problem });
            }
        }
    }

    /// Checks the bundle and the proof beside the record.
    fn attested(&mut self, read: &Read) -> Option<Attested> {
        let [_, _, bundle, proof] = attested::files_of(&self.record);
        let there = |name: &String| self.tree.has(name);
        if !there(&bundle) && !there(&proof) && self.trust.logs().is_empty() {
            // Older versions wrote neither; who trusts a log asks for both.
            self.not_checked.extend([NotChecked::Statement, NotChecked::Log]);
            return None;
        }
        let (bytes, text) = (
            self.read(&bundle, attested::BUNDLE_BYTES_MAX),
            self.read(&proof, attested::PROOF_BYTES_MAX),
        );
        let attested = Attested::read(&bundle, &bytes?, self.trust, &mut self.faults)?;
        attested.compare(&bundle, &self.record, read, &mut self.faults);
        match (attested.log(), text) {
            (Some(_), Some(text)) => attested.check_proof(&proof, &text, &mut self.faults),
            (None, _) => self.not_checked.push(NotChecked::Log),
            (Some(_), None) => {}
        }
        let (faults, not_checked) = (&mut self.faults, &mut self.not_checked);
        attested.compare_with_history(&bundle, self.trust, faults, not_checked);
        Some(attested)
    }

    /// The exact bytes of the request, where they are as stated.
    fn request(&mut self, facts: &Facts) -> Option<Vec<u8>> {
        let (path, sha256) = facts.request()?;
        self.as_stated(path, sha256)
    }

    /// A file below the directory, if it is as stated; if it is not, that is told already.
    fn as_stated(&self, path: &str, sha256: Sha256) -> Option<Vec<u8>> {
        let bytes = read_below(self.root, path, RECORD_BYTES_MAX).ok()??;
        (Sha256::of(&bytes) == sha256).then_some(bytes)
    }

    /// Verifies the approvals again; gives how many.
    fn approvals(&mut self, read: &Read, request: Option<Vec<u8>>) -> usize {
        if !approvals::are_stated(&read.front) {
            return 0;
        }
        let Some(approvers) = self.trust.approvers() else {
            self.not_checked.push(NotChecked::Approvals);
            return 0;
        };
        let Some(request) = request else { return 0 };
        let signatures: Vec<(String, Vec<u8>)> = read
            .facts
            .signatures()
            .filter_map(|(path, sha256)| Some((path.to_owned(), self.as_stated(path, sha256)?)))
            .collect();
        let file = format!("{}.md", self.record);
        match approvals::check(&read.front, request, &signatures, approvers) {
            Ok(count) => count,
            Err(problems) => {
                let fault =
                    |(approval, problem)| Fault::Approval { file: file.clone(), approval, problem };
                self.faults.extend(problems.into_iter().map(fault));
                0
            }
        }
    }

    fn read(&mut self, name: &str, bytes_max: u64) -> Option<Vec<u8>> {
        let path = name.to_owned();
        match read_below(self.root, name, bytes_max) {
            Ok(Some(bytes)) => return Some(bytes),
            Ok(None) => self.faults.push(Fault::TooLarge { path, bytes_max }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.faults.push(Fault::Missing { path });
            }
            // What the walk found odd is told already.
            Err(_)
                if self
                    .faults
                    .iter()
                    .any(|fault| matches!(fault, Fault::Kind { path, .. } if path == name)) => {}
            Err(error) => self.faults.push(Fault::Unreadable { path, problem: error.to_string() }),
        }
        None
    }
}

/// The id by which the record's files are named: the directory's, or that of the only record in it.
fn record_id(directory: &str, tree: &Tree) -> Option<String> {
    let there = |id: &&str| id.parse::<ResultId>().is_ok() && tree.has(&format!("{id}.md"));
    if there(&directory) {
        return Some(directory.to_owned());
    }
    let mut ids = tree.own.iter().filter_map(|path| path.strip_suffix(".md")).filter(there);
    match (ids.next(), ids.next()) {
        (Some(only), None) => Some(only.to_owned()),
        _ => None,
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

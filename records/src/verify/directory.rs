//! Verification of a whole result directory, of a gathered one, and of a bundle alone. None may
//! stop at the first fault.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;

use model::ResultId;
use rustix::fs::{Mode, OFlags};

use crate::tree::ResultTree;
use crate::trust::Trust;
use crate::verify::bundle_check::TrustedStatement;
use crate::verify::verdict::{SkippedCheck, VerifiedRecord};
use crate::verify::verification::Verification;
use crate::verify::{approvals, inconsistency, shape};
use crate::verify_error::VerifyError;

/// Verifies the signature over the exact bytes of the record, the record itself, its statement, the
/// proof of inclusion, and every named file, and that no other file exists. Then checks the facts
/// for contradictions and, as far as the trust allows, approvals and the log's history.
///
/// # Errors
/// All faults, in a fixed order; never an empty list.
pub fn verify(dir: &Path, trust: &Trust) -> Result<VerifiedRecord, Vec<VerifyError>> {
    verify_directory(dir, trust, false)
}

/// Verifies a result of this host as [`verify`] does. The host has compared the audience of a
/// standing approval with its labels, which are not known here.
pub(crate) fn verify_own(dir: &Path, trust: &Trust) -> Result<VerifiedRecord, Vec<VerifyError>> {
    verify_directory(dir, trust, true)
}

fn verify_directory(
    dir: &Path,
    trust: &Trust,
    is_own: bool,
) -> Result<VerifiedRecord, Vec<VerifyError>> {
    let unusable = |problem: String| {
        vec![VerifyError::Directory { path: dir.to_string_lossy().into_owned(), problem }]
    };
    // `.` and `x/..` have no usable name of their own.
    let real = dir.canonicalize().map_err(|error| unusable(format!("cannot open: {error}")))?;
    let name = real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open(&real, flags, Mode::empty())
        .map_err(|error| unusable(format!("cannot open: {error}")))?;
    let mut tree = ResultTree::walk(root.as_fd());
    let mut faults = std::mem::take(&mut tree.faults);
    let Some(record) = record_id(&name, &tree) else {
        faults.insert(0, VerifyError::Missing { path: format!("{name}.md") });
        return Err(faults);
    };
    if record != name {
        faults.push(VerifyError::DirectoryName { found: name, result_id: record.clone() });
    }
    Verification::new(root.as_fd(), record, tree, trust, faults).of_own_host(is_own).finish()
}

/// Verifies a record that is gathered and not logged yet, with every file that it names. Checks all
/// that [`verify`] checks except the place in the log. `directory` may have any name.
///
/// # Errors
/// All faults; never an empty list.
pub fn verify_gathered(
    directory: BorrowedFd<'_>,
    attested: &crate::AttestedRecord,
    trust: &Trust,
) -> Result<VerifiedRecord, Vec<VerifyError>> {
    let mut tree = ResultTree::walk(directory);
    let faults = std::mem::take(&mut tree.faults);
    let record = attested.record().result_id().to_string();
    Verification::new(directory, record, tree, trust, faults)
        .of_unlogged(attested.envelope())
        .finish()
}

/// Verifies a bundle alone: statement, place in the log, and facts. `file` names it in the faults.
///
/// # Errors
/// All faults; never an empty list.
pub fn verify_bundle_alone(
    file: &str,
    bytes: &[u8],
    trust: &Trust,
) -> Result<VerifiedRecord, Vec<VerifyError>> {
    let mut faults = Vec::new();
    let attested = TrustedStatement::read(file, bytes, trust, &mut faults);
    let Some(attested) = attested else { return Err(faults) };
    let facts = attested.signed().facts();
    faults.extend(shape::faults(file, facts, shape::RecordAge::Stated));
    faults.extend(inconsistency::faults(file, facts, None));
    let id: Option<ResultId> = facts["result_id"].as_str().and_then(|id| id.parse().ok());
    let mut not_checked = vec![SkippedCheck::Record, SkippedCheck::Files];
    not_checked.extend(attested.log().is_none().then_some(SkippedCheck::Log));
    attested.compare_with_history(file, trust, &mut faults, &mut not_checked);
    if approvals::are_stated(facts) {
        not_checked.push(SkippedCheck::ApprovalsOfBundle);
    }
    not_checked.extend(trust.is_of_unsigned_list().then_some(SkippedCheck::FleetList));
    match (id, faults.is_empty()) {
        (Some(id), true) => {
            let fingerprint = attested.fingerprint();
            Ok(VerifiedRecord::new(id, facts, fingerprint)
                .of_host(trust)
                .with_log(attested.place())
                .with_skipped(not_checked))
        }
        (None, true) => {
            let problem = "result_id: not a result id".to_owned();
            Err(vec![VerifyError::Record { file: file.to_owned(), problem }])
        }
        _ => Err(faults),
    }
}

/// Returns the id that names the record's files: the directory's, or that of the only record in it.
fn record_id(directory: &str, tree: &ResultTree) -> Option<String> {
    let there = |id: &&str| id.parse::<ResultId>().is_ok() && tree.has(&format!("{id}.md"));
    if there(&directory) {
        return Some(directory.to_owned());
    }
    let mut ids = tree.own_files.iter().filter_map(|path| path.strip_suffix(".md")).filter(there);
    match (ids.next(), ids.next()) {
        (Some(only), None) => Some(only.to_owned()),
        _ => None,
    }
}

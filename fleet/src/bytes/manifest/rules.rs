//! The rules for the files of a manifest. Every name is checked here before it becomes a path.

use std::cmp::Ordering;

use model::has_deceptive;
use validator::{REQUEST_BYTES_MAX, is_plain_path};

use super::file::{ManifestFile, ManifestFileKind, ManifestMode};
use crate::bytes::fault::{ManifestFault, ManifestProblem};
use crate::bytes::model::{COMPONENT_BYTES_MAX, FILES_MAX, RESULT_DEPTH_MAX, STORE_BYTES_MAX};

/// The longest path in bytes (PATH_MAX).
const PATH_BYTES_MAX: usize = 4096;
/// The longest file name of a document, as the spool has it.
const DOCUMENT_NAME_BYTES_MAX: usize = 128;

/// Checks the files of a submission.
pub(super) fn check_submission(files: &[ManifestFile]) -> Result<(), ManifestProblem> {
    check_all(files)?;
    let document = match files {
        [first, ..] if first.kind == ManifestFileKind::Document => first,
        _ => return Err(ManifestProblem::of_all(ManifestFault::Documents)),
    };
    check_document_name(&document.name)
        .map_err(|fault| ManifestProblem::of(&document.name, fault))?;
    for (at, file) in files.iter().enumerate() {
        let is_first = at == 0;
        let checked = match file.kind {
            ManifestFileKind::Document if is_first => check_small(file, REQUEST_BYTES_MAX),
            ManifestFileKind::Document => Err(ManifestFault::Documents),
            ManifestFileKind::Signature => check_signature(file, &document.name),
            ManifestFileKind::Input => check_input(&file.name),
            ManifestFileKind::Folder => check_folder(file),
            ManifestFileKind::Result | ManifestFileKind::LeftOut => Err(ManifestFault::Kind),
        };
        checked.map_err(|fault| ManifestProblem::of(&file.name, fault))?;
    }
    let is_input = |kind| matches!(kind, ManifestFileKind::Input | ManifestFileKind::Folder);
    check_places(files.iter().filter(|file| is_input(file.kind)))
}

/// Checks the files of a result.
pub(super) fn check_result(files: &[ManifestFile]) -> Result<(), ManifestProblem> {
    check_all(files)?;
    for file in files {
        let is_of_result =
            matches!(file.kind, ManifestFileKind::Result | ManifestFileKind::LeftOut);
        let checked = match is_of_result {
            true => check_result_name(&file.name),
            false => Err(ManifestFault::Kind),
        };
        checked.map_err(|fault| ManifestProblem::of(&file.name, fault))?;
    }
    check_places(files.iter())
}

/// Checks the number, the order and the sizes.
fn check_all(files: &[ManifestFile]) -> Result<(), ManifestProblem> {
    if files.is_empty() {
        return Err(ManifestProblem::of_all(ManifestFault::Empty));
    }
    if files.len() > FILES_MAX {
        return Err(ManifestProblem::of_all(ManifestFault::TooManyFiles));
    }
    for pair in files.windows(2) {
        let [first, second] = pair else { continue };
        if (first.kind, &first.name) >= (second.kind, &second.name) {
            return Err(ManifestProblem::of(&second.name, ManifestFault::Order));
        }
    }
    let mut total: u64 = 0;
    for file in files.iter().filter(|file| file.kind != ManifestFileKind::LeftOut) {
        total = total.saturating_add(file.bytes);
        if total > STORE_BYTES_MAX {
            return Err(ManifestProblem::of(&file.name, ManifestFault::TooManyBytes));
        }
    }
    Ok(())
}

fn check_document_name(name: &str) -> Result<(), ManifestFault> {
    let is_plain = is_plain_path(name) && !name.contains('/');
    match is_plain && name.ends_with(".md") && name.len() <= DOCUMENT_NAME_BYTES_MAX {
        true => Ok(()),
        false => Err(ManifestFault::DocumentName),
    }
}

/// Checks the size and the mode of a file that is read as a whole.
fn check_small(file: &ManifestFile, bytes_max: usize) -> Result<(), ManifestFault> {
    if !usize::try_from(file.bytes).is_ok_and(|bytes| bytes <= bytes_max) {
        return Err(ManifestFault::FileTooLarge);
    }
    match file.mode {
        ManifestMode::Plain => Ok(()),
        ManifestMode::Program => Err(ManifestFault::Mode),
    }
}

/// Checks a signature file, or the AIS bundle: the two kinds of files beside a document.
fn check_signature(file: &ManifestFile, document: &str) -> Result<(), ManifestFault> {
    let name = &file.name;
    let is_one_part = !name.contains('/') && name.len() <= COMPONENT_BYTES_MAX;
    if !is_one_part || has_deceptive(name) {
        return Err(ManifestFault::SignatureName);
    }
    let stem = document.strip_suffix(".md").unwrap_or(document);
    if *name == format!("{stem}.ais.json") {
        return check_small(file, policies::ais::BUNDLE_BYTES_MAX);
    }
    let rest = name.strip_prefix(document);
    match rest.is_some_and(|rest| rest.ends_with(".sig")) {
        true => check_small(file, policies::SIGNATURE_BYTES_MAX),
        false => Err(ManifestFault::SignatureName),
    }
}

fn check_input(name: &str) -> Result<(), ManifestFault> {
    match is_plain_path(name) {
        true => Ok(()),
        false => Err(ManifestFault::InputName),
    }
}

fn check_folder(file: &ManifestFile) -> Result<(), ManifestFault> {
    check_input(file.name.strip_suffix('/').ok_or(ManifestFault::InputName)?)?;
    match file.mode {
        ManifestMode::Plain => Ok(()),
        ManifestMode::Program => Err(ManifestFault::Mode),
    }
}

/// Checks the path of a file in a result. A tool chose most of them.
fn check_result_name(name: &str) -> Result<(), ManifestFault> {
    let is_part =
        |part: &str| !matches!(part, "" | "." | "..") && part.len() <= COMPONENT_BYTES_MAX;
    let is_path = name.len() <= PATH_BYTES_MAX
        && name.split('/').count() <= RESULT_DEPTH_MAX
        && name.split('/').all(is_part);
    match is_path && !has_deceptive(name) {
        true => Ok(()),
        false => Err(ManifestFault::ResultName),
    }
}

/// Checks that no file is in the place of another one, or of a directory above it.
fn check_places<'a>(files: impl Iterator<Item = &'a ManifestFile>) -> Result<(), ManifestProblem> {
    let mut names: Vec<&str> =
        files.map(|file| file.name.strip_suffix('/').unwrap_or(&file.name)).collect();
    // By components, so that the paths below a path directly follow it.
    names.sort_unstable_by(|a, b| by_parts(a, b));
    for pair in names.windows(2) {
        let [first, second] = pair else { continue };
        let rest = second.strip_prefix(first);
        if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
            return Err(ManifestProblem::of(second, ManifestFault::Nested));
        }
    }
    Ok(())
}

fn by_parts(a: &str, b: &str) -> Ordering {
    a.split('/').cmp(b.split('/'))
}

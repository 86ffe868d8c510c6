//! The names of the files beside a request. A label proves nothing: only the signature does.

use std::fs;
use std::path::{Path, PathBuf};

use policies::SignatureFile;
use spool::SubmissionFiles;
use validator::OneLine;

use crate::args::SigningOptions;
use crate::failure::Failure;
use crate::output::human;

/// The longest label that the spool accepts, with the dots around it.
const LABEL_BYTES_MAX: usize = 100;

/// A signature file that does not exist yet.
pub(crate) struct SignatureTarget {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// The label, for further files beside the request.
    pub(crate) label: String,
}

pub(in crate::commands) fn principal(typed: &str) -> Result<OneLine, Failure> {
    let wrong = |why: &str| Failure::Message(format!("--approver: {why}"));
    if typed.trim() != typed || typed.is_empty() {
        return Err(wrong("empty, or with spaces around it; help: write your name"));
    }
    typed.parse().map_err(|error| wrong(&format!("{error}; help: write one line")))
}

impl SignatureTarget {
    /// Returns `<file>.sig` if it is free and no label was given, otherwise `<file>.<label>.sig`.
    /// `kind` follows the label and requires one.
    pub(crate) fn named(path: &Path, args: &SigningOptions, kind: &str) -> Result<Self, String> {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let label = match &args.label {
            Some(label) if is_label(label) => label.clone(),
            Some(label) => {
                let label = validator::reveal_line(label);
                let help = format!("use at most {LABEL_BYTES_MAX} letters, digits and ._-@+");
                return Err(format!("--label '{label}': invalid; help: {help}"));
            }
            None => label_of(&args.principal),
        };
        let plain = path.with_file_name(format!("{file}.sig"));
        if kind.is_empty() && args.label.is_none() && is_free(&plain) {
            return Ok(Self { name: format!("{file}.sig"), path: plain, label });
        }
        let name = format!("{file}.{label}{kind}.sig");
        let path = path.with_file_name(&name);
        if !is_free(&path) {
            let shown = human::name(&path);
            let why = "file already exists; help: choose another name with --label";
            return Err(format!("{shown}: {why}"));
        }
        Ok(Self { name, path, label })
    }
}

fn is_free(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err()
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '@' | '+')
}

fn is_label(label: &str) -> bool {
    !label.is_empty() && label.len() <= LABEL_BYTES_MAX && label.chars().all(is_plain)
}

/// Returns a label for a principal, which may contain characters unfit for file names.
fn label_of(principal: &str) -> String {
    principal.chars().take(LABEL_BYTES_MAX).map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// Returns every signature beside the request that `submit` would submit.
pub(in crate::commands::approve) fn read_signatures(
    path: &Path,
) -> Result<Vec<SignatureFile>, Failure> {
    Ok(SubmissionFiles::read(path, None)?.signatures().to_vec())
}

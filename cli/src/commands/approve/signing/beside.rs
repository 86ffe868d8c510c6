//! The names of what lies beside a request. A label is only a label: who signed, and for what, is said
//! by the signature alone.

use std::fs;
use std::path::{Path, PathBuf};

use policies::SignatureFile;
use spool::Submission;
use validator::OneLine;

use crate::args::SigningOptions;
use crate::failure::Failure;
use crate::output::human;

/// With the dots around it, what the spool takes for a label.
const LABEL_BYTES_MAX: usize = 100;

/// A signature file that is not there yet.
pub(crate) struct Signature {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// The label, of whatever else is to lie beside it.
    pub(crate) label: String,
}

/// The name that a person goes by.
pub(in crate::commands) fn principal(typed: &str) -> Result<OneLine, Failure> {
    let wrong = |why: &str| Failure::Said(format!("--as: {why}"));
    if typed.trim() != typed || typed.is_empty() {
        return Err(wrong("write your name, without blanks around it"));
    }
    typed.parse().map_err(|error| wrong(&format!("{error}; write one line")))
}

impl Signature {
    /// `<file>.sig` if that is free and no label was asked for; else `<file>.<label>.sig`. `kind` stands
    /// behind the label, and makes it needed.
    pub(crate) fn named(path: &Path, asked: &SigningOptions, kind: &str) -> Result<Self, String> {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let label = match &asked.label {
            Some(label) if is_label(label) => label.clone(),
            Some(label) => {
                let label = validator::reveal_line(label);
                return Err(format!("--label {label}: use letters, digits and ._-@+"));
            }
            None => label_of(&asked.principal),
        };
        let plain = path.with_file_name(format!("{file}.sig"));
        if kind.is_empty() && asked.label.is_none() && is_free(&plain) {
            return Ok(Self { name: format!("{file}.sig"), path: plain, label });
        }
        let name = format!("{file}.{label}{kind}.sig");
        let path = path.with_file_name(&name);
        if !is_free(&path) {
            let shown = human::name(&path);
            return Err(format!("{shown}: is there already, and is not overwritten; use --label"));
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

/// A principal may be any text; what no file name should hold is replaced.
fn label_of(principal: &str) -> String {
    principal.chars().take(LABEL_BYTES_MAX).map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// Every signature beside the request, as `promote` would take them.
pub(in crate::commands::approve) fn read_signatures(
    path: &Path,
) -> Result<Vec<SignatureFile>, Failure> {
    Ok(Submission::read(path, None)?.signatures().to_vec())
}

//! Stages the code of a request and the values of its variables, as files like any other inputs.
//! Both are the request's own text, which the approval covers, so nothing is compared.

use std::fs::{OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use policies::{Approved, CODE_FILE, INPUTS_FILE};
use validator::{Code, Violation, Work};

use crate::error::SpoolError;

/// Writes the files of pure code into the slot. Returns the violation if they are too large.
pub(super) fn stage(slot: &Path, approved: &Approved) -> Result<Option<Violation>, SpoolError> {
    let Work::Code(code) = approved.request().work() else { return Ok(None) };
    let files = [(CODE_FILE, code.text()), (INPUTS_FILE, code.inputs_json())];
    let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
    if u64::try_from(bytes).unwrap_or(u64::MAX) > approved.grant().input_bytes_max() {
        let id = approved.request().id();
        let message = format!("{id}: its code and inputs exceed limits.input_bytes_max");
        let hint = "use smaller inputs, or raise limits.input_bytes_max in the policy";
        return Ok(Some(Violation::error(Code::LimitsOverPolicy, message).hint(hint)));
    }
    for (name, text) in files {
        let path = slot.join(name);
        write_input(&path, text).map_err(SpoolError::io(&path, "write"))?;
    }
    Ok(None)
}

/// Writes a new input file, which every user can read.
///
/// # Errors
/// An I/O error, also if the file exists.
pub fn write_input(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o444).open(path)?;
    file.write_all(text.as_bytes())?;
    // The umask must not hide the file from the tool.
    file.set_permissions(Permissions::from_mode(0o444))
}
